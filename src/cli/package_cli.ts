/**
 * packageCli(): the program of the package: `npx @pintle/controller`, `deno run -A npm:@pintle/controller`,
 * `bunx @pintle/controller`. It has what is needed before there is an operator, and to build one; an operator has the other
 * commands.
 */
import type { ProcessEnvironment, SubcommandEntry } from "./command/mod.ts";
import { runCommands } from "./operator_cli.ts";

/** The commands of the package, in the order of help. */
export const packageCommands: readonly SubcommandEntry[] = [
  {
    name: "new",
    summary: "write the first files of a new controller",
    load: async () => (await import("./new/mod.ts")).newController,
  },
  {
    name: "compile",
    summary: "compile an operator into one binary, with Bun",
    load: async () => (await import("./compile/mod.ts")).compile,
  },
  {
    name: "image",
    summary: "write an operator as a container image, without a container engine",
    load: async () => (await import("./image/mod.ts")).image,
  },
  {
    name: "envtest",
    summary: "stand in for etcd and kube-apiserver in the tests of an operator in any language",
    load: async () => (await import("./envtest/mod.ts")).envtest,
  },
  {
    name: "conformance",
    summary: "play requests against two API servers, and show what they answer differently",
    usageCode: 1, // as a number: with exitCode.failed, bundlers keep this table in operators that do not use it
    load: async () => (await import("./conformance/mod.ts")).conformance,
  },
  {
    name: "completions",
    summary: "print a shell script that completes commands, flags and names",
    load: async () => (await import("./completions/mod.ts")).completions,
  },
];

/** Runs the command line of the package. @returns The exit code */
export async function packageCli(replaced: ProcessEnvironment = {}): Promise<number> {
  const description = "Writes and compiles Kubernetes controllers.";
  // Not imported above: every operator loads this file with src/mod.ts, and `new` brings the embedded API server.
  const { ownLibrary } = await import("./new/mod.ts");
  const { version } = await ownLibrary() ?? {};
  return await runCommands({ name: "controller", description, version, controllers: [] }, packageCommands, replaced);
}
