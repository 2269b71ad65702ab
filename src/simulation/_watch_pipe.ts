/**
 * WatchPipe: one watch between the server and a process of the operator. Lines wait here until the simulation delivers them,
 * so it decides when each event arrives, and which fault applies to it.
 *
 * Guarantees: delivered lines keep the order of the server. A change that is merged away is followed by a later change of the
 * same object.
 */
import { type KubeObject, parseExactJson, printExactJson } from "../api/mod.ts";
import { initialEventsEnd } from "../api/mod.ts";
import { errorStatus } from "./_messages.ts";
import type { ProxiedProcess } from "./_proxied_process.ts";
import { type FaultOf, faultText, type PointName } from "./fault_plan.ts";
import { type Actor, eventAt, type NoteDetails } from "./_run_recorder.ts";

/** One line of a watch. */
export interface WatchLine {
  readonly type: string;
  readonly object: KubeObject;
  /** True for the initial events of a stream, and the bookmark after them. */
  readonly isInitial: boolean;
  /** The line as the server sent it; absent for merged changes. */
  readonly text?: string | undefined;
}

/** How a stream ends. */
export type PipeEnd = { readonly kind: "closed" } | { readonly kind: "broken"; readonly error: Error };

/** Options of a {@link WatchPipe}. */
export interface WatchPipeOptions {
  /** The stream begins with the objects that exist. @default false */
  readonly hasInitialEvents?: boolean;
  /** Called when lines, or the end of the stream, have arrived. @default nothing */
  readonly onReady?: (() => void) | undefined;
}

const encoder = new TextEncoder();

/** One watch. */
export class WatchPipe {
  /** The stream that the operator reads. */
  readonly body: ReadableStream<Uint8Array>;
  /** `foos.samplecontroller.k8s.io`. */
  readonly collection: string;
  /** Lines that wait. */
  lines: WatchLine[] = [];
  /** Virtual time before which nothing is delivered. */
  stalledUntil = 0;
  /** Virtual time before which only the initial events are delivered. */
  staleUntil = 0;
  /** The lines that wait are delivered as one change per object. */
  merges = false;
  readonly #upstream: ReadableStreamDefaultReader<Uint8Array>;
  readonly #onReady: () => void;
  #downstream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isInitial: boolean;
  #end: PipeEnd | undefined;
  #isOver = false;

  constructor(collection: string, upstream: ReadableStream<Uint8Array>, options: WatchPipeOptions = {}) {
    this.collection = collection;
    this.#isInitial = options.hasInitialEvents ?? false;
    this.#onReady = options.onReady ?? (() => {});
    this.#upstream = upstream.getReader();
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#downstream = controller),
      cancel: () => this.#close(),
    });
    void this.#pump();
  }

  /** True when the operator has stopped reading, or the stream has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True while the operator has not got all objects that existed at the start of the stream. */
  get isListing(): boolean {
    return !this.#isOver && (this.#isInitial || this.lines.some(({ isInitial }) => isInitial));
  }

  /** True when something can be delivered now. */
  isReady(now: number): boolean {
    if (this.#isOver || now < this.stalledUntil) return false;
    return now < this.staleUntil ? this.lines[0]?.isInitial === true : this.lines.length > 0 || this.#end !== undefined;
  }

  /** True while lines are held back. */
  isHolding(now: number): boolean {
    return !this.#isOver && now < Math.max(this.stalledUntil, this.staleUntil) && this.lines.length > 0;
  }

  /** Puts lines back in front of those that wait. */
  prepend(lines: readonly WatchLine[]): void {
    this.lines = [...lines, ...this.lines];
  }

  /** Removes the lines that can be delivered now, merged if `merges` is set. */
  take(now: number): readonly WatchLine[] {
    const first = now < this.staleUntil ? this.lines.findIndex(({ isInitial }) => !isInitial) : -1;
    const [ready, rest] = first < 0 ? [this.lines, []] : [this.lines.slice(0, first), this.lines.slice(first)];
    const lines = this.merges ? mergeChanges(ready) : ready;
    this.lines = rest;
    this.merges = false;
    return lines;
  }

  /** Delivers lines to the operator. */
  send(lines: readonly WatchLine[]): void {
    if (this.#isOver || lines.length === 0) return;
    const text = lines.map((line) => `${textOf(line)}\n`).join("");
    this.#downstream?.enqueue(encoder.encode(text));
  }

  /** Delivers any text. */
  sendText(text: string): void {
    if (!this.#isOver) this.#downstream?.enqueue(encoder.encode(text));
  }

  /** Ends the stream when the server has ended it and all lines were delivered. */
  endIfOver(): void {
    if (this.#end !== undefined && this.lines.length === 0) this.end(this.#end);
  }

  /** Ends the stream on both sides. */
  end(how: PipeEnd): void {
    if (this.#isOver) return;
    this.#close();
    if (how.kind === "closed") this.#downstream?.close();
    else this.#downstream?.error(how.error);
  }

  #close(): void {
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
        this.#onReady();
      }
      this.#end = { kind: "closed" };
    } catch (error) {
      this.#end = { kind: "broken", error: error instanceof Error ? error : new Error(String(error)) };
    }
    this.#onReady();
  }

  #push(text: string): void {
    const line = new ServerLine(text, this.#isInitial);
    this.lines.push(line);
    if (line.type !== "BOOKMARK") return;
    if (line.object.metadata.annotations?.[initialEventsEnd] === "true") this.#isInitial = false;
  }
}

const typeAtStart = /^\{"type":"([A-Z]+)",/;

/** A line of the server. Most are only passed on, so the object is parsed when it is needed. */
class ServerLine implements WatchLine {
  readonly type: string;
  readonly isInitial: boolean;
  readonly text: string;
  #object: KubeObject | undefined;

  constructor(text: string, isInitial: boolean) {
    this.text = text;
    this.isInitial = isInitial;
    this.type = typeAtStart.exec(text)?.[1] ?? parsedLine(text).type;
  }

  get object(): KubeObject {
    return this.#object ??= parsedLine(this.text).object;
  }
}

function parsedLine(text: string): { readonly type: string; readonly object: KubeObject } {
  return parseExactJson(text) as { type: string; object: KubeObject };
}

function textOf(line: WatchLine): string {
  return line.text ?? printExactJson({ type: line.type, object: line.object });
}

function keyIn({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? `${name}` : `${namespace}/${name}`;
}

/** Keeps the last change of each object, with a type that describes all of its changes together. */
function mergeChanges(lines: readonly WatchLine[]): WatchLine[] {
  const last = new Map<string, number>();
  const first = new Map<string, WatchLine>();
  lines.forEach((line, index) => {
    const key = changeKey(line);
    if (key === undefined) return;
    last.set(key, index);
    if (!first.has(key)) first.set(key, line);
  });
  return lines.flatMap((line, index) => {
    const key = changeKey(line);
    if (key === undefined) return [line];
    if (last.get(key) !== index) return [];
    const existed = first.get(key)?.type !== "ADDED";
    if (line.type === "DELETED") return existed ? [line] : [];
    const { object, isInitial } = line;
    return [{ object, isInitial, type: existed ? "MODIFIED" : "ADDED" }];
  });
}

function changeKey(line: WatchLine): string | undefined {
  if (!isChange(line)) return undefined;
  const { namespace = "", name = "" } = line.object.metadata;
  return `${namespace}/${name}`;
}

function isChange({ type, isInitial }: WatchLine): boolean {
  return !isInitial && (type === "ADDED" || type === "MODIFIED" || type === "DELETED");
}

/** What {@link deliverEvents} needs. */
export interface Delivery {
  /** Virtual time. */
  now(): number;
  /** Counts an event. @returns its number */
  nextEvent(): number;
  /** The last counted event was not delivered after all. */
  uncountEvent(): void;
  /** A fault makes a new list necessary. */
  countRelist(): void;
  /** Loses the history of a collection before a version. */
  compact(collection: string, version: string | undefined): void;
  stall(pipe: WatchPipe, forMs: number): void;
  faultsAt(event: number, point: PointName): readonly FaultOf<"event">[];
  /** Records what is delivered. Absent while nothing is recorded. */
  readonly note?: (actor: Actor, what: string, details: NoteDetails) => void;
}

/** Delivers the lines that wait, with the faults of the plan. */
export function deliverEvents(
  { process, pipe }: { readonly process: Pick<ProxiedProcess, "id">; readonly pipe: WatchPipe },
  delivery: Delivery,
): void {
  const lines = pipe.take(delivery.now());
  for (const [index, line] of lines.entries()) {
    if (!isChange(line)) {
      pipe.send([line]);
      continue;
    }
    const event = delivery.nextEvent();
    const [fault] = delivery.faultsAt(event, {
      verb: line.type,
      resource: pipe.collection,
      get name() {
        return keyIn(line.object);
      },
    });
    if (delivery.note !== undefined) {
      const { resourceVersion } = line.object.metadata;
      const key = keyIn(line.object);
      delivery.note(fault === undefined ? "operator" : "fault", `${line.type} ${pipe.collection} ${key}`, {
        process: process.id,
        detail: fault === undefined ? `event ${event}` : faultText(fault),
        resourceVersion,
        ...(fault === undefined ? {} : { answers: eventAt(pipe.collection, key) }),
      });
    }
    if (fault === undefined) {
      pipe.send([line]);
      continue;
    }
    if (!applyFault(fault, pipe, { line, rest: lines.slice(index + 1) }, delivery)) return;
  }
  pipe.endIfOver();
}

/** @returns false when the remaining lines must not be delivered now */
function applyFault(
  { action, forMs }: FaultOf<"event">,
  pipe: WatchPipe,
  { line, rest }: { readonly line: WatchLine; readonly rest: readonly WatchLine[] },
  delivery: Delivery,
): boolean {
  switch (action) {
    case "stall":
    case "merge":
      pipe.prepend([line, ...rest]);
      delivery.uncountEvent();
      pipe.merges = action === "merge";
      delivery.stall(pipe, forMs);
      return false;
    case "duplicate":
      pipe.send([line, line]);
      return true;
    case "cut":
      pipe.send([line]);
      pipe.end({ kind: "closed" });
      return false;
    case "corrupt":
      pipe.sendText(textOf(line).slice(0, 40));
      pipe.end({ kind: "closed" });
      return false;
    case "gone":
    case "error":
      delivery.countRelist();
      if (action === "gone") delivery.compact(pipe.collection, line.object.metadata.resourceVersion);
      pipe.sendText(`${JSON.stringify({ type: "ERROR", object: errorStatus(action === "gone" ? 410 : 500) })}\n`);
      pipe.end({ kind: "closed" });
      return false;
    default:
      return action satisfies never;
  }
}
