/**
 * Completions in real shells, with the compiled binary: the result of pressing TAB. A shell that is not
 * installed is reported as skipped.
 */
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { until } from "../controlplane/mod.ts";
import { run } from "../controlplane/run.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

const kubeconfig = [
  "apiVersion: v1",
  "kind: Config",
  "current-context: kind:one",
  "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]",
  "users: [{name: u, user: {token: t}}]",
  "contexts:",
  "- {name: 'kind:one', context: {cluster: c, user: u, namespace: team-a}}",
  "- {name: 'kind:other', context: {cluster: c, user: u, namespace: team-b}}",
  "- {name: prod, context: {cluster: c, user: u}}",
].join("\n");

/** A folder with the binary under its name and a kubeconfig, and an environment in which a shell finds both. */
function site(): { readonly path: string; readonly env: Readonly<Record<string, string>> } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "pintle-e2e-"));
  symlinkSync(binaryPath(), join(path, "controller"));
  writeFileSync(join(path, "config"), kubeconfig);
  const env = {
    PATH: `${path}${delimiter}${process.env["PATH"] ?? ""}`,
    HOME: path,
    TERM: "xterm",
    KUBECONFIG: join(path, "config"),
  };
  return { path, env, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** The shell on the PATH; undefined when there is none. */
function shellPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Registers a test that needs a shell. */
function shellTest(name: string, shell: string, fn: (path: string) => Promise<void>): void {
  const path = shellPath(shell);
  if (path === undefined) test.skip(name, `${shell} is not installed`);
  else test(name, () => fn(path));
}

/** The text that bash inserts for the word before the cursor, as readline splits words. */
const bashScript = `
source <(controller completions bash)
COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
# As readline cuts: at white space, and at = and : which are words of their own.
spaced=\${1//=/ = }; spaced=\${spaced//:/ : }
read -ra COMP_WORDS <<<"$spaced"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
complete -p controller >/dev/null || exit 9
_controller_completions controller
printf '%s\\n' "\${COMPREPLY[@]}"
`;

shellTest("bash completes commands, flags, names, and entries of a kubeconfig", "bash", async (bash) => {
  using place = site();
  const cases: readonly (readonly [line: string, replies: readonly string[]])[] = [
    ["controller unins", ["uninstall-crds", "uninstall"]],
    ["controller run ingr", ["ingress"]],
    ["controller run --once --leader-elect -n x fo", ["foo"]],
    ["controller install-crds --dry-r", ["--dry-run"]],
    ["controller install-crds --dry-run=", ["client", "server"]],
    ["controller install-crds --dry-run=s", ["server"]],
    ["controller doctor -o ", ["json", "yaml"]],
    ["controller simulate --faults cr", ["crash"]],
    ["controller simulate foo --faults cra", ["crash"]],
    ["controller simulate foo --workload=cr", ["create"]],
    ["controller run --context kind:o", ["one", "other"]],
    ["controller run --context=kind:oth", ["other"]],
    ["controller run --namespace te", ["team-a", "team-b"]],
    ["controller completions ", ["bash", "zsh", "fish"]],
    ["controller version --cl", ["--client", "--cluster", "--client-certificate", "--client-key"]],
    [`controller run --kubeconfig ${place.path}/conf`, [`${place.path}/config`]],
    [`controller run --kubeconfig=${place.path}/conf`, [`${place.path}/config`]],
  ];
  for (const [line, replies] of cases) {
    const result = await run(bash, ["--norc", "-c", bashScript, "bash", line], { env: place.env });
    assert(result.kind === "ended");
    assertEquals([result.stderr, result.stdout.trimEnd().split("\n")], ["", replies], line);
  }
});

/** An interactive zsh on a terminal that zsh creates, in which TAB is pressed. Its output ends with the expected text. */
const zshScript = `
zmodload zsh/zpty || exit 9
zpty z zsh -f -i
zpty -w z 'PS1=; autoload -Uz compinit; compinit -u -D; source <(controller completions zsh); echo REA""DY'
repeat 3000; do zpty -r -t z out; [[ $out == *READY* ]] && break; sleep 0.1; done
zpty -w -n z "$1"$'\\t'
repeat 3000; do
  sleep 0.1
  while zpty -r -t z out; do print -rn -- "$out"; all+=$out; done
  [[ \${all//\\\\:/:} == *"$2"* ]] && break
done
`;

shellTest("zsh completes commands, flags and names, with descriptions", "zsh", async (zsh) => {
  using place = site();
  const cases: readonly (readonly [line: string, shown: string])[] = [
    ["controller uninstall-", "controller uninstall-crds"],
    ["controller run --leader-election-i", "controller run --leader-election-id"],
    ["controller install-crds --dry-run=s", "--dry-run=server"],
    ["controller simulate --faults cr", "crash"],
    ["controller run --context kind:oth", "kind:other"],
    ["controller run --leader-election-", "name of the lease"],
  ];
  for (const [line, shown] of cases) {
    const result = await run(zsh, ["-f", "-c", zshScript, "zsh", line, shown], { env: place.env });
    assert(result.kind === "ended");
    assertStringIncludes(result.stdout.replaceAll("\\:", ":"), shown);
  }
});

shellTest("fish completes commands, flags and names, with descriptions", "fish", async (fish) => {
  using place = site();
  const script = 'controller completions fish | source; complete -C "$argv[1]"';
  const cases: readonly (readonly [line: string, shown: RegExp])[] = [
    ["controller uninstall-", /^uninstall-crds\tdelete the custom/],
    ["controller run fo", /^foo\treconciles Foo$/m],
    ["controller install-crds --dry-run=s", /^--dry-run=server/],
    ["controller simulate --faults cr", /^crash/],
    ["controller run --context kind:oth", /^kind:other/],
  ];
  for (const [line, shown] of cases) {
    const result = await run(fish, ["--no-config", "-c", script, line], { env: place.env });
    assert(result.kind === "ended");
    assertMatch(result.stdout, shown);
  }
});

controlPlaneTest("namespaces are completed from a cluster that responds quickly", async (controlPlane) => {
  const namespace = await createNamespace(controlPlane);
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", KUBECONFIG: controlPlane.kubeconfig };
  const words = ["__complete", "words", "--", "run", "-n", namespace.slice(0, 9)];
  // A completion waits for the cluster only for a moment, which may be too short on a busy machine.
  await until("see the namespace completed", async () => {
    const result = await run(binaryPath(), words, { env });
    assert(result.kind === "ended");
    assertEquals([result.code, result.stderr], [0, ""]);
    const isThere = result.stdout.split("\n").includes(`${namespace}\t`);
    return isThere ? { kind: "found", value: undefined } : { kind: "pending", state: result.stdout };
  });
});
