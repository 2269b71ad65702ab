/** reconcile: a Manager with the Foo controller, until the given number of Foos have their three writes. */
import process from "node:process";
import { parseArgs } from "node:util";
import { Manager, Recording } from "../../src/mod.ts";
import { connect } from "./_connect.ts";
import { fooController } from "./_foo.ts";
import { inputEnded, report } from "./_stdio.ts";

/** Reconciles, reports, and goes on. */
export async function reconcile(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      objects: { type: "string", default: "5000" },
      workers: { type: "string", default: "10" },
      recording: { type: "boolean", default: false },
    },
  });
  const [wanted, workers] = [Number(values.objects), Number(values.workers)];
  const recorder = values.recording ? new Recording({ now: Date.now }) : undefined;
  const manager = new Manager({ client: await connect(), recorder });
  const { promise: allDone, resolve } = Promise.withResolvers<void>();
  let finished = 0;
  const onFinished = () => {
    if (++finished === wanted) resolve();
  };
  let reconciles = 0;
  manager.add(fooController({ workers, onFinished, onReconcile: () => reconciles++ }));
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await Promise.race([allDone, running]);
  report({ kind: "reconciled", objects: finished, reconciles });
  await inputEnded();
  process.exit(0); // the measurement is over
}
