/**
 * The row of a Pod in `kubectl get pods`: how many containers are ready, how often they restarted, and the status.
 * The status is the phase, unless a container, the node or a deletion replaces it (kubernetes `pkg/printers/internalversion`).
 */
import { type Json, type JsonObject, read } from "../../model/mod.ts";
import { ageCell, isConditionTrue, isDeleted, sinceText } from "../rules/mod.ts";
import { booleanAt, findObject, nameOf, numberAt, objectAt, objectsAt, textAt } from "../types/mod.ts";
import { isSidecar } from "./pod_containers.ts";

/** The cells of a Pod. */
export function podRow(pod: JsonObject, now: number): readonly Json[] {
  const { statusText, ready, total, restarts, restartedAt } = summarize(pod);
  const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
  const [ip] = objectsAt(status, "podIPs");
  return [
    nameOf(pod),
    `${ready}/${total}`,
    statusText,
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
interface PodSummary {
  readonly statusText: string;
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
  readonly statusText: string | undefined;
  /** Restarts of sidecars. */
  readonly sidecarRestarts: Restarts;
}

const noRestarts: Restarts = { count: 0, lastAt: "" };

/** Summarizes a Pod. */
function summarize(pod: JsonObject): PodSummary {
  const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
  const sidecars = new Set(
    objectsAt(spec, "initContainers").filter(isSidecar).map((container) => textAt(container, "name")),
  );
  const total = objectsAt(spec, "containers").length + sidecars.size;
  const init = initialization(spec, status, sidecars);
  const isStarted = init.statusText === undefined || isConditionTrue(status, "Initialized");
  const before = init.statusText ?? phaseStatus(status);
  const main = isStarted ? mainContainers(status, before) : undefined;
  const restarts = main === undefined ? init.restarts : addRestarts(init.sidecarRestarts, main.restarts);
  return {
    statusText: finalStatus(pod, main?.statusText ?? before),
    ready: init.ready + (main?.ready ?? 0),
    total,
    restarts: restarts.count,
    restartedAt: restarts.lastAt,
  };
}

function phaseStatus(status: JsonObject): string {
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
    restarts = addRestarts(restarts, own);
    if (isRestartable) sidecarRestarts = addRestarts(sidecarRestarts, own);
    const terminated = stateOf(container, "terminated");
    if (terminated !== undefined && numberAt(terminated, "exitCode") === 0) continue;
    if (isRestartable && booleanAt(container, "started")) {
      if (booleanAt(container, "ready")) ready++;
      continue;
    }
    return { statusText: `Init:${initStatus(container, `${index}/${count}`)}`, ready, restarts, sidecarRestarts };
  }
  return { statusText: undefined, ready, restarts, sidecarRestarts };
}

function initStatus(container: JsonObject, progress: string): string {
  const terminated = stateOf(container, "terminated");
  if (terminated !== undefined) return terminatedStatus(terminated);
  const waiting = stateOf(container, "waiting");
  const reason = waiting === undefined ? "" : textAt(waiting, "reason");
  return reason === "" || reason === "PodInitializing" ? progress : reason;
}

function terminatedStatus(terminated: JsonObject): string {
  const [reason, signal] = [textAt(terminated, "reason"), numberAt(terminated, "signal")];
  if (reason !== "") return reason;
  return signal === 0 ? `ExitCode:${numberAt(terminated, "exitCode")}` : `Signal:${signal}`;
}

/**
 * Goes through the containers from last to first, so that the status of the first wins.
 *
 * @param before the default status
 */
function mainContainers(status: JsonObject, before: string): Progress & { readonly statusText: string } {
  let [statusText, ready, restarts] = [before, 0, noRestarts];
  let failure: string | undefined;
  for (const container of objectsAt(status, "containerStatuses").toReversed()) {
    restarts = addRestarts(restarts, restartsOf(container));
    const [waiting, terminated] = [stateOf(container, "waiting"), stateOf(container, "terminated")];
    if (waiting !== undefined && textAt(waiting, "reason") !== "") statusText = textAt(waiting, "reason");
    else if (terminated !== undefined) {
      statusText = terminatedStatus(terminated);
      if (numberAt(terminated, "exitCode") !== 0) failure = statusText;
    } else if (booleanAt(container, "ready") && stateOf(container, "running") !== undefined) ready++;
  }
  return {
    statusText: statusText === "Completed" ? completedStatus(status, failure, ready > 0) : statusText,
    ready,
    restarts,
  };
}

/** A Pod with a running container is not Completed; with a failed container it shows the failure. */
function completedStatus(status: JsonObject, failure: string | undefined, hasRunning: boolean): string {
  if (hasRunning && isReady(status)) return "Running";
  return failure ?? (hasRunning ? "NotReady" : "Completed");
}

function isReady(status: JsonObject): boolean {
  return objectsAt(status, "conditions").some((condition) =>
    textAt(condition, "type") === "Ready" && textAt(condition, "status") === "True"
  );
}

function finalStatus(pod: JsonObject, statusText: string): string {
  if (!isDeleted(pod)) return statusText;
  const status = objectAt(pod, "status");
  const phase = textAt(status, "phase");
  if (textAt(status, "reason") === "NodeLost") return "Unknown";
  return phase === "Succeeded" || phase === "Failed" ? statusText : "Terminating";
}

function stateOf(container: JsonObject, state: "waiting" | "running" | "terminated"): JsonObject | undefined {
  return findObject(objectAt(container, "state"), state);
}

function restartsOf(container: JsonObject): Restarts {
  const last = findObject(objectAt(container, "lastState"), "terminated");
  return { count: numberAt(container, "restartCount"), lastAt: last === undefined ? "" : textAt(last, "finishedAt") };
}

/** Adds restarts. Timestamps have one format, so the later one is the larger string. */
function addRestarts(left: Restarts, right: Restarts): Restarts {
  return { count: left.count + right.count, lastAt: left.lastAt < right.lastAt ? right.lastAt : left.lastAt };
}
