/**
 * Every flag of every command of `controller` completes its value: words of a fixed set, paths, or names that exist. The
 * flags whose value can be anything are listed here, so that a new flag is one or the other on purpose.
 */
import { complete } from "../src/cli/completions/complete.ts";
import { subcommands } from "../src/cli/operator_cli.ts";
import { controllers } from "./simulation/_controllers.ts";
import { assert, assertEquals, test } from "./testing.ts";

const operator = { name: "controller", controllers };

/** Flags with a number, a duration, an address, a name that is new, or other free text. */
const freeText: ReadonlySet<string> = new Set([
  "--bind-address",
  "--address",
  "--allowed-hosts",
  "--as",
  "--as-group",
  "--cert-secret",
  "--connect-timeout",
  "--debug-bind-address",
  "--debug-token",
  "--health-probe-bind-address",
  "--horizon",
  "--image",
  "--ingress-class",
  "--jobs",
  "--leader-election-id",
  "--leader-election-lease-duration",
  "--leader-election-renew-deadline",
  "--leader-election-retry-period",
  "--filter",
  "--interval",
  "--key",
  "--limit",
  "--entry",
  "--metrics-bind-address",
  "--monitoring-label",
  "--name",
  "--namespace-selector",
  "--nodes",
  "--otlp-endpoint",
  "--plan",
  "--points",
  "--port",
  "--recording-bytes",
  "--replicas",
  "--request-timeout",
  "--resync",
  "--run-flag",
  "--runbook-url",
  "--seed",
  "--seeds",
  "--selector",
  "--server",
  "--timeout",
  "--tls-server-name",
  "--token",
  "--toleration",
  "--until",
  "--webhook-configuration",
  "--webhook-from",
  "--webhook-host",
  "--webhook-namespace",
  "--webhook-port",
  "--workers",
  "--clusters",
  "--command",
  "--forgetful-service",
  "--host",
  "--kube-api-burst",
  "--kube-api-qps",
  "--max-findings",
  "--max-steps",
  "--member",
  "--only",
  "--program-name",
  "--quiet-seconds",
  "--serve-removed",
  "--service",
  "--start-seconds",
  "--steps",
  "--storms",
  "--webhook-url",
  "--without-faults",
  "simulate --shards",
]);

/** Names of a kubeconfig and of a cluster. */
const source = { valuesOf: (kind: string) => Promise.resolve([{ value: `a ${kind}`, about: "" }]) };

async function completed(...words: readonly string[]) {
  const { candidates, paths } = await complete(words, { operator, table: subcommands, source });
  return { values: candidates.map(({ value }) => value), paths };
}

test("every flag completes its value, unless that can be anything", async () => {
  const unused = new Set(freeText);
  for (const { name, load } of subcommands) {
    for (const { longName, isSwitch } of (await load()).flags(operator)) {
      if (isSwitch) continue;
      const { values, paths } = await completed(name, longName, "");
      const isCompleted = paths !== "none" || values.length > 0;
      const line = `${name} ${longName}`;
      if (freeText.has(longName) || freeText.has(line)) {
        assert(!isCompleted, `${line} completes its value and is listed as free text`);
      } else assert(isCompleted, `${line} completes nothing: give it choices or completes, or list it above`);
      assertEquals((await completed(name, `${longName}=`)).values, values.map((value) => `${longName}=${value}`), line);
      unused.delete(longName);
      unused.delete(line);
    }
  }
  assertEquals([...unused], []);
});

test("the words of --faults, --workload and of further enumerations are completed", async () => {
  const cases: readonly (readonly [line: readonly string[], some: readonly string[]])[] = [
    [["simulate", "foo", "--faults", "c"], ["crash"]],
    [["simulate", "foo", "--workload", ""], controllers[0]?.workloads?.map(({ name }) => name) ?? []],
    [["run", "--graceful-shutdown-timeout", ""], ["forever"]],
    [["run", "pods", "-o", ""], ["text", "json"]],
    [["run", "--leader-election-when-lost="], ["exit", "standby"].map((word) => `--leader-election-when-lost=${word}`)],
    [["manifests", "--watch-namespace", ""], ["a namespace"]],
  ];
  for (const [line, some] of cases) {
    const { values } = await completed(...line);
    assert(some.length > 0 && some.every((value) => values.includes(value)), `${line.join(" ")}: ${values.join(", ")}`);
  }
});

test("why completes its first word with the kinds of the controllers, as kubectl names them", async () => {
  const { values } = await completed("why", "");
  const some = [
    "deployments.apps",
    "foos.samplecontroller.k8s.io",
    "nodes",
    "pods",
    "services",
    "ecsbinding.hopegi.com",
  ];
  assertEquals(some.filter((kind) => !values.includes(kind)), []);
  assertEquals(new Set(values).size, values.length, "a kind that several controllers watch is offered once");
  assertEquals((await completed("why", "dep")).values, ["deployments.apps"]);
  assertEquals((await completed("why", "--not", "dep")).values, ["deployments.apps"]);
  assertEquals((await completed("why", "deployments.apps", "")).values, []);
});
