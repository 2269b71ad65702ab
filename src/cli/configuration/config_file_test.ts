import { z } from "zod";
import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { flag, flagsOf, UsageError } from "../flags/mod.ts";
import { configFlag, parseConfigFile } from "./mod.ts";

const flags = flagsOf(z.object({
  config: configFlag,
  workers: flag(z.string().optional(), { flags: "--workers <count>", about: "workers" }),
  kubeApiQps: flag(z.string().optional(), { flags: "--kube-api-qps <count>", about: "requests" }),
  dryRun: flag(z.boolean().default(false), { flags: "--dry-run", about: "store nothing" }),
  verbose: flag(z.number().default(0), { flags: "--verbose", about: "log more", arity: "count" }),
  namespace: flag(z.array(z.string()).default([]), { flags: "--namespace <name>", about: "where", arity: "list" }),
  token: flag(z.string().optional(), { flags: "--token <token>", about: "secret", isSecret: true }),
  yes: flag(z.boolean().default(false), { flags: "--yes", about: "no question", fromEnvironment: false }),
}));

function valuesOf(text: string): Record<string, unknown> {
  const { values } = parseConfigFile(text, { path: "a.yaml", flags });
  return Object.fromEntries([...values].map(([key, { value }]) => [key, value]));
}

test("a configuration file has values in the form of the command line", () => {
  const text = "workers: 4\nkubeApiQps: '20'\ndryRun: true\nverbose: 1\nnamespace: [a, b]\n";
  assertEquals(valuesOf(text), { workers: "4", kubeApiQps: "20", dryRun: true, verbose: 1, namespace: ["a", "b"] });
  assertEquals(valuesOf(""), {});
  assertEquals(valuesOf("# nothing yet\n"), {});
});

test("a configuration file knows the lines of its keys and items", () => {
  const { values } = parseConfigFile("# why\nworkers: 4\n\nnamespace:\n- a\n\n- b\n", { path: "a.yaml", flags });
  assertEquals([...values.values()].map(({ line, itemLines }) => [line, itemLines]), [[2, []], [4, [5, 7]]]);
});

test("an error of a configuration file names the line, and the key that was meant", () => {
  const cases: readonly (readonly [text: string, message: RegExp, advice?: RegExp])[] = [
    ["workers: 1\nworker: 2\n", /^Cannot use configuration a\.yaml:2: no flag has the key "worker"$/, /workers/],
    ["\nkube-api-qps: 2\n", /a\.yaml:2: no flag has the key "kube-api-qps"$/, /^Did you mean: kubeApiQps$/],
    ["xyz: 2\n", /a\.yaml:1: no flag has the key "xyz"$/, /camel case/],
    ["__proto__: {}\n", /a\.yaml:1: "__proto__" has neither|no flag has the key "__proto__"/],
    ["workers: 1\nworkers: 2\n", /a\.yaml:2: the key is in the map already/],
    ["workers: 1\nverbose: [1, 2\n", /a\.yaml:[23]: /],
    ["verbose: 1\nworkers:\n  count: 4\n", /a\.yaml:2: "workers" has neither a text/],
    ["workers:\n", /a\.yaml:1: "workers" has neither a text/, /Leave the key out/],
    ["- workers\n", /a\.yaml:1: the file is not a map/],
    ["namespace: a\n", /a\.yaml:1: "namespace" is not a list/, /^Example: namespace: \[a\]$/],
    ["workers: [1]\n", /a\.yaml:1: "workers" takes one value/],
    ["verbose: 1\ntoken: s3cret\n", /a\.yaml:2: "token" is a secret, and this file is not for secrets$/],
    ["yes: true\n", /no flag has the key "yes"/],
    ["config: b.yaml\n", /no flag has the key "config"/],
  ];
  for (const [text, message, advice] of cases) {
    const error = assertThrows(() => valuesOf(text), message);
    assert(error instanceof UsageError && !error.message.includes("s3cret"), text);
    if (advice !== undefined) assert(advice.test(error.advice ?? ""), `${text}: ${error.advice}`);
  }
});
