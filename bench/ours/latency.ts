/**
 * latency: how long after its update a Foo's reconcile begins. The writer (peers/go/update.go) puts its clock into an
 * annotation; both run on one machine, so it is one clock.
 */
import process from "node:process";
import { controller, done, Manager } from "../../src/mod.ts";
import { connect } from "./_connect.ts";
import { Foo } from "./_foo.ts";
import { asked, inputEnded, report } from "./_stdio.ts";

/** Holds the nanoseconds since 1970 at which the update was sent. */
const stampAnnotation = "bench.pintle.dev/sent-at";

/** Measures until asked, then reports. */
export async function latency(): Promise<void> {
  const manager = new Manager({ client: await connect() });
  const since = nowMicros();
  const seen = new Set<string>();
  const updates: { readonly sentAt: number; readonly micros: number }[] = [];
  const measuring = controller("latency").for(Foo).reconcile((ctx) => {
    const begunAt = nowMicros();
    const stamp = ctx.object.metadata.annotations?.[stampAnnotation] ?? "0";
    const sentAt = Number(BigInt(stamp) / 1000n);
    if (sentAt >= since && !seen.has(stamp)) updates.push({ sentAt, micros: Math.round(begunAt - sentAt) });
    seen.add(stamp);
    return Promise.resolve(done);
  });
  manager.add(measuring);
  const stop = new AbortController();
  const foos = manager.caches.informer(Foo);
  const running = manager.run(stop.signal);
  await Promise.race([foos.synced(stop.signal), running]);
  report({ kind: "synced", objects: 0 });
  await asked();
  report({ kind: "latencies", updates });
  await inputEnded();
  process.exit(0);
}

/** Microseconds since 1970, of the system's clock. */
function nowMicros(): number {
  return (performance.timeOrigin + performance.now()) * 1000;
}
