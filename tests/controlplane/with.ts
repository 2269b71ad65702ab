/**
 * Runs a command with a real Kubernetes control plane:
 *
 *   deno run -A tests/controlplane/with.ts [--apply PATH]... [--] [COMMAND ARGS...]
 *
 * COMMAND gets KUBECONFIG, PINTLE_CONTROL_PLANE (see description.ts) and a PATH with the right kubectl; its exit code is
 * ours. Without COMMAND the control plane runs until Ctrl-C. If it cannot be started, COMMAND runs nevertheless, so
 * that its tests are reported as skipped by name (in CI: as failed).
 */
import { join } from "node:path";
import process from "node:process";
import { buildControlPlane } from "./build.ts";
import { interrupted, runCommand } from "./command.ts";
import { ControlPlane } from "./control_plane.ts";
import { descriptionVariable, unavailableVariable } from "./description.ts";

/** The options of the command line. */
interface Invocation {
  readonly manifests: readonly string[];
  readonly command: readonly string[];
}

/** Discards the id of a command that the watchdog need not end. */
const noPidPath = "/dev/null";

async function main(invocation: Invocation): Promise<number> {
  const { manifests, command } = invocation;
  const built = await buildControlPlane();
  if (built.kind === "unavailable") return await withoutControlPlane(built.reason, command);
  await using controlPlane = await ControlPlane.start({ binaries: built.binaries, manifests });
  const { environment, dir } = controlPlane;
  if (command.length > 0) return await runCommand(command, environment, join(dir, "run", "command.pid"));
  const end = interrupted(); // listens before the control plane is known to others
  for (const name of ["KUBECONFIG", descriptionVariable]) console.log(`export ${name}=${environment[name]}`);
  console.error(`controlplane: ${controlPlane.server} runs until Ctrl-C`);
  await end;
  return 0;
}

async function withoutControlPlane(reason: string, command: readonly string[]): Promise<number> {
  const isCI = process.env["CI"] === "true";
  console.error(`controlplane: ${isCI ? "Cannot start a control plane" : "skipped"}: ${reason}`);
  const code = command.length === 0 ? 0 : await runCommand(command, { [unavailableVariable]: reason }, noPidPath);
  return code === 0 && isCI ? 1 : code;
}

/** Reads our own options, up to the first word that is not an option. */
function parse(args: readonly string[]): Invocation {
  const manifests: string[] = [];
  let rest = args;
  while (rest[0] === "--apply") {
    if (rest[1] === undefined) throw new TypeError("Cannot read the command line: --apply names no file");
    manifests.push(rest[1]);
    rest = rest.slice(2);
  }
  return { manifests, command: rest[0] === "--" ? rest.slice(1) : rest };
}

try {
  process.exitCode = await main(parse(process.argv.slice(2)));
} catch (error) {
  console.error(`controlplane: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
