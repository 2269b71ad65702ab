/**
 * Our side of the benchmark, one program with a subcommand per case, compiled as an operator of one's own would be.
 * Every subcommand speaks bench/protocol.ts, as the peers do.
 */
import process from "node:process";
import { idle } from "./idle.ts";
import { latency } from "./latency.ts";
import { queue } from "./queue.ts";
import { reconcile } from "./reconcile.ts";
import { sync } from "./sync.ts";

const commands = new Map([
  ["sync", sync],
  ["idle", idle],
  ["reconcile", reconcile],
  ["latency", latency],
  ["queue", queue],
]);

const command = commands.get(process.argv[2] ?? "");
if (command === undefined) {
  console.error(`usage: pintle ${[...commands.keys()].join("|")} [flags]`);
  process.exit(2);
}
await command(process.argv.slice(3));
process.exit(0);
