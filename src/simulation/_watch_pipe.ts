/**
 * WatchPipe: one watch between the server and a process of the operator. Lines wait here until they are let through, so
 * that who hears of what, and when, is the simulation's choice: late, twice, several changes as one, or not at all because
 * the stream ends.
 *
 * Guarantees: what is let through stays in the server's order; a change that is merged away is followed by a later one of
 * the same object.
 */
import type { KubeObject } from "../api/mod.ts";
import { initialEventsEnd } from "../api/mod.ts";

/** One line of a watch. */
export interface WatchLine {
  readonly type: string;
  readonly object: KubeObject;
  /** True for the state that a stream begins with, and the bookmark that ends it. */
  readonly isInitial: boolean;
  /** As the server sent it; undefined for one that was made of others. */
  readonly text?: string | undefined;
}

/** How a stream ends. */
export type PipeEnd = { readonly kind: "closed" } | { readonly kind: "broken"; readonly error: Error };

type Controller = ReadableStreamDefaultController<Uint8Array>;

const encoder = new TextEncoder();

/** One watch. */
export class WatchPipe {
  /** What the operator reads. */
  readonly body: ReadableStream<Uint8Array>;
  /** `foos.samplecontroller.k8s.io`. */
  readonly resource: string;
  /** Lines that wait. */
  lines: WatchLine[] = [];
  /** Virtual time before which nothing is let through. */
  stalledUntil = 0;
  /** Virtual time before which the state that it begins with is let through, and nothing else. */
  lagsUntil = 0;
  /** What gathered during the stall is let through as one change per object. */
  merges = false;
  readonly #upstream: ReadableStreamDefaultReader<Uint8Array>;
  #downstream: Controller | undefined;
  #isInitial: boolean;
  #end: PipeEnd | undefined;
  #isOver = false;

  constructor(resource: string, upstream: ReadableStream<Uint8Array>, startsWithState: boolean) {
    this.resource = resource;
    this.#isInitial = startsWithState;
    this.#upstream = upstream.getReader();
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#downstream = controller),
      cancel: () => this.#leave(),
    });
    void this.#pump();
  }

  /** True once nobody reads any more, or nothing more comes. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True when there is something to let through now. */
  isReady(now: number): boolean {
    if (this.#isOver || now < this.stalledUntil) return false;
    return now < this.lagsUntil ? this.lines[0]?.isInitial === true : this.lines.length > 0 || this.#end !== undefined;
  }

  /** True while something is held back. */
  isHolding(now: number): boolean {
    return !this.#isOver && now < Math.max(this.stalledUntil, this.lagsUntil) && this.lines.length > 0;
  }

  /** Puts lines before those that wait. */
  prepend(lines: readonly WatchLine[]): void {
    this.lines = [...lines, ...this.lines];
  }

  /** Takes the lines that may go, merged if that is asked for. */
  take(now: number): readonly WatchLine[] {
    const first = now < this.lagsUntil ? this.lines.findIndex(({ isInitial }) => !isInitial) : -1;
    const [ready, rest] = first < 0 ? [this.lines, []] : [this.lines.slice(0, first), this.lines.slice(first)];
    const lines = this.merges ? merged(ready) : ready;
    this.lines = rest;
    this.merges = false;
    return lines;
  }

  /** Lets lines through. */
  send(lines: readonly WatchLine[]): void {
    if (this.#isOver || lines.length === 0) return;
    const text = lines.map(({ type, object, text }) => `${text ?? JSON.stringify({ type, object })}\n`).join("");
    this.#downstream?.enqueue(encoder.encode(text));
  }

  /** Lets bytes through that are no line. */
  sendText(text: string): void {
    if (!this.#isOver) this.#downstream?.enqueue(encoder.encode(text));
  }

  /** Ends the stream as the server has ended it, if it has. */
  endIfOver(): void {
    if (this.#end !== undefined && this.lines.length === 0) this.end(this.#end);
  }

  /** Ends the stream for both sides. */
  end(how: PipeEnd): void {
    if (this.#isOver) return;
    this.#leave();
    if (how.kind === "closed") this.#downstream?.close();
    else this.#downstream?.error(how.error);
  }

  #leave(): void {
    this.#isOver = true;
    this.lines = [];
    this.#upstream.cancel().catch(() => {});
  }

  async #pump(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    try {
      while (!this.#isOver) {
        const { done, value } = await this.#upstream.read();
        if (done) break;
        const parts = `${rest}${decoder.decode(value, { stream: true })}`.split("\n");
        rest = parts.pop() ?? "";
        for (const part of parts) if (part !== "") this.#push(part);
      }
      this.#end = { kind: "closed" };
    } catch (error) {
      this.#end = { kind: "broken", error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  #push(text: string): void {
    const { type, object }: { type: string; object: KubeObject } = JSON.parse(text);
    this.lines.push({ type, object, isInitial: this.#isInitial, text });
    if (type === "BOOKMARK" && object.metadata.annotations?.[initialEventsEnd] === "true") this.#isInitial = false;
  }
}

/** Only the last change of each object is left, in its place, saying what all of them did together. */
function merged(lines: readonly WatchLine[]): WatchLine[] {
  const last = new Map<string, number>();
  const first = new Map<string, WatchLine>();
  lines.forEach((line, index) => {
    const key = changedKey(line);
    if (key === undefined) return;
    last.set(key, index);
    if (!first.has(key)) first.set(key, line);
  });
  return lines.flatMap((line, index) => {
    const key = changedKey(line);
    if (key === undefined) return [line];
    if (last.get(key) !== index) return [];
    const wasThere = first.get(key)?.type !== "ADDED";
    if (line.type === "DELETED") return wasThere ? [line] : [];
    return [{ ...line, text: undefined, type: wasThere ? "MODIFIED" : "ADDED" }];
  });
}

function changedKey({ type, object: { metadata }, isInitial }: WatchLine): string | undefined {
  const isChange = !isInitial && (type === "ADDED" || type === "MODIFIED" || type === "DELETED");
  return isChange ? `${metadata.namespace ?? ""}/${metadata.name ?? ""}` : undefined;
}
