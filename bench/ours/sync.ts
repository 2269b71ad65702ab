/** sync: every Foo into the cache. */
import process from "node:process";
import { Informer } from "../../src/cache/mod.ts";
import { connect } from "./_connect.ts";
import { Foo } from "./_foo.ts";
import { inputEnded, report } from "./_stdio.ts";

/** Syncs, reports, and keeps watching. */
export async function sync(): Promise<void> {
  const client = await connect();
  const foos = new Informer({ name: "foos", listWatch: client.listWatch(Foo) });
  const stop = new AbortController();
  const running = foos.run(stop.signal);
  await Promise.race([foos.synced(stop.signal), running]);
  report({ kind: "synced", objects: foos.lister.size });
  await inputEnded();
  process.exit(0);
}
