/**
 * CPU profiles and heap snapshots over HTTP, for Chrome's developer tools.
 *
 * Guarantees: one at a time, from its question to the end of its answer; a CPU profile takes at most 60 s; a heap snapshot, which stops the process while it is made, is
 * refused for a heap of more than 512 MiB, and for clients of other machines, because it contains the credentials in memory.
 */
import type { Clock } from "../../async/mod.ts";
import { errorText } from "../../observe/mod.ts";
import { heapBytes, heapSnapshot, startCpuProfile } from "../../runtime/mod.ts";
import { refuse } from "./debug_guard.ts";

const maxSeconds = 60;
const defaultMaxHeapBytes = 512 * 1024 * 1024;

/** What profiles need. */
export interface ProfileOptions {
  readonly clock: Clock;
  /** True if only this machine can reach the server. */
  readonly isLoopback: boolean;
  /** The most bytes of the heap of which a snapshot is made. @default 512 MiB */
  readonly maxHeapBytes?: number;
}

/** Answers with profiles of this process. */
export class ProfileAnswers {
  readonly #clock: Clock;
  readonly #isLoopback: boolean;
  readonly #maxHeapBytes: number;
  #isBusy = false;

  constructor({ clock, isLoopback, maxHeapBytes = defaultMaxHeapBytes }: ProfileOptions) {
    this.#clock = clock;
    this.#isLoopback = isLoopback;
    this.#maxHeapBytes = maxHeapBytes;
  }

  /** `/debug/cpu?seconds=10` */
  async cpu(request: Request): Promise<Response> {
    const seconds = Number(new URL(request.url).searchParams.get("seconds") ?? "10");
    if (!(seconds > 0 && seconds <= maxSeconds)) return refuse(400, `seconds is not a number from 0 to ${maxSeconds}`);
    return await this.#exclusively("CPU profile", async () => {
      const profiling = await startCpuProfile();
      try {
        await this.#clock.sleep(seconds * 1_000, request.signal);
      } catch {
        // The client has left: the profile ends, too.
      }
      return fileResponse(new TextEncoder().encode(await profiling.stop()), "process.cpuprofile");
    });
  }

  /** `/debug/heap` */
  async heap(): Promise<Response> {
    if (!this.#isLoopback) {
      return refuse(403, "A heap snapshot contains the credentials in memory: only a loopback address serves it");
    }
    const bytes = heapBytes() ?? Infinity;
    // A client that comes too early shall come again, whatever the size is now.
    if (bytes > this.#maxHeapBytes && !this.#isBusy) {
      const size = bytes === Infinity ? "unknown size" : `${Math.round(bytes / 1_048_576)} MiB`;
      return refuse(503, `A snapshot of ${size} would stop the process for too long`);
    }
    return await this.#exclusively("heap snapshot", async () => {
      const parts = (await heapSnapshot())[Symbol.asyncIterator]();
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const part = await parts.next();
          if (part.done === true) controller.close();
          else controller.enqueue(part.value);
        },
        cancel: async () => void await parts.return?.(),
      });
      return fileResponse(body, "process.heapsnapshot");
    });
  }

  async #exclusively(what: string, make: () => Promise<Response>): Promise<Response> {
    if (this.#isBusy) {
      return refuse(429, "Another profile is being made: try again when it is done", { "retry-after": "10" });
    }
    this.#isBusy = true;
    const end = () => void (this.#isBusy = false);
    try {
      const { body, headers } = await make();
      if (body !== null) return new Response(observed(body, end), { headers });
    } catch (error) {
      end();
      return refuse(501, `This runtime cannot make a ${what}: ${errorText(error)}`);
    }
    end();
    return refuse(501, `This runtime cannot make a ${what}: it is empty`);
  }
}

/** Passes a body on, and calls `end` when it was read, cancelled or has failed. */
function observed(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

function fileResponse(body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>, name: string): Response {
  return new Response(body, {
    headers: {
      "content-type": "application/json",
      "content-disposition": `attachment; filename="${name}"`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    },
  });
}
