/**
 * ReplayedAttempt: the reconciler of this program at work on one recorded reconcile. It reads the caches of that moment, and
 * each request waits until the replay has come to the recorded answer.
 *
 *   begin() -> reads ... write -> (waits) -> reach(entry) -> resume() -> reads ... -> end()
 *
 * Guarantees: no request leaves the process. The first write that is not among the recorded ones ends the attempt, because
 * nobody knows how the server would have answered it; so does a read of which the recording has no answer.
 */
import { keyOf, type KubeObject, type Resource, resourceName } from "../../api/mod.ts";
import { systemClock, type VirtualClock } from "../../async/mod.ts";
import type { Client } from "../../client/mod.ts";
import {
  type Cause,
  type EventNote,
  isMetadataOnly,
  type ReplayedController,
  type ReplayedOutcome,
} from "../../controller/mod.ts";
import {
  type EntryId,
  errorText,
  type EventEntry,
  type ReadEntry,
  type ReconcileEndEntry,
  redactText,
  type RequestEntry,
  type WriteEntry,
} from "../../observe/mod.ts";
import { nextTurn } from "../../runtime/mod.ts";
import { isSameValue, type TimeWindow } from "./compared_values.ts";
import type { Difference, DifferentPart, EndedReconcile, SentEvent } from "./differences.ts";
import type { AnsweredEntry, AttemptEntry, RecordedReconcile } from "./recorded_attempts.ts";
import type { ReplayedCaches } from "./replayed_caches.ts";
import {
  isSameRead,
  isWrite,
  recordedAnswer,
  recordedWrite,
  sentRequest,
  type SentWrite,
} from "./replayed_requests.ts";

/** Options of a {@link ReplayedAttempt}. */
export interface ReplayedAttemptOptions {
  readonly recorded: RecordedReconcile;
  readonly controller: ReplayedController;
  readonly caches: ReplayedCaches;
  readonly causes: readonly Cause[];
  readonly clock: VirtualClock;
  readonly client: Client;
}

/** What was found: nothing, a difference, or why nothing can be found. */
export type Finding =
  | { readonly kind: "difference"; readonly difference: Difference }
  | { readonly kind: "unknown"; readonly entry: EntryId; readonly at: number; readonly reason: string };

/** Turns of the event loop after which code that waits for promises only has come to its next request. */
const turns = 20;
/** Milliseconds for code that waits for the machine: a digest, a module. */
const maxWaitMs = 2_000;
const waitMs = 5;
/** A reconciler that sleeps may have begun that a little before the recorded time. */
const maxClockLeadMs = 100;

export class ReplayedAttempt {
  readonly recorded: RecordedReconcile;
  readonly #options: ReplayedAttemptOptions;
  /** Recorded writes that were not sent yet, in their order. */
  readonly #writes: WriteEntry[];
  readonly #reads: ReadEntry[];
  /** Requests of the reconciler's own making. */
  readonly #requests: RequestEntry[];
  /** Recorded Events that this program has not recorded yet. */
  readonly #events: EventEntry[];
  readonly #extraEvents: SentEvent[] = [];
  /** Requests that wait for the replay to come to their answers. */
  readonly #waiting = new Map<EntryId, () => void>();
  /** Requests whose answer the replay has passed. */
  readonly #passed = new Set<EntryId>();
  /** Versions of what was read, by object. */
  readonly #versions = new Map<string, Set<string | undefined>>();
  readonly #objects = new Set<KubeObject>();
  readonly #secrets = new Set<string>();
  /** The entry with the version that the next read must find. */
  #expected: ReadEntry | undefined;
  /** Entries that this program has come to, too. */
  readonly #used = new Set<EntryId>();
  #nextItem = 0;
  /** The index of the entry before which the reconciler reads. */
  #viewedAt = 0;
  #preparing = 0;
  #outcome: ReplayedOutcome | undefined;
  #finding: Finding | undefined;
  /** The last entry that the replay has come to. */
  #position: { readonly id: EntryId; readonly at: number };
  #resume: (() => void) | undefined;

  constructor(options: ReplayedAttemptOptions) {
    const { recorded } = options;
    this.#options = options;
    this.recorded = recorded;
    const entries = recorded.items.map(({ entry }) => entry);
    this.#writes = entries.filter((entry) => entry.kind === "write");
    this.#reads = entries.filter((entry): entry is ReadEntry => entry.kind === "read" && entry.from === "server");
    this.#requests = entries.filter((entry) => entry.kind === "request");
    this.#events = entries.filter((entry) => entry.kind === "event");
    this.#position = recorded.start;
    this.#resume = () => void this.#run();
  }

  /** What was found; undefined if all is the same so far. */
  get finding(): Finding | undefined {
    return this.#finding;
  }

  /** True while there is something to resume. */
  get canResume(): boolean {
    return this.#resume !== undefined && this.#finding === undefined;
  }

  /** Lets the reconciler go on to its next request or its end. */
  async resume(): Promise<void> {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
    await this.#settle();
  }

  /** The replay has come to an answer of the recording. @returns True when the reconciler can be resumed with it. */
  async reach(entry: AnsweredEntry): Promise<boolean> {
    this.#position = entry;
    await this.#settle();
    this.#passed.add(entry.id);
    this.#nextItem = this.#placeOf(entry) + 1;
    if (this.#finding !== undefined) return false;
    const answer = this.#waiting.get(entry.id);
    if (answer !== undefined) {
      this.#waiting.delete(entry.id);
      this.#resume = answer;
      return true;
    }
    // A write that is not sent now would have another place in the order.
    if (isWrite(entry)) this.#differ({ part: "write", recorded: recordedWrite(entry) }, entry);
    return false;
  }

  /**
   * Finds out as of when the reconciler reads. Code that waits for promises only is resumed in one go, while in the recorded
   * process changes came between its reads; the recording has each read of a new version in its place.
   */
  #readAt(resource: string, key: string | undefined): number {
    const { items } = this.recorded;
    while (this.#isUsed(items[this.#nextItem])) this.#nextItem++;
    const isFirst = key === undefined || !this.#versions.has(`${resource} ${key}`);
    for (let at = this.#nextItem; at < items.length; at++) {
      const item = items[at];
      if (item === undefined || this.#isAnswered(item.entry)) break;
      const { entry, index } = item;
      if (entry.kind !== "read" || entry.object.resource !== resource || entry.object.key !== key) continue;
      // A later one may be another read, of which the first was recorded under the same version as an earlier one.
      if (!isFirst && at > this.#nextItem) break;
      this.#used.add(entry.id);
      this.#viewedAt = Math.max(this.#viewedAt, index);
      this.#expected = entry;
      break;
    }
    return this.#viewedAt;
  }

  /** The reconciler has come to an entry: what it reads from now on is later. */
  #use({ id }: EventEntry): void {
    this.#used.add(id);
    const { index = 0 } = this.recorded.items[this.#placeOf({ id })] ?? {};
    this.#viewedAt = Math.max(this.#viewedAt, index);
  }

  #placeOf({ id }: { readonly id: EntryId }): number {
    return this.recorded.items.findIndex(({ entry }) => entry.id === id);
  }

  #isUsed(item: RecordedReconcile["items"][number] | undefined): boolean {
    return item !== undefined && this.#used.has(item.entry.id);
  }

  /** True for an entry at which the reconciler waits; those that it has sent and that are answered are used. */
  #isAnswered(entry: AttemptEntry): boolean {
    return entry.kind === "write" || entry.kind === "request" || (entry.kind === "read" && entry.from === "server");
  }

  /** The reconcile has ended in the recording: compares the rest. */
  async end(entry: ReconcileEndEntry): Promise<void> {
    this.#position = entry;
    await this.#settle();
    if (this.#finding !== undefined) return;
    const [unsent] = [...this.#writes, ...this.#requests.filter(isWrite)];
    if (unsent !== undefined) {
      return this.#differ({ part: "write", recorded: recordedWrite(unsent) }, unsent);
    }
    if (this.#outcome === undefined) {
      return this.#unknown("it waits for something that is not in the recording", entry);
    }
    this.#compareOutcome(entry, this.#outcome);
    if (this.#finding === undefined) this.#compareEvents(entry);
  }

  /** Ends the attempt; nothing more is found. */
  abandon(): void {
    this.#waiting.clear();
  }

  async #run(): Promise<void> {
    const { recorded: { key, start }, controller, caches, causes, client } = this.#options;
    this.#outcome = await controller.reconcile({
      key,
      causes,
      retries: start.retries,
      caches: caches.reader(controller.definition, {
        readAt: (resource, objectKey) => this.#readAt(resourceName(resource), objectKey),
        onFound: (resource, objectKey, object) => this.#found(resource, objectKey, object),
        onListed: (resource, objects) => {
          this.#expected = undefined;
          for (const object of objects) this.#found(resource, keyOf(object), object);
        },
        onUnknown: (what) => this.#unknown(`it reads ${what}, of which the recording has no state`, this.#position),
      }),
      client: client.withTransport(() => (request) => this.#answer(request)),
      events: { record: (note) => this.#recordEvent(note) },
    });
  }

  #found(resource: Resource, key: string, object: KubeObject | undefined): void {
    const name = resourceName(resource);
    const id = `${name} ${key}`;
    const version = object?.metadata.resourceVersion;
    this.#versions.set(id, (this.#versions.get(id) ?? new Set()).add(version));
    const expected = this.#expected;
    this.#expected = undefined;
    if (expected !== undefined && expected.resourceVersion !== version) {
      const recorded = expected.resourceVersion === undefined ? "none" : `version ${expected.resourceVersion}`;
      this.#unknown(`it had read ${recorded} of ${name} "${key}", to which the recorded changes do not lead`, expected);
    }
    if (object === undefined) return;
    this.#objects.add(object);
    if (name === "secrets" && !isMetadataOnly(resource)) this.#secrets.add(key);
  }

  async #answer(request: Request): Promise<Response> {
    this.#preparing++;
    let entry: AnsweredEntry | undefined;
    try {
      entry = await this.#matching(request);
    } finally {
      this.#preparing--;
    }
    if (entry === undefined) throw new Error("Cannot answer: the recording has no answer");
    if (!this.#passed.has(entry.id)) {
      const { id } = entry;
      await new Promise<void>((resolve) => this.#waiting.set(id, resolve));
    }
    const answer = recordedAnswer(entry, this.#nextPage(entry));
    if (answer !== undefined) return answer;
    this.#unknown(`the recording has no state with the answer to its ${entry.kind} (entry ${entry.id})`, entry);
    throw new Error("Cannot answer: the recording has no state");
  }

  /** The continue token that the reconcile has used to get the page after this one. */
  #nextPage(entry: AnsweredEntry): string | undefined {
    if (entry.kind !== "read" || entry.path === undefined) return undefined;
    const base = withoutToken(entry.path);
    const next = this.#reads.find(({ path }) =>
      path !== undefined && path !== entry.path && withoutToken(path) === base
    );
    return next?.path === undefined
      ? undefined
      : new URLSearchParams(next.path.split("?")[1]).get("continue") ?? undefined;
  }

  /** The recorded entry of a request. */
  async #matching(request: Request): Promise<AnsweredEntry | undefined> {
    const sent = await sentRequest(request);
    if (this.#finding !== undefined) return undefined;
    const read = this.#take(this.#reads, (entry) => isSameRead(entry, sent));
    if (read !== undefined) {
      if (read.object.resource === "secrets" && !isPartial(read)) this.#secrets.add(read.object.key ?? "");
      return read;
    }
    const own = this.#take(this.#requests, (entry) =>
      entry.method === sent.method && entry.path === sent.path &&
      isSameValue(entry.body, sent.body, this.#window(entry.at)));
    if (own !== undefined) return own;
    if (sent.write !== undefined) return this.#matchingWrite(sent.write);
    this.#unknown(
      `it sends ${sent.method} ${sent.path}, of which the recording has no answer`,
      this.#position,
    );
    return undefined;
  }

  #take<E extends AnsweredEntry>(entries: E[], isWanted: (entry: E) => boolean): E | undefined {
    const index = entries.findIndex(isWanted);
    return index < 0 ? undefined : entries.splice(index, 1)[0];
  }

  #matchingWrite(sent: SentWrite): WriteEntry | undefined {
    const found = this.#take(
      this.#writes,
      (entry) => isSameWrite(recordedWrite(entry), sent, this.#window(entry.at)),
    );
    if (found !== undefined) return found;
    const { end } = this.recorded;
    const other = this.#mostSimilar(sent);
    if (other !== undefined) this.#differ({ part: "write", recorded: recordedWrite(other), replayed: sent }, other);
    else if (end === undefined || end.entry.outcome === "aborted") {
      this.#unknown("the recording ends before the answer to its last write", this.#position);
    } else this.#differ({ part: "write", replayed: sent }, this.#position);
    return undefined;
  }

  /** The recorded write in whose place another one was sent. */
  #mostSimilar(sent: SentWrite): WriteEntry | undefined {
    const degrees = [isSameTarget, isSameObject, isSameKind];
    return degrees.map((isSimilar) => this.#writes.find((entry) => isSimilar(recordedWrite(entry), sent))).find(
      Boolean,
    );
  }

  #recordEvent({ type, reason, note, regarding }: EventNote): void {
    const { kind = "" } = regarding;
    const object = { resource: "", kind, key: keyOf(regarding) };
    const sent: SentEvent = { type, reason, note: redactText(note), object };
    const window = this.#window(Infinity);
    const index = this.#events.findIndex((entry) => isSameEvent(entry, sent, window));
    const [event] = index < 0 ? [] : this.#events.splice(index, 1);
    if (event !== undefined) this.#use(event);
    else this.#extraEvents.push(sent);
  }

  #compareOutcome(entry: ReconcileEndEntry, outcome: ReplayedOutcome): void {
    if (entry.outcome === "aborted") return;
    const replayed = endedReconcile(outcome);
    const recorded: EndedReconcile = {
      outcome: entry.outcome === "given-up" ? "failed" : entry.outcome,
      ...(entry.afterMs === undefined ? {} : { afterMs: entry.afterMs }),
      ...(entry.error === undefined ? {} : { error: entry.error }),
    };
    const isSameDelay = Math.abs((recorded.afterMs ?? 0) - (replayed.afterMs ?? 0)) <= entry.durationMs + 1;
    if (recorded.outcome === replayed.outcome && recorded.error === replayed.error && isSameDelay) return;
    this.#differ({ part: "outcome", recorded, replayed }, entry);
  }

  #compareEvents(entry: ReconcileEndEntry): void {
    const [recorded] = this.#events;
    const [replayed] = this.#extraEvents;
    if (recorded === undefined && replayed === undefined) return;
    this.#differ({
      part: "event",
      ...(recorded === undefined ? {} : { recorded: eventOf(recorded) }),
      ...(replayed === undefined ? {} : { replayed }),
    }, recorded ?? entry);
  }

  #differ(part: DifferentPart, { id, at }: { readonly id: EntryId; readonly at: number }): void {
    if (this.#finding !== undefined) return;
    const { controller, key, start } = this.recorded;
    const [secret] = this.#secrets;
    if (secret !== undefined) {
      return this.#unknown(`it reads Secret "${secret}", whose data is in no recording`, { id, at });
    }
    const masked = [...this.#objects].find(hasMask);
    if (masked !== undefined) {
      const name = `${masked.kind} "${keyOf(masked)}"`;
      return this.#unknown(`it reads ${name}, of which a value is masked in the recording`, { id, at });
    }
    this.#finding = { kind: "difference", difference: { ...part, at, controller, key, entry: id, cause: start.id } };
  }

  #unknown(reason: string, { id, at }: { readonly id: EntryId; readonly at: number }): void {
    this.#finding ??= { kind: "unknown", entry: id, at, reason };
  }

  #window(until: number): TimeWindow {
    const { start, end } = this.recorded;
    return { from: start.at, to: Math.min(until, end?.entry.at ?? Infinity, Number.MAX_SAFE_INTEGER) };
  }

  get #isBlocked(): boolean {
    return this.#outcome !== undefined || this.#finding !== undefined || this.#resume !== undefined ||
      (this.#waiting.size > 0 && this.#preparing === 0);
  }

  /** Waits until the reconciler has ended, or waits for an answer. */
  async #settle(): Promise<void> {
    await nextTurn();
    for (let turn = 0; turn < turns && !this.#isBlocked; turn++) await nextTurn();
    const { clock } = this.#options;
    while (!this.#isBlocked && (clock.nextTimerInMs ?? Infinity) <= maxClockLeadMs) {
      await clock.advance(clock.nextTimerInMs ?? 0);
    }
    for (let waited = 0; waited < maxWaitMs && !this.#isBlocked; waited += waitMs) {
      await systemClock.sleep(waitMs, never);
    }
  }
}

const never = new AbortController().signal;

function isSameWrite(recorded: SentWrite, sent: SentWrite, window: TimeWindow): boolean {
  return isSameTarget(recorded, sent) && recorded.contentType === sent.contentType && recorded.path === sent.path &&
    (recorded.fieldManager === undefined || recorded.fieldManager === sent.fieldManager) &&
    isSameValue(recorded.body, sent.body, window);
}

function isSameTarget(recorded: SentWrite, sent: SentWrite): boolean {
  return isSameObject(recorded, sent) && recorded.verb === sent.verb && recorded.subresource === sent.subresource;
}

function isSameObject(recorded: SentWrite, sent: SentWrite): boolean {
  return recorded.resource === sent.resource && (sent.key === undefined || recorded.key === sent.key);
}

function isSameKind(recorded: SentWrite, sent: SentWrite): boolean {
  return recorded.resource === sent.resource && recorded.verb === sent.verb &&
    recorded.subresource === sent.subresource;
}

function isSameEvent(recorded: EventEntry, sent: SentEvent, window: TimeWindow): boolean {
  return recorded.type === sent.type && recorded.reason === sent.reason && recorded.object.key === sent.object.key &&
    recorded.object.kind === sent.object.kind && isSameValue(recorded.note, sent.note, window);
}

function eventOf({ type, reason, note, object }: EventEntry): SentEvent {
  return { type, reason, note, object };
}

function endedReconcile(outcome: ReplayedOutcome): EndedReconcile {
  switch (outcome.kind) {
    case "done":
    case "paused":
    case "aborted":
      return { outcome: outcome.kind };
    case "requeue":
      return { outcome: "requeue", afterMs: outcome.afterMs };
    case "failed":
    case "terminal":
      return { outcome: outcome.kind, error: redactText(errorText(outcome.error)) };
    default:
      return outcome satisfies never;
  }
}

function withoutToken(path: string): string {
  return path.replace(/[?&]continue=[^&]*/, "");
}

function isPartial({ state }: ReadEntry): boolean {
  return (state as { readonly kind?: string } | undefined)?.kind === "PartialObjectMetadata";
}

/** True for an object of which the recording has masked a part. */
function hasMask(object: KubeObject): boolean {
  return JSON.stringify(object).includes("[masked]");
}
