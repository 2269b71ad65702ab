/**
 * One attempt at one key: builds the Toolbox, calls the reconciler under a signal of its own, and turns whatever
 * happens, a throw included, into a value.
 */
import { type KubeObject, type ObjectKey, type Resource, splitKey } from "../api/mod.ts";
import { type Clock, scope } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { Logger } from "../observe/mod.ts";
import { FilledIn } from "./_filled_in.ts";
import type { LostChildren } from "./_lost_children.ts";
import { type OwnerChangedError, ownerChangeIn } from "./_owner_changed_error.ts";
import type { CacheReader } from "./cache_reader.ts";
import type { ControllerDefinition } from "./controller_definition.ts";
import type { ReconcileMetrics } from "./metrics.ts";
import type { Cause, EventSink } from "./reconciler.ts";
import { done, requeueAfter, type Result, TerminalError } from "./result.ts";
import { type FieldChange, Toolbox } from "./toolbox.ts";

/** How an attempt ended. */
export type Outcome =
  | Result
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "terminal"; readonly error: TerminalError }
  /** The process is ending: nobody is to blame. */
  | { readonly kind: "aborted" };

/** Tries a key. Never throws. */
export type Attempt = (key: ObjectKey, causes: readonly Cause[], retries: number) => Promise<Outcome>;

/** What all attempts of a controller share. */
export interface AttemptParts {
  readonly definition: ControllerDefinition;
  readonly client: Client;
  readonly caches: CacheReader;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly kill: AbortSignal;
  readonly log: Logger;
  readonly lost?: LostChildren;
  readonly wrote: (key: ObjectKey) => (resource: Resource, object: KubeObject) => void;
  readonly met?: (key: ObjectKey) => (resource: Resource, object: KubeObject) => void;
  readonly repaired: (key: ObjectKey) => (change: FieldChange) => void;
}

/** Makes the Attempt of a controller. */
export function attemptWith(parts: AttemptParts): Attempt {
  const { definition, client, caches, events, clock, kill, log, lost } = parts;
  const { reconcileTimeoutMs, fieldManager = definition.name } = definition.options;
  const filledIn = new FilledIn();
  return async (key, causes, retries) => {
    using attempt = scope(kill, { timeoutMs: reconcileTimeoutMs, clock });
    const toolbox = new Toolbox({
      request: { key, ...splitKey(key) },
      client,
      caches,
      events,
      signal: attempt.signal,
      log: log.with({ key }),
      clock,
      fieldManager,
      filledIn,
      lost,
      causes,
      retries,
      wrote: parts.wrote(key),
      met: parts.met?.(key),
      repaired: parts.repaired(key),
    });
    try {
      return await definition.reconciler(toolbox.request, toolbox);
    } catch (error) {
      if (kill.aborted) return { kind: "aborted" };
      const change = ownerChangeIn(error);
      if (change !== undefined) return afterOwnerChange(change, toolbox.log);
      if (error instanceof TerminalError) return { kind: "terminal", error };
      return { kind: "failed", error };
    }
  };
}

/** Not at once: a cache that says it has the newer owner and cannot read it would have the server asked without end. */
const lagMs = 1_000;

/** An owner that is gone needs nothing more; the key of one that is newer waits for the cache (`OwnWrites`). */
function afterOwnerChange({ state, message }: OwnerChangedError, log: Logger): Result {
  log.debug("the cache lags, waiting for it", { reason: message });
  return state === "gone" ? done : requeueAfter(lagMs);
}

/** An Attempt that tells how often, how long and how it went. */
export function measured(attempt: Attempt, metrics: ReconcileMetrics, clock: Clock): Attempt {
  return async (key, causes, retries) => {
    const startedAt = clock.monotonic();
    metrics.started();
    const outcome = await attempt(key, causes, retries);
    metrics.finished(outcome.kind, clock.monotonic() - startedAt);
    return outcome;
  };
}
