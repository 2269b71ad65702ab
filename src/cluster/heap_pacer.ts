/**
 * paceHeap(): collects garbage before the runtime would. JavaScriptCore lets the heap grow to three times its live objects
 * before it looks at the old ones, and the memory of such a peak stays in pieces with the process: `dev` with 500 Foos needed
 * 370 MB instead of 280 (bench/README.md).
 *
 * Guarantees: ends with the signal. Costs one look at the size of the heap every 250 ms while the heap does not grow.
 *
 * Caveats: a collection stops the process, for a millisecond per megabyte of live objects or two.
 */
import type { Clock } from "../async/mod.ts";
import { collectGarbage, heapBytes } from "../runtime/mod.ts";

/** Options of {@link paceHeap}. */
export interface HeapPacerOptions {
  readonly clock: Pick<Clock, "sleep">;
  /** Ends the pacing. */
  readonly signal: AbortSignal;
  /** Undefined if the size cannot be told now: the next look follows. @default the heap of this process */
  readonly usedBytes?: () => number | undefined;
  /** @default collectGarbage */
  readonly collect?: () => void;
}

const checkEveryMs = 250;
/** A heap is collected when it is so much larger than after the last collection: a quarter, and 16 MiB. */
const growthFactor = 1.25;
const growthBytes = 16 * 1024 * 1024;

/** Collects whenever the heap has grown by a quarter, until the signal aborts. */
export async function paceHeap(options: HeapPacerOptions): Promise<void> {
  const { clock, signal, usedBytes = heapBytes, collect = collectGarbage } = options;
  let liveBytes = 0;
  while (true) {
    await clock.sleep(checkEveryMs, signal).catch(() => {});
    if (signal.aborted) return;
    if ((usedBytes() ?? 0) <= liveBytes * growthFactor + growthBytes) continue;
    collect();
    liveBytes = usedBytes() ?? liveBytes;
  }
}
