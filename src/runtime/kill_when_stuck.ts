/**
 * killWhenStuck(): a second thread that ends this process when its event loop does not turn any more. A process in an
 * endless loop can do nothing for itself: no timer fires, no signal handler runs; only another thread can.
 *
 * It counts its own turns, not time: a process that was stopped (SIGSTOP) or slept with its machine is not stuck, since
 * that thread stood still as well. Costs about 7 MB on Bun and 17 MB on Deno, which needs the permission to kill.
 */

/** Options of {@link killWhenStuck}. */
export interface KillWhenStuckOptions {
  /** Milliseconds without a turn of the event loop after which the process is killed. */
  readonly afterMs: number;
}

const turnMs = 250;

/** What the thread runs. `process` is there on both runtimes. */
const program = (limit: number) => `
let missed = 0;
onmessage = () => { missed = 0; };
setInterval(() => {
  missed += 1;
  if (missed < ${limit}) return;
  console.error("The event loop has not turned for ${limit * turnMs} ms: the process is killed");
  globalThis.process.kill(globalThis.process.pid, "SIGKILL");
}, ${turnMs});
`;

/**
 * Watches from now on, until the result is disposed. The process dies of SIGKILL (exit code 137 for a shell), with one
 * line on stderr.
 *
 * @throws RangeError when `afterMs` is less than a second: a collection of garbage may take that long.
 */
export function killWhenStuck(options: KillWhenStuckOptions): Disposable {
  const { afterMs } = options;
  if (!(afterMs >= 1_000 && afterMs < Infinity)) {
    throw new RangeError(`Cannot watch the event loop: afterMs ${afterMs} is not from 1000 to below Infinity`);
  }
  const source = new Blob([program(Math.ceil(afterMs / turnMs))], { type: "application/javascript" });
  const url = URL.createObjectURL(source);
  const worker = new Worker(url, { type: "module" });
  const beat = setInterval(() => worker.postMessage(undefined), turnMs);
  return {
    [Symbol.dispose]: () => {
      clearInterval(beat);
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}
