/**
 * Our side of the benchmark: one program with a subcommand per case, compiled like a user's operator.
 * Every subcommand speaks bench/protocol.ts, as the peers do, and loads only what it measures.
 */
import process from "node:process";

/** A case: what it does until its stdin ends. */
type Command = (args: readonly string[]) => Promise<void>;

const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["sync", async () => (await import("./sync.ts")).sync],
  ["idle", async () => (await import("./idle.ts")).idle],
  ["reconcile", async () => (await import("./reconcile.ts")).reconcile],
  ["latency", async () => (await import("./latency.ts")).latency],
  ["queue", async () => (await import("./queue.ts")).queue],
  ["apiserver", async () => (await import("./apiserver.ts")).apiserver],
  ["apiserver-memory", async () => (await import("./apiserver_memory.ts")).apiserverMemory],
  ["webhook", async () => (await import("./webhook.ts")).webhook],
  ["bare-idle", async () => (await import("./bare.ts")).bareIdle],
  ["bare-reconcile", async () => (await import("./bare.ts")).bareReconcile],
  ["bare-webhook", async () => (await import("./bare.ts")).bareWebhook],
]);

const load = commands.get(process.argv[2] ?? "");
if (load === undefined) {
  console.error(`usage: pintle ${[...commands.keys()].join("|")} [flags]`);
  process.exit(2);
}
const command = await load();
await command(process.argv.slice(3));
process.exit(0);
