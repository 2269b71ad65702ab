/**
 * The row of a Pod in `kubectl get pods`: how many containers are ready, how often they restarted, and the status in one word.
 * The word is the phase, unless a container, the node or a deletion replaces it (kubernetes `pkg/printers/internalversion`).
 */
import { type Json, type JsonObject, read } from "../../model/mod.ts";
import { ageCell, isConditionTrue, isDeleted, sinceText } from "../rules/mod.ts";
import { findObject, flagAt, nameOf, numberAt, objectAt, objectsAt, textAt } from "../types/mod.ts";
import { isSidecar } from "./pod_containers.ts";

/** The cells of a Pod. */
export function podRow(pod: JsonObject, now: number): readonly Json[] {
  const { word, ready, total, restarts, restartedAt } = podStatus(pod);
  const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
  const [ip] = objectsAt(status, "podIPs");
  return [
    nameOf(pod),
    `${ready}/${total}`,
    word,
    restarts === 0 || restartedAt === "" ? `${restarts}` : `${restarts} (${sinceText(restartedAt, now)} ago)`,
    ageCell(pod, now),
    orNone(ip === undefined ? "" : textAt(ip, "ip")),
    orNone(textAt(spec, "nodeName")),
    orNone(textAt(status, "nominatedNodeName")),
    gates(spec, status),
  ];
}

function gates(spec: JsonObject, status: JsonObject): string {
  const all = objectsAt(spec, "readinessGates");
  const open = all.filter((gate) => isConditionTrue(status, textAt(gate, "conditionType")));
  return all.length === 0 ? "<none>" : `${open.length}/${all.length}`;
}

function orNone(text: string): string {
  return text === "" ? "<none>" : text;
}

const messages: ReadonlyMap<Json | undefined, string> = new Map([
  ["Succeeded", "The pod has completed successfully."],
  ["Failed", "The pod failed."],
]);

/** A condition of the row for a Pod that has finished: older versions of kubectl hid these rows. */
export function podConditions(pod: JsonObject): readonly JsonObject[] {
  const phase = read(objectAt(pod, "status"), "phase");
  const message = messages.get(phase);
  if (message === undefined || phase === undefined) return [];
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

/** The values of a row that need all containers. */
interface PodStatus {
  readonly word: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  /** When a container last ended before a restart; "" without restarts. */
  readonly restartedAt: string;
}

/** Restarts of some containers. */
interface Restarts {
  readonly count: number;
  readonly lastAt: string;
}

/** Ready containers and restarts of a list of containers. */
interface Progress {
  readonly ready: number;
  readonly restarts: Restarts;
}

/** The state of the init containers, in the order in which they run. */
interface Initialization extends Progress {
  /** The status of the init container that the Pod waits for; undefined when it waits for none. */
  readonly word: string | undefined;
  /** Restarts of sidecars. */
  readonly sidecarRestarts: Restarts;
}

const noRestarts: Restarts = { count: 0, lastAt: "" };

/** Summarizes a Pod. */
function podStatus(pod: JsonObject): PodStatus {
  const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
  const sidecars = new Set(
    objectsAt(spec, "initContainers").filter(isSidecar).map((container) => textAt(container, "name")),
  );
  const total = objectsAt(spec, "containers").length + sidecars.size;
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

function phaseWord(status: JsonObject): string {
  const isGated = objectsAt(status, "conditions").some((condition) =>
    textAt(condition, "type") === "PodScheduled" && textAt(condition, "reason") === "SchedulingGated"
  );
  if (isGated) return "SchedulingGated";
  const reason = textAt(status, "reason");
  return reason === "" ? textAt(status, "phase") : reason;
}

/** Goes through the init containers up to the first that the Pod waits for. */
function initialization(spec: JsonObject, status: JsonObject, sidecars: ReadonlySet<string>): Initialization {
  const count = objectsAt(spec, "initContainers").length;
  let [restarts, sidecarRestarts, ready] = [noRestarts, noRestarts, 0];
  for (const [index, container] of objectsAt(status, "initContainerStatuses").entries()) {
    const isRestartable = sidecars.has(textAt(container, "name"));
    const own = restartsOf(container);
    restarts = sumOf(restarts, own);
    if (isRestartable) sidecarRestarts = sumOf(sidecarRestarts, own);
    const terminated = stateOf(container, "terminated");
    if (terminated !== undefined && numberAt(terminated, "exitCode") === 0) continue;
    if (isRestartable && flagAt(container, "started")) {
      if (flagAt(container, "ready")) ready++;
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
  const reason = waiting === undefined ? "" : textAt(waiting, "reason");
  return reason === "" || reason === "PodInitializing" ? progress : reason;
}

function terminatedWord(terminated: JsonObject): string {
  const [reason, signal] = [textAt(terminated, "reason"), numberAt(terminated, "signal")];
  if (reason !== "") return reason;
  return signal === 0 ? `ExitCode:${numberAt(terminated, "exitCode")}` : `Signal:${signal}`;
}

/**
 * Goes through the containers from last to first, so that the status of the first wins. @param before the default
 * status
 */
function containersOf(status: JsonObject, before: string): Progress & { readonly word: string } {
  let [word, ready, restarts] = [before, 0, noRestarts];
  let failure: string | undefined;
  for (const container of objectsAt(status, "containerStatuses").toReversed()) {
    restarts = sumOf(restarts, restartsOf(container));
    const [waiting, terminated] = [stateOf(container, "waiting"), stateOf(container, "terminated")];
    if (waiting !== undefined && textAt(waiting, "reason") !== "") word = textAt(waiting, "reason");
    else if (terminated !== undefined) {
      word = terminatedWord(terminated);
      if (numberAt(terminated, "exitCode") !== 0) failure = word;
    } else if (flagAt(container, "ready") && stateOf(container, "running") !== undefined) ready++;
  }
  return { word: word === "Completed" ? completedWord(status, failure, ready > 0) : word, ready, restarts };
}

/** A Pod with a running container is not Completed; with a failed container it shows the failure. */
function completedWord(status: JsonObject, failure: string | undefined, hasRunning: boolean): string {
  if (hasRunning && isReady(status)) return "Running";
  return failure ?? (hasRunning ? "NotReady" : "Completed");
}

function isReady(status: JsonObject): boolean {
  return objectsAt(status, "conditions").some((condition) =>
    textAt(condition, "type") === "Ready" && textAt(condition, "status") === "True"
  );
}

function endWord(pod: JsonObject, word: string): string {
  if (!isDeleted(pod)) return word;
  const status = objectAt(pod, "status");
  const phase = textAt(status, "phase");
  if (textAt(status, "reason") === "NodeLost") return "Unknown";
  return phase === "Succeeded" || phase === "Failed" ? word : "Terminating";
}

function stateOf(container: JsonObject, state: "waiting" | "running" | "terminated"): JsonObject | undefined {
  return findObject(objectAt(container, "state"), state);
}

function restartsOf(container: JsonObject): Restarts {
  const last = findObject(objectAt(container, "lastState"), "terminated");
  return { count: numberAt(container, "restartCount"), lastAt: last === undefined ? "" : textAt(last, "finishedAt") };
}

/** Adds restarts. Timestamps have one format, so the later one is the larger string. */
function sumOf(left: Restarts, right: Restarts): Restarts {
  return { count: left.count + right.count, lastAt: left.lastAt < right.lastAt ? right.lastAt : left.lastAt };
}
