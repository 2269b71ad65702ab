/**
 * ReplayRun: feeds a recording to the controllers of this program. The entries are passed in their order; each says what the
 * caches have, which reconcile begins, or which answer has come:
 *
 *   list, change ----> ReplayedCaches        enqueue --> is it what this program decides?
 *   reconcile-start -> ReplayedAttempt       write, read from the server -> its answer
 *
 * A reconcile reads the caches at the moment of its first recorded read after each answer, so reconciles that ran at the same
 * time see what they saw. The clock stands at the time of the entry.
 *
 * Guarantees: the same recording and the same program give the same result; every reconcile is compared on its own, so a
 * difference in one does not lead to differences in others.
 */
import { type KubeObject, type ObjectKey, resourceName } from "../../api/mod.ts";
import { VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { type Change, type ControllerDefinition, ReplayedController } from "../../controller/mod.ts";
import type { ChangeEntry, EnqueueEntry, Entry, EntryId } from "../../observe/mod.ts";
import { placesOf, type RecordedPlace } from "./clusters.ts";
import type { Difference, NotCompared } from "./differences.ts";
import { RecordedAttempts, type RecordedReconcile } from "./recorded_attempts.ts";
import { ReplayedAttempt } from "./replayed_attempt.ts";
import { ReplayedCaches } from "./replayed_caches.ts";

/** Options of {@link replayRun}. */
export interface ReplayRunOptions {
  readonly entries: readonly Entry[];
  readonly controllers: readonly ControllerDefinition[];
  /** Only the reconciles of this key are compared. @default all */
  readonly key?: string;
  /** The replay ends before the first entry for which it returns true. @default at the end of the recording */
  readonly isOver?: (entry: Entry) => boolean;
  /** Is called with each entry before it is replayed, and for each reconcile that has been compared. @default nothing */
  readonly onEntry?: (entry: Entry) => Promise<void> | void;
  readonly onCompared?: (compared: ComparedReconcile) => Promise<void> | void;
  readonly signal: AbortSignal;
}

/** A reconcile that has been compared. */
export interface ComparedReconcile {
  readonly recorded: RecordedReconcile;
  readonly difference?: Difference;
  readonly notCompared?: NotCompared;
}

/** The result of a replay. */
export interface ReplayResult {
  /** Reconciles with the same writes, outcome and Events. */
  readonly same: number;
  /** Decisions about changes that are the same. */
  readonly sameDecisions: number;
  /** In the order of time. */
  readonly differences: readonly Difference[];
  readonly notCompared: readonly NotCompared[];
  /** Reconciles that had not ended when the replay did. */
  readonly unfinished: number;
}

/** Replays a recording: each process and each cluster by itself, one after the other. */
export async function replayRun(options: ReplayRunOptions): Promise<ReplayResult> {
  const results: ReplayResult[] = [];
  for (const place of placesOf(options.entries)) results.push(await new ReplayRun({ ...options, ...place }).run());
  const sumOf = (countOf: (result: ReplayResult) => number) => results.reduce((sum, one) => sum + countOf(one), 0);
  return {
    same: sumOf(({ same }) => same),
    sameDecisions: sumOf(({ sameDecisions }) => sameDecisions),
    differences: results.flatMap(({ differences }) => differences).toSorted((one, other) => one.entry - other.entry),
    notCompared: results.flatMap(({ notCompared }) => notCompared),
    unfinished: sumOf(({ unfinished }) => unfinished),
  };
}

class ReplayRun {
  readonly #options: ReplayRunOptions & RecordedPlace;
  readonly #recorded: RecordedAttempts;
  readonly #caches: ReplayedCaches;
  #controllers: ReadonlyMap<string, ReplayedController>;
  readonly #clock: VirtualClock;
  readonly #client: Client;
  readonly #running = new Map<EntryId, ReplayedAttempt>();
  /** What goes on before the entry of an index is replayed. */
  readonly #resumptions = new Map<number, ReplayedAttempt[]>();
  /** Changes whose decisions are still to come. */
  readonly #changes = new Map<EntryId, { readonly change: Change; readonly entry: ChangeEntry }>();
  readonly #differences: Difference[] = [];
  readonly #notCompared: NotCompared[] = [];
  #same = 0;
  #sameDecisions = 0;

  constructor(options: ReplayRunOptions & RecordedPlace) {
    const { entries, controllers } = options;
    this.#options = options;
    this.#recorded = new RecordedAttempts(entries);
    this.#caches = new ReplayedCaches(entries, controllers);
    this.#clock = new VirtualClock({ startAt: entries[0]?.at, drainTurns: 1 });
    this.#client = new Client(() => Promise.reject(new Error("Cannot send a request: a replay has no server")), {
      clock: this.#clock,
    });
    this.#controllers = this.#newControllers();
  }

  #newControllers(): ReadonlyMap<string, ReplayedController> {
    const clock = this.#clock;
    const { cluster } = this.#options;
    const place = cluster === undefined ? {} : { cluster };
    const ignored = { readAt: () => 0, onFound: () => {}, onListed: () => {}, onUnknown: () => {} };
    return new Map(
      this.#options.controllers.map((definition) => [
        definition.name,
        new ReplayedController({ definition, clock, ...place, caches: this.#caches.reader(definition, ignored) }),
      ]),
    );
  }

  async run(): Promise<ReplayResult> {
    const { entries } = this.#recorded;
    const { isOver = () => false, onEntry, signal } = this.#options;
    let lastId = 0;
    for (const [index, entry] of entries.entries()) {
      signal.throwIfAborted();
      if (isOver(entry)) break;
      await this.#advanceTo(entry.at);
      await this.#resumeAt(index);
      await onEntry?.(entry);
      await this.#replay(entry, index);
      lastId = entry.id;
    }
    let unfinished = 0;
    for (const attempt of this.#running.values()) {
      // What it sends is known before the replay has come to the recorded answer.
      const isLater = entryOf(attempt) > lastId;
      if (isLater || this.#report(attempt) === undefined) unfinished++;
    }
    return {
      same: this.#same,
      sameDecisions: this.#sameDecisions,
      differences: this.#differences,
      notCompared: this.#notCompared,
      unfinished,
    };
  }

  async #advanceTo(at: number): Promise<void> {
    const ms = at - this.#clock.now();
    if (ms > 0) await this.#clock.advance(ms);
  }

  async #resumeAt(index: number): Promise<void> {
    const attempts = this.#resumptions.get(index);
    if (attempts === undefined) return;
    this.#resumptions.delete(index);
    for (const attempt of attempts) if (attempt.canResume) await attempt.resume();
  }

  async #replay(entry: Entry, index: number): Promise<void> {
    switch (entry.kind) {
      case "list":
      case "activation":
        this.#caches.apply(index);
        return;
      case "lease":
        // A new leader has new controllers, which remember nothing.
        if (entry.state === "leading") this.#controllers = this.#newControllers();
        return;
      case "change":
        return this.#change(entry, index);
      case "enqueue":
        return this.#checkDecision(entry);
      case "reconcile-start":
        return this.#start(entry.id, index);
      case "read": {
        const attempt = this.#running.get(entry.causes[0] ?? 0);
        if (entry.from === "server" && attempt !== undefined && await attempt.reach(entry)) {
          this.#resumeLater(attempt, index);
        }
        return;
      }
      case "write":
      case "request": {
        const attempt = this.#running.get(entry.causes[0] ?? 0);
        if (attempt !== undefined && await attempt.reach(entry)) this.#resumeLater(attempt, index);
        return;
      }
      case "reconcile-end": {
        const attempt = this.#running.get(entry.causes[0] ?? 0);
        if (attempt === undefined) return;
        await attempt.end(entry);
        this.#running.delete(entry.causes[0] ?? 0);
        const compared = this.#report(attempt) ?? this.#countSame(attempt);
        await this.#options.onCompared?.(compared);
      }
    }
  }

  #change(entry: ChangeEntry, index: number): void {
    const applied = this.#caches.apply(index);
    if (applied === undefined) return;
    const { cache, old, current, last } = applied;
    const change = changeOf(entry, { old, current, last });
    if (change !== undefined && entry.isInitial !== true) this.#changes.set(entry.id, { change, entry });
    if (change?.kind !== "deleted") return;
    for (const controller of this.#controllers.values()) {
      for (const { resource, role } of controller.definition.watches) {
        if (role === "watches" || !this.#caches.of(controller.definition.name, resource).includes(cache)) continue;
        controller.observeDeletion(resource, change.object);
      }
    }
  }

  /** Compares what a controller has decided about a change with what it decides now. */
  #checkDecision(entry: EnqueueEntry): void {
    const [cause] = entry.causes;
    const { controller: name = "", object } = entry;
    const controller = this.#controllers.get(name);
    const { key } = this.#options;
    if (cause === undefined || controller === undefined || entry.role === "source") return;
    const decisions = this.#recorded.decisionsOf(cause, name, object);
    if (decisions[0] !== entry) return;
    if (key !== undefined && !decisions.some((decision) => decision.key === key)) return;
    const watch = controller.definition.watches.find(({ resource, role }) =>
      resourceName(resource) === object.resource && role === entry.role
    );
    const change = this.#changeOf(cause, entry, controller.definition);
    if (change === undefined) return;
    const recorded = decisionText(decisions.map((decision) => decision.key), decisions[0]?.decision === "rejected");
    let replayed = "no watch";
    if (watch !== undefined) {
      const decision = controller.decide(watch, change);
      replayed = decisionText(decision.kind === "accepted" ? decision.keys : [], decision.kind === "rejected");
    }
    if (recorded === replayed) this.#sameDecisions++;
    else {
      const about = `${object.kind} "${object.key}"`;
      const { id, at } = entry;
      const affected = decisions.find((decision) => decision.key !== undefined)?.key ?? object.key ?? "";
      this.#differences.push({
        ...{ part: "decision", object: about, recorded, replayed },
        ...{ at, controller: name, key: affected, entry: id, cause: id },
      });
    }
  }

  /** The change that a decision is about; undefined if it is not known any more. */
  #changeOf(cause: EntryId, { object }: EnqueueEntry, definition: ControllerDefinition): Change | undefined {
    const known = this.#changes.get(cause);
    if (known !== undefined) return known.entry.object.key === object.key ? known.change : undefined;
    const [origin] = this.#recorded.causesOf({ causes: [cause] });
    if (origin?.kind !== "list" || !origin.isInitial) return undefined;
    const watch = definition.watches.find(({ resource }) => resourceName(resource) === object.resource);
    if (watch === undefined) return undefined;
    for (const { store } of this.#caches.of(definition.name, watch.resource)) {
      const found = store.get((object.key ?? "") as ObjectKey);
      if (found !== undefined) return { kind: "added", object: found };
    }
    return undefined;
  }

  #start(id: EntryId, index: number): void {
    const [entry] = this.#recorded.causesOf({ causes: [id] });
    const recorded = entry === undefined ? undefined : this.#recorded.of(entry);
    if (recorded === undefined || isWithoutReconciler(recorded)) return;
    const { key } = this.#options;
    if (key !== undefined && recorded.key !== key) return;
    const controller = this.#controllers.get(recorded.controller);
    if (controller === undefined) return;
    const attempt = new ReplayedAttempt({
      ...{ recorded, controller, caches: this.#caches, clock: this.#clock, client: this.#client },
      causes: this.#recorded.reconcileCauses(recorded),
    });
    this.#running.set(id, attempt);
    this.#resumeLater(attempt, index);
  }

  /**
   * Finds the moment at which a reconcile went on: at its next read of a cache, Event or end, which are recorded when they
   * happen; otherwise as soon as its write is in the caches. Writes and live reads are recorded when their answer comes.
   */
  #resumeLater(attempt: ReplayedAttempt, index: number): void {
    const { items, end } = attempt.recorded;
    const next = items.find((item) => item.index > index);
    const isSeen = next === undefined ||
      next.entry.kind === "event" || (next.entry.kind === "read" && next.entry.from === "cache");
    const seenAt = next?.index ?? end?.index;
    const at = isSeen && seenAt !== undefined ? seenAt : this.#afterEffects(index);
    const others = this.#resumptions.get(at);
    if (others === undefined) this.#resumptions.set(at, [attempt]);
    else others.push(attempt);
  }

  /** The index after the changes of caches that a write has led to at once. */
  #afterEffects(index: number): number {
    const { entries } = this.#recorded;
    const id = entries[index]?.id ?? 0;
    let at = index + 1;
    for (; at < entries.length; at++) {
      const entry = entries[at];
      const isEffect = entry?.kind === "enqueue" || entry?.kind === "queue" ||
        (entry?.kind === "change" && entry.causes.includes(id));
      if (!isEffect) break;
    }
    return at;
  }

  /** Keeps what an attempt has found. @returns undefined if that is nothing */
  #report(attempt: ReplayedAttempt): ComparedReconcile | undefined {
    const { finding, recorded } = attempt;
    attempt.abandon();
    if (finding === undefined) return undefined;
    if (finding.kind === "difference") {
      this.#differences.push(finding.difference);
      return { recorded, difference: finding.difference };
    }
    const { entry, at, reason } = finding;
    const notCompared = { at, controller: recorded.controller, key: recorded.key, entry, reason };
    this.#notCompared.push(notCompared);
    return { recorded, notCompared };
  }

  #countSame({ recorded }: ReplayedAttempt): ComparedReconcile {
    this.#same++;
    return { recorded };
  }
}

/** True if the engine failed to read what became of an earlier write: the reconciler was not called. */
function isWithoutReconciler({ isUnsettled, items, end }: RecordedReconcile): boolean {
  return isUnsettled && items.length === 0 && end?.entry.outcome === "failed";
}

/** The entry of what was found; 0 if that is nothing. */
function entryOf({ finding }: ReplayedAttempt): EntryId {
  return finding === undefined ? 0 : finding.kind === "difference" ? finding.difference.entry : finding.entry;
}

function changeOf(
  { change, id }: ChangeEntry,
  { old, current, last }: {
    readonly old: KubeObject | undefined;
    readonly current: KubeObject | undefined;
    readonly last: KubeObject | undefined;
  },
): Change | undefined {
  if (change === "deleted") return last === undefined ? undefined : { kind: "deleted", object: last, entry: id };
  if (current === undefined) return undefined;
  if (change === "added") return { kind: "added", object: current, entry: id };
  return old === undefined ? undefined : { kind: "updated", object: current, old, entry: id };
}

function decisionText(keys: readonly (string | undefined)[], isRejected: boolean): string {
  if (isRejected) return "rejected";
  const named = [...new Set(keys.filter((key) => key !== undefined))].toSorted();
  return named.length === 0 ? "concerns no key" : `queues ${named.join(", ")}`;
}
