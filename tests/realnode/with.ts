/**
 * Runs a command with real Nodes:
 *
 *   deno run -A tests/realnode/with.ts [--nodes N] [--] [COMMAND ARGS...]
 *
 * COMMAND gets KUBECONFIG, PINTLE_REAL_NODE and a PATH with the right kubectl; its exit code is ours. Without COMMAND the
 * Nodes run until Ctrl-C. Where they cannot run, COMMAND runs nevertheless, so that its tests are reported as skipped, by
 * name and with the reason.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { interrupted, runCommand } from "../controlplane/command.ts";
import { nodeUnavailableVariable } from "./layout.ts";
import { nodePrograms } from "./programs.ts";
import { RealNode } from "./real_node.ts";
import { whyNoNode } from "./requirements.ts";

async function main(nodes: number, command: readonly string[]): Promise<number> {
  const reason = await whyNoNode();
  if (reason !== undefined) return await withoutNode(reason, command);
  const built = await nodePrograms();
  if (built.kind === "unavailable") return await withoutNode(built.reason, command);
  const startedAt = performance.now();
  await using node = await RealNode.start({ programs: built.programs, nodes });
  const { environment, description: { dir } } = node;
  console.error(`realnode: ${nodes} ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  if (command.length === 0) {
    const end = interrupted(); // listens before others know the node
    for (const name of ["KUBECONFIG", "PINTLE_REAL_NODE"]) console.log(`export ${name}=${environment[name]}`);
    console.error(`realnode: ${node.controlPlane.server} runs until Ctrl-C`);
    await end;
    return 0;
  }
  const pidPath = join(dir, "run", "command.pid");
  const code = await runCommand(command, environment, pidPath);
  rmSync(pidPath, { force: true });
  return code;
}

async function withoutNode(reason: string, command: readonly string[]): Promise<number> {
  console.error(`realnode: skipped: ${reason}`);
  return command.length === 0 ? 0 : await runCommand(command, { [nodeUnavailableVariable]: reason }, "/dev/null");
}

/** Reads our own option, and the command. */
function parse(args: readonly string[]): { readonly nodes: number; readonly command: readonly string[] } {
  const [word, value] = args;
  const nodes = word === "--nodes" ? Number(value) : 2;
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 9) {
    throw new TypeError("Cannot read the command line: --nodes is no number from 1 to 9");
  }
  const rest = word === "--nodes" ? args.slice(2) : args;
  const [name, ...words] = rest[0] === "--" ? rest.slice(1) : rest;
  if (name === undefined) return { nodes, command: [] };
  // The Deno that runs this, wherever it came from: `npx deno` puts none on everybody's PATH.
  return { nodes, command: [name === "deno" ? process.execPath : name, ...words] };
}

try {
  const { nodes, command } = parse(process.argv.slice(2));
  process.exitCode = await main(nodes, command);
} catch (error) {
  console.error(`realnode: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
