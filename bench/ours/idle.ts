/** idle: the Manager of the reconcile case on an empty cluster. */
import process from "node:process";
import { Deployment, Manager } from "../../src/mod.ts";
import { connect } from "./_connect.ts";
import { Foo, fooController } from "./_foo.ts";
import { inputEnded, report } from "./_stdio.ts";

/** Syncs, reports, and rests. */
export async function idle(): Promise<void> {
  const manager = new Manager({ client: await connect() });
  manager.add(fooController({ workers: 2, onFinished: () => {} }));
  const stop = new AbortController();
  const caches = [Foo, Deployment].map((resource) => manager.caches.informer(resource));
  const running = manager.run(stop.signal);
  await Promise.race([Promise.all(caches.map((cache) => cache.synced(stop.signal))), running]);
  report({ kind: "synced", objects: 0 });
  await inputEnded();
  process.exit(0);
}
