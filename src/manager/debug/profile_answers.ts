/**
 * CPU profiles and heap snapshots over HTTP, for Chrome's developer tools.
 *
 * Guarantees: one at a time; a CPU profile takes at most 60 s; a heap snapshot, which stops the process while it is made, is
 * refused for a heap of more than 512 MiB, and for clients of other machines, because it contains the credentials in memory.
 */
import type { Clock } from "../../async/mod.ts";
import { errorText } from "../../observe/mod.ts";
import { heapBytes, heapSnapshot, startCpuProfile } from "../../runtime/mod.ts";
import { refuse } from "./debug_guard.ts";

const maxSeconds = 60;
const maxHeapBytes = 512 * 1024 * 1024;

/** Answers with profiles of this process. */
export class ProfileAnswers {
  readonly #clock: Clock;
  readonly #isLoopback: boolean;
  #isBusy = false;

  constructor({ clock, isLoopback }: { readonly clock: Clock; readonly isLoopback: boolean }) {
    this.#clock = clock;
    this.#isLoopback = isLoopback;
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
    const bytes = heapBytes();
    if (bytes > maxHeapBytes) {
      return refuse(503, `A snapshot of ${Math.round(bytes / 1_048_576)} MiB would stop the process for too long`);
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
    if (this.#isBusy) return refuse(503, "Another profile is being made: try again when it is done");
    this.#isBusy = true;
    try {
      return await make();
    } catch (error) {
      return refuse(501, `This runtime cannot make a ${what}: ${errorText(error)}`);
    } finally {
      this.#isBusy = false;
    }
  }
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
