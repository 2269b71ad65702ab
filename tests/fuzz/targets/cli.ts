/**
 * Command lines of users, one argument a line. Commands that start servers or many processes only show their help.
 *
 * Promises: a command ends with one of its exit codes, never with 70, a defect; it prints no stack trace and no control
 * characters.
 */
import fc from "fast-check";
import { UnreachableError } from "../../../src/client/mod.ts";
import { runCommandLine } from "../../../src/cli/testing/run_command.ts";
import { fooController } from "../../../src/controllers/foo/mod.ts";
import { ingressController } from "../../../src/controllers/ingress/mod.ts";
import { nodepoolController, nodepoolWebhooks } from "../../../src/controllers/nodepool/mod.ts";
import { podsController } from "../../../src/controllers/pods/mod.ts";
import { withWebhooks } from "../../../src/mod.ts";
import { type FuzzTarget, promise, textOf } from "../target.ts";

const operator = {
  name: "controller",
  controllers: [fooController, podsController, ingressController, withWebhooks(nodepoolController, nodepoolWebhooks)],
};
const commands = [
  "run",
  "manifests",
  "install-crds",
  "uninstall-crds",
  "doctor",
  "completions",
  "version",
  "help",
  "new",
  "complete",
  "dev",
  "simulate",
];
const flags = [
  ...[
    "--all",
    "--namespace",
    "-n",
    "-A",
    "-l",
    "--selector",
    "--output",
    "-o",
    "json",
    "yaml",
    "--image",
    "--replicas",
    "--namespaced",
    "--watch-namespace",
    "--cert-secret",
  ],
  ...[
    "--webhook-from",
    "--run-flag",
    "--include-crds",
    "--name",
    "--existing-namespace",
    "-v",
    "--verbose",
    "--log-format",
    "--help",
    "-h",
    "--version",
    "--workers",
    "--resync",
    "10h",
  ],
  ...[
    "--kubeconfig",
    "/nonexistent",
    "--context",
    "--server",
    "https://a",
    "--token",
    "--as",
    "--as-group",
    "--request-timeout",
    "--once",
    "--dry-run",
    "--kind",
    "--group",
    "--versions",
    "v1,v2",
  ],
  ...[
    "--owns",
    "Service",
    "--yes",
    "--",
    "-",
    "foo",
    "pods",
    "ingress",
    "--allowed-hosts",
    "a.b/c",
    "--ingress-class",
    "a=b",
    "bash",
    "zsh",
    "--leader-elect-lease-duration",
    "15s",
    "--no-all",
  ],
];
/** These would listen, write files or start processes. */
const helpOnly = new Set(["dev", "simulate"]);
const written = /^(-d|--dir|--library|--known|--write-kubeconfig|--.*address|--webhook-host|--cert-dir)/;

function harmless(args: readonly string[]): readonly string[] {
  const kept = args.filter((arg) => !written.test(arg));
  const more = kept.some((arg) => helpOnly.has(arg)) ? ["--help"] : kept.includes("new") ? ["--dry-run"] : [];
  const end = kept.indexOf("--");
  return end < 0 ? [...kept, ...more] : kept.toSpliced(end, 0, ...more);
}

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    ...[
      "manifests\n--all\n--namespaced\n-n\nteam-a",
      "manifests\n-o\njson\nfoo\n--include-crds",
      "run\n--all\n--resync\n10h\n--workers\n3",
      "doctor\n--all",
    ],
    ...[
      "new\nwebsite\n--owns\nService\n--versions\nv1,v2",
      "completions\nbash",
      "help\nrun",
      "install-crds\nfoo\n--dry-run",
      "version\n-o\njson",
      "complete\n--\nrun\n--",
    ],
  ],
  arbitrary: fc.tuple(
    fc.constantFrom(...commands),
    fc.array(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...flags) }, { weight: 1, arbitrary: fc.string() }), {
      maxLength: 8,
    }),
  )
    .map(([command, args]) => [command, ...args].join("\n")),
  words: [...commands, ...flags, "\n", "=", "\n--", "\u202e", "\u0000", "\x1b[2J", ",", "1e9", "-1", "99999999999"],
  async check(input) {
    const args = harmless(textOf(input).split("\n").slice(0, 12));
    const { code, err, out } = await runCommandLine(operator, args, {
      transport: () =>
        Promise.reject(
          new UnreachableError({ action: "reach the server", reason: { kind: "unreachable", detail: "refused" } }),
        ),
    });
    promise(code !== 70, `A command line is a defect: ${err.slice(0, 600)}`);
    promise(code >= 0 && code <= 8, "A command ends with an unknown code");
    promise(!/^ +at .+:\d+/m.test(err), "A command prints a stack trace");
    promise(!/(?![\n\t])\p{Cc}/u.test(err + out), "A command prints control characters");
  },
};
