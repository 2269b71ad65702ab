import { assertEquals, test } from "../../../../tests/testing.ts";
import type { JsonObject } from "../../model/mod.ts";
import { podConditions, podRow } from "./pod_row.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const created = "2026-01-01T00:00:00Z";

/** A Pod with containers `c0`, `c1`, … that have these statuses. */
function pod(status: JsonObject, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    metadata: { name: "p", creationTimestamp: created, ...metadata },
    spec: { containers: [{ name: "c0" }], ...spec },
    status: { phase: "Pending", ...status },
  };
}

const running = { ready: true, restartCount: 0, state: { running: { startedAt: created } } };
const notReady = { ...running, ready: false };
const isReady = [{ type: "Ready", status: "True" }];
const initialized = [{ type: "Initialized", status: "True" }];
const deleted = { deletionTimestamp: created };

function waiting(reason: string): JsonObject {
  return { ready: false, restartCount: 0, state: { waiting: { reason } } };
}

function ended(exitCode: number, rest: JsonObject = {}): JsonObject {
  return { ready: false, restartCount: 0, state: { terminated: { exitCode, ...rest } } };
}

const two: JsonObject = { containers: [{ name: "c0" }, { name: "c1" }] };
const inits: JsonObject = { initContainers: [{ name: "i0" }, { name: "i1" }] };
const sidecar: JsonObject = { initContainers: [{ name: "i0", restartPolicy: "Always" }, { name: "i1" }] };

/** What the test is about, the Pod, READY and STATUS. */
const states: readonly (readonly [string, JsonObject, string, string])[] = [
  ["waits for a node", pod({}), "0/1", "Pending"],
  [
    "is gated",
    pod({ conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }),
    "0/1",
    "SchedulingGated",
  ],
  ["starts", pod({ containerStatuses: [waiting("ContainerCreating")] }), "0/1", "ContainerCreating"],
  ["lacks an image", pod({ containerStatuses: [waiting("ErrImagePull")] }), "0/1", "ErrImagePull"],
  ["runs", pod({ phase: "Running", containerStatuses: [running] }), "1/1", "Running"],
  ["runs and is not ready", pod({ phase: "Running", containerStatuses: [notReady] }), "0/1", "Running"],
  ["runs in half", pod({ phase: "Running", containerStatuses: [running, notReady] }, two), "1/2", "Running"],
  [
    "crashes again and again",
    pod({ phase: "Running", containerStatuses: [waiting("CrashLoopBackOff"), running] }, two),
    "1/2",
    "CrashLoopBackOff",
  ],
  [
    "has two reasons, of which the first container's counts",
    pod({ phase: "Running", containerStatuses: [waiting("First"), waiting("Second")] }, two),
    "0/2",
    "First",
  ],
  [
    "has completed",
    pod({ phase: "Succeeded", containerStatuses: [ended(0, { reason: "Completed" })] }),
    "0/1",
    "Completed",
  ],
  ["has failed", pod({ phase: "Failed", containerStatuses: [ended(1, { reason: "Error" })] }), "0/1", "Error"],
  [
    "was killed for its memory",
    pod({ phase: "Failed", containerStatuses: [ended(137, { reason: "OOMKilled" })] }),
    "0/1",
    "OOMKilled",
  ],
  ["ended without a reason", pod({ phase: "Failed", containerStatuses: [ended(3)] }), "0/1", "ExitCode:3"],
  [
    "was ended by a signal",
    pod({ phase: "Failed", containerStatuses: [ended(137, { signal: 9 })] }),
    "0/1",
    "Signal:9",
  ],
  ["was evicted", pod({ phase: "Failed", reason: "Evicted" }), "0/1", "Evicted"],
  [
    "is ready though a container has completed",
    pod(
      { phase: "Running", conditions: isReady, containerStatuses: [ended(0, { reason: "Completed" }), running] },
      two,
    ),
    "1/2",
    "Running",
  ],
  [
    "is not ready, and a container has completed",
    pod({ phase: "Running", containerStatuses: [ended(0, { reason: "Completed" }), running] }, two),
    "1/2",
    "NotReady",
  ],
  [
    "has completed in its first container and failed in its second",
    pod(
      { phase: "Running", containerStatuses: [ended(0, { reason: "Completed" }), ended(2, { reason: "Error" })] },
      two,
    ),
    "0/2",
    "Error",
  ],
  [
    "initializes",
    pod({ initContainerStatuses: [waiting("PodInitializing"), waiting("PodInitializing")] }, inits),
    "0/1",
    "Init:0/2",
  ],
  [
    "initializes for the second time",
    pod({ initContainerStatuses: [ended(0, { reason: "Completed" }), running] }, inits),
    "0/1",
    "Init:1/2",
  ],
  [
    "cannot initialize",
    pod({ initContainerStatuses: [waiting("CrashLoopBackOff")] }, inits),
    "0/1",
    "Init:CrashLoopBackOff",
  ],
  ["failed to initialize", pod({ initContainerStatuses: [ended(1, { reason: "Error" })] }, inits), "0/1", "Init:Error"],
  ["failed to initialize for no reason", pod({ initContainerStatuses: [ended(4)] }, inits), "0/1", "Init:ExitCode:4"],
  [
    "was stopped while it initialized",
    pod({ initContainerStatuses: [ended(143, { signal: 15 })] }, inits),
    "0/1",
    "Init:Signal:15",
  ],
  [
    "was initialized once, and starts its init containers anew",
    pod({
      phase: "Running",
      conditions: initialized,
      initContainerStatuses: [waiting("PodInitializing")],
      containerStatuses: [running],
    }, inits),
    "1/1",
    "Init:0/2",
  ],
  [
    "has a sidecar that runs",
    pod({
      phase: "Running",
      initContainerStatuses: [{ ...running, name: "i0", started: true }, ended(0, { reason: "Completed" })],
      containerStatuses: [running],
    }, sidecar),
    "2/2",
    "Running",
  ],
  [
    "has a sidecar that does not start",
    pod({ initContainerStatuses: [{ ...notReady, name: "i0", started: false }] }, sidecar),
    "0/2",
    "Init:0/2",
  ],
  ["is deleted", pod({ phase: "Running", containerStatuses: [running] }, {}, deleted), "1/1", "Terminating"],
  ["is deleted, and was over", pod({ phase: "Succeeded" }, {}, deleted), "0/1", "Succeeded"],
  ["is deleted, and its node is lost", pod({ phase: "Running", reason: "NodeLost" }, {}, deleted), "0/1", "Unknown"],
  ["has no status at all", { metadata: { name: "p" } }, "0/0", ""],
];

for (const [what, object, ready, status] of states) {
  test(`a Pod that ${what} is shown as ${ready} ${status || "nothing"}`, () => {
    const [, shownReady, shownStatus] = podRow(object, now);
    assertEquals([shownReady, shownStatus], [ready, status]);
  });
}

test("the row of a Pod shows the restarts and the time of the last one", () => {
  const restarted = (count: number, finishedAt: string): JsonObject => ({
    ...running,
    restartCount: count,
    lastState: { terminated: { exitCode: 1, finishedAt } },
  });
  const statuses = [restarted(2, "2026-01-01T00:50:00Z"), restarted(3, "2026-01-01T00:55:00Z")];
  const [, , , restarts, age] = podRow(pod({ phase: "Running", containerStatuses: statuses }, two), now);
  assertEquals([restarts, age], ["5 (5m ago)", "60m"]);
});

test("the row of an initialized Pod counts only the restarts of sidecars among its init containers", () => {
  const initContainerStatuses = [
    { ...running, name: "i0", started: true, restartCount: 1 },
    { ...ended(0), name: "i1", restartCount: 7 },
  ];
  const [, , , restarts] = podRow(pod({ initContainerStatuses, containerStatuses: [running] }, sidecar), now);
  assertEquals(restarts, "1");
  const [, , , before] = podRow(pod({ initContainerStatuses: [{ ...notReady, restartCount: 7 }] }, inits), now);
  assertEquals(before, "7");
});

test("the wide columns of a Pod show its IP, nodes and readiness gates", () => {
  const gates = { readinessGates: [{ conditionType: "a" }, { conditionType: "b" }] };
  const conditions = [{ type: "a", status: "True" }, { type: "b", status: "False" }];
  const status = { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], nominatedNodeName: "n2", conditions };
  assertEquals(podRow(pod(status, { nodeName: "n1", ...gates }), now).slice(5), ["10.0.0.1", "n1", "n2", "1/2"]);
  assertEquals(podRow(pod({}), now).slice(5), ["<none>", "<none>", "<none>", "<none>"]);
});

test("the row of a finished Pod has a condition Completed", () => {
  const reasons = ["Succeeded", "Failed", "Running"].map((phase) =>
    podConditions(pod({ phase })).map(({ type, status, reason }) => [type, status, reason])
  );
  assertEquals(reasons, [[["Completed", "True", "Succeeded"]], [["Completed", "True", "Failed"]], []]);
});
