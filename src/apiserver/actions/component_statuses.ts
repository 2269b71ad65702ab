/**
 * componentStatuses(): the health of scheduler, controller manager and etcd, which kube-apiserver asks for at each read.
 * Here the simulated cluster is the first two, and `etcd-0` is what keeps the objects.
 *
 * A component that does not run has the message of a refused connection to the port of kube-apiserver's question.
 */
import type { JsonObject } from "../model/mod.ts";
import type { ComputedObjects } from "../registry/mod.ts";

/** A part of the control plane beside the API server and etcd. */
export type ComponentName = "controller-manager" | "scheduler";

/** Options of {@link componentStatuses}. */
export interface ComponentStatusesOptions {
  /** The components that run beside this server. */
  readonly running: ReadonlySet<ComponentName>;
  /** Why objects cannot be stored; undefined when they can. */
  storageProblem(): string | undefined;
}

/** The ports on which kube-apiserver expects them (kube-apiserver `registry/core/rest`). */
const ports: readonly (readonly [name: ComponentName, port: number])[] = [
  ["controller-manager", 10_257],
  ["scheduler", 10_259],
];

/** The ComponentStatuses of a server. */
export function componentStatuses({ running, storageProblem }: ComponentStatusesOptions): ComputedObjects {
  return {
    collection: "componentstatuses",
    objects: () => [
      ...ports.map(([name, port]) => statusOf(name, running.has(name) ? healthy : unreachable(port))),
      statusOf("etcd-0", storageHealth(storageProblem())),
    ],
  };
}

const healthy: JsonObject = { status: "True", message: "ok" };

function unreachable(port: number): JsonObject {
  const address = `127.0.0.1:${port}`;
  const message = `Get "https://${address}/healthz": dial tcp ${address}: connect: connection refused`;
  return { status: "False", message };
}

function storageHealth(problem: string | undefined): JsonObject {
  return problem === undefined ? healthy : { status: "False", error: problem };
}

function statusOf(name: string, condition: JsonObject): JsonObject {
  return {
    apiVersion: "v1",
    kind: "ComponentStatus",
    metadata: { name },
    conditions: [{ type: "Healthy", ...condition }],
  };
}
