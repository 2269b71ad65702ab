import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { podController, websiteController } from "../testing/test_kinds.ts";
import { runCommandLine } from "../testing/run_command.ts";
import { subcommands } from "../operator_cli.ts";
import { complete, type Completion, lengthKeptByBash, splitLine } from "./complete.ts";
import type { ValueSource } from "./value_source.ts";
import { completionScript, shells } from "./completions.ts";

const operator = { name: "my-operator", controllers: [websiteController, podController] };

/** Names that contain the kubeconfig on the command line. */
const source: ValueSource = {
  valuesOf: (kind, typed) =>
    Promise.resolve(
      [...typed.values()].includes("")
        ? []
        : ["one", "other", `${kind}-of-${typed.get("--kubeconfig") ?? "default"}`].map((value) => ({
          value,
          about: "",
        })),
    ),
};

/** Completes the last word of `line`, which is split at single spaces. */
async function completed(line: string): Promise<Completion> {
  return await complete(line.split(" "), { operator, table: subcommands, source });
}

async function values(line: string): Promise<readonly string[]> {
  return (await completed(line)).candidates.map(({ value }) => value);
}

test("commands are completed, with descriptions", async () => {
  const { candidates } = await completed("");
  assertEquals(candidates.map(({ value }) => value), [...subcommands.map(({ name }) => name), "help"]);
  assert(candidates.every(({ about }) => about !== ""));
  assertEquals(await values("inst"), ["install-crds"]);
  assertEquals(await values("-"), ["--help", "--version"]);
  assertEquals(await values("help ru"), ["run", "run-graph"]);
  assertEquals(await values("no-such-command x"), []);
});

test("the file of a command is completed as a path", async () => {
  assertEquals((await completed("replay inc")).paths, "file");
  assertEquals((await completed("replay a.jsonl ")).paths, "none");
});

test("names of controllers are completed, each once", async () => {
  assertEquals(await values("run "), ["website", "pods"]);
  assertEquals(await values("run w"), ["website"]);
  assertEquals(await values("replay a.jsonl --controllers w"), ["website"]);
  assertEquals(await values("install-crds website "), ["pods"]);
  assertEquals(await values("run -n shop website "), ["pods"]);
});

test("flags are completed, except those that are on the line already", async () => {
  assertEquals(await values("run --lead"), [
    "--leader-elect",
    "--leader-election-id",
    "--leader-election-namespace",
    "--leader-election-lease-duration",
    "--leader-election-renew-deadline",
    "--leader-election-retry-period",
    "--leader-election-coordinated",
    "--leader-election-when-lost",
  ]);
  assertEquals(await values("run --once --onc"), []);
  assertEquals(await values("run -n a --namesp"), ["--namespace-selector", "--namespace"]);
  assertEquals(await values("run --verb"), ["--verbose"]);
  assertEquals(await values("run -- --onc"), []);
});

test("values of flags are completed: enumerations, and names in a kubeconfig or a cluster", async () => {
  assertEquals(await values("install-crds --dry-run "), ["client", "server"]);
  assertEquals(await values("install-crds --dry-run=s"), ["--dry-run=server"]);
  assertEquals(await values("install-crds -o y"), ["yaml"]);
  assertEquals(await values("run --context o"), ["one", "other"]);
  assertEquals(await values("run --context=o"), ["--context=one", "--context=other"]);
  assertEquals(await values("run --kubeconfig /k --context c"), ["context-of-/k"]);
  assertEquals(await values("run --kubeconfig=/k -n n"), ["namespace-of-/k"]);
  assertEquals(await values("run --workers "), []);
  assertEquals(await values("run --master "), []);
});

test("paths are completed by the shell, also after an equals sign", async () => {
  for (const line of ["run --kubeconfig /et", "run --client-key "]) assertEquals((await completed(line)).paths, "file");
  assertEquals((await completed("run --cert-dir=/et")).paths, "directory");
  assertEquals((await completed("run --cert-dir=/et")).prefix, "--cert-dir=");
});

test("the value of a flag is completed neither as a flag nor as a controller", async () => {
  assertEquals(await values("run --context -"), []);
  assertEquals(await values("run --context website "), ["website", "pods"]);
  assertEquals(await values("completions "), ["bash", "zsh", "fish"]);
  assertEquals(await values("completions bash "), []);
});

test("splitLine() splits the last command of a line as a shell does", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["op run ", ["op", "run", ""]],
    ["op  run --context=kind:a", ["op", "run", "--context=kind:a"]],
    ['op --context "two words" x', ["op", "--context", "two words", "x"]],
    ["op 'a b", ["op", "a b"]],
    ["op a\\ b", ["op", "a b"]],
    ['op "a\\"b"', ["op", 'a"b']],
    ["cd /x && FOO=1; op ru", ["op", "ru"]],
    ["", [""]],
  ];
  for (const [line, words] of cases) assertEquals(splitLine(line), words);
});

test("lengthKeptByBash() returns the length up to the last split of bash", () => {
  assertEquals(lengthKeptByBash("--context=ki", " =:"), "--context=".length);
  assertEquals(lengthKeptByBash("--context=kind:a", " =:"), "--context=kind:".length);
  assertEquals(lengthKeptByBash("--context=ki", " "), 0);
});

test("each shell has a script that calls the operator", async () => {
  for (const shell of shells) {
    const { code, out, err } = await runCommandLine(operator, ["completions", shell]);
    assertEquals([code, out, err], [0, completionScript(shell, "my-operator"), ""]);
    assertMatch(out, /my_operator_completions/);
    assertMatch(out, / __complete /);
  }
});

test("[84] an unknown shell is a usage error that lists the supported shells", async () => {
  const { code, err } = await runCommandLine(operator, ["completions", "csh"]);
  assertEquals(code, 2);
  assertEquals(err, 'my-operator: Cannot complete in "csh": there are bash, zsh, fish\n');
  assertEquals((await runCommandLine(operator, ["completions"])).code, 2);
});

test("__complete prints a line about paths, then one line for each candidate", async () => {
  const bash = await runCommandLine(operator, ["__complete", "bash", " =:", "my-operator install-crds --dry-run=s"]);
  assertEquals(bash, { code: 0, out: "none\nserver\t\n", err: "" });
  const zsh = await runCommandLine(operator, ["__complete", "words", "--", "run", "w"]);
  assertEquals(zsh, { code: 0, out: "none\nwebsite\treconciles Website\n", err: "" });
  const file = await runCommandLine(operator, ["__complete", "words", "--", "run", "--kubeconfig", ""]);
  assertEquals(file.out, "file\n");
});

test("completion of contexts without a kubeconfig returns nothing and no error", async () => {
  const { code, out, err } = await runCommandLine(operator, ["__complete", "words", "--", "run", "--context", ""]);
  assertEquals([code, out, err], [0, "none\n", ""]);
});
