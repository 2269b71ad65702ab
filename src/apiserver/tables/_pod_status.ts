/**
 * podStatus(): what `kubectl get pods` says of a Pod in one word, how many of its containers are ready and how often they
 * were restarted. The word is the phase, unless a container, the node or a deletion has more to say: whoever comes later in
 * the order below wins (kubernetes `pkg/printers/internalversion`).
 */
import type { JsonObject } from "../model/mod.ts";
import { findObject, isConditionTrue, isDeleted, isTrue, numberOf, objectOf, objectsOf, textOf } from "./_values.ts";

/** A Pod in short. */
export interface PodStatus {
  readonly word: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  /** When a container last ended before it was restarted; "" where none was. */
  readonly restartedAt: string;
}

/** Restarts of some containers. */
interface Restarts {
  readonly count: number;
  readonly lastAt: string;
}

/** What some containers add. */
interface Progress {
  readonly ready: number;
  readonly restarts: Restarts;
}

/** Init containers, in the order in which they run. */
interface Initialization extends Progress {
  /** What holds the Pod up; undefined where nothing does. */
  readonly word: string | undefined;
  /** Restarts of those that run as long as the Pod does. */
  readonly sidecarRestarts: Restarts;
}

const noRestarts: Restarts = { count: 0, lastAt: "" };

/** Sums a Pod up. */
export function podStatus(pod: JsonObject): PodStatus {
  const [spec, status] = [objectOf(pod, "spec"), objectOf(pod, "status")];
  const sidecars = new Set(
    objectsOf(spec, "initContainers").filter(isSidecar).map((container) => textOf(container, "name")),
  );
  const total = objectsOf(spec, "containers").length + sidecars.size;
  const init = initialization(spec, status, sidecars);
  const isStarted = init.word === undefined || isConditionTrue(status, "Initialized");
  const before = init.word ?? phaseWord(status);
  const main = isStarted ? containersOf(status, before) : undefined;
  const restarts = main === undefined ? init.restarts : sumOf(init.sidecarRestarts, main.restarts);
  return {
    word: endWord(pod, main?.word ?? before),
    ready: init.ready + (main?.ready ?? 0),
    total,
    restarts: restarts.count,
    restartedAt: restarts.lastAt,
  };
}

function isSidecar(container: JsonObject): boolean {
  return textOf(container, "restartPolicy") === "Always";
}

function phaseWord(status: JsonObject): string {
  const isGated = objectsOf(status, "conditions").some((condition) =>
    textOf(condition, "type") === "PodScheduled" && textOf(condition, "reason") === "SchedulingGated"
  );
  if (isGated) return "SchedulingGated";
  const reason = textOf(status, "reason");
  return reason === "" ? textOf(status, "phase") : reason;
}

/** Goes through the init containers up to the first that the Pod still waits for. */
function initialization(spec: JsonObject, status: JsonObject, sidecars: ReadonlySet<string>): Initialization {
  const count = objectsOf(spec, "initContainers").length;
  let [restarts, sidecarRestarts, ready] = [noRestarts, noRestarts, 0];
  for (const [index, container] of objectsOf(status, "initContainerStatuses").entries()) {
    const isRestartable = sidecars.has(textOf(container, "name"));
    const own = restartsOf(container);
    restarts = sumOf(restarts, own);
    if (isRestartable) sidecarRestarts = sumOf(sidecarRestarts, own);
    const terminated = stateOf(container, "terminated");
    if (terminated !== undefined && numberOf(terminated, "exitCode") === 0) continue;
    if (isRestartable && isTrue(container, "started")) {
      if (isTrue(container, "ready")) ready++;
      continue;
    }
    return { word: `Init:${initWord(container, `${index}/${count}`)}`, ready, restarts, sidecarRestarts };
  }
  return { word: undefined, ready, restarts, sidecarRestarts };
}

function initWord(container: JsonObject, progress: string): string {
  const terminated = stateOf(container, "terminated");
  if (terminated !== undefined) return terminatedWord(terminated);
  const waiting = stateOf(container, "waiting");
  const reason = waiting === undefined ? "" : textOf(waiting, "reason");
  return reason === "" || reason === "PodInitializing" ? progress : reason;
}

function terminatedWord(terminated: JsonObject): string {
  const [reason, signal] = [textOf(terminated, "reason"), numberOf(terminated, "signal")];
  if (reason !== "") return reason;
  return signal === 0 ? `ExitCode:${numberOf(terminated, "exitCode")}` : `Signal:${signal}`;
}

/** Goes through the containers from the last to the first: the first one's word counts most. @param before if none has one */
function containersOf(status: JsonObject, before: string): Progress & { readonly word: string } {
  let [word, ready, restarts] = [before, 0, noRestarts];
  let failure: string | undefined;
  for (const container of objectsOf(status, "containerStatuses").toReversed()) {
    restarts = sumOf(restarts, restartsOf(container));
    const [waiting, terminated] = [stateOf(container, "waiting"), stateOf(container, "terminated")];
    if (waiting !== undefined && textOf(waiting, "reason") !== "") word = textOf(waiting, "reason");
    else if (terminated !== undefined) {
      word = terminatedWord(terminated);
      if (numberOf(terminated, "exitCode") !== 0) failure = word;
    } else if (isTrue(container, "ready") && stateOf(container, "running") !== undefined) ready++;
  }
  return { word: word === "Completed" ? completedWord(status, failure, ready > 0) : word, ready, restarts };
}

/** A Pod is not over while one of its containers runs, and not well when one has failed. */
function completedWord(status: JsonObject, failure: string | undefined, hasRunning: boolean): string {
  if (hasRunning && isReady(status)) return "Running";
  return failure ?? (hasRunning ? "NotReady" : "Completed");
}

function isReady(status: JsonObject): boolean {
  return objectsOf(status, "conditions").some((condition) =>
    textOf(condition, "type") === "Ready" && textOf(condition, "status") === "True"
  );
}

function endWord(pod: JsonObject, word: string): string {
  if (!isDeleted(pod)) return word;
  const status = objectOf(pod, "status");
  const phase = textOf(status, "phase");
  if (textOf(status, "reason") === "NodeLost") return "Unknown";
  return phase === "Succeeded" || phase === "Failed" ? word : "Terminating";
}

function stateOf(container: JsonObject, state: "waiting" | "running" | "terminated"): JsonObject | undefined {
  return findObject(objectOf(container, "state"), state);
}

function restartsOf(container: JsonObject): Restarts {
  const last = findObject(objectOf(container, "lastState"), "terminated");
  return { count: numberOf(container, "restartCount"), lastAt: last === undefined ? "" : textOf(last, "finishedAt") };
}

/** Instants of metav1.Time are written alike, so the later one is the larger text. */
function sumOf(left: Restarts, right: Restarts): Restarts {
  return { count: left.count + right.count, lastAt: left.lastAt < right.lastAt ? right.lastAt : left.lastAt };
}
