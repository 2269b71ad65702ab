/** Samples and workloads of ecsbinding: objects to try it with, and what users do to EcsBindings during a simulation. */
import type { Workload, WorkloadStep } from "../../mod.ts";

/** The samples of `controller dev --samples`; examples/ecsbinding.yaml contains the same. */
export const ecsbindingSamples = [{
  apiVersion: "hopegi.com/v1",
  kind: "EcsBinding",
  metadata: { name: "machine-1" },
  spec: { id: "i-0123456789", name: "first machine", nodename: "worker-1", innerip: "10.0.0.11" },
}];

const apiVersion = "hopegi.com/v1";
const machine = { apiVersion, kind: "EcsBinding", name: "machine" };
const node = { apiVersion: "v1", kind: "Node", name: "worker-1" };

function create(nodename: string, finalizers?: readonly string[]): WorkloadStep {
  const metadata = { name: "machine", ...(finalizers === undefined ? {} : { finalizers }) };
  const spec = { id: "i-1", name: "first machine", nodename, innerip: "10.0.0.11" };
  return { kind: "create", object: { apiVersion, kind: "EcsBinding", metadata, spec } };
}

const createNode: WorkloadStep = {
  kind: "create",
  object: { apiVersion: "v1", kind: "Node", metadata: { name: "worker-1" } },
};

/** The workloads of `controller simulate ecsbinding`. */
export const ecsbindingWorkloads: readonly Workload[] = [
  { name: "label", steps: [createNode, create("worker-1"), { kind: "delete", object: node }, createNode] },
  { name: "a deleted Node", steps: [createNode, create("worker-1"), { kind: "delete", object: node }] },
  {
    name: "another Node",
    steps: [createNode, create("nowhere"), {
      kind: "patch",
      object: machine,
      patch: { spec: { nodename: "worker-1" } },
    }],
  },
  {
    name: "without a spec",
    steps: [
      createNode,
      { kind: "create", object: { apiVersion, kind: "EcsBinding", metadata: { name: "machine" } } },
      { kind: "patch", object: machine, patch: { spec: { nodename: "worker-1" } } },
      { kind: "patch", object: machine, patch: { spec: null } },
    ],
  },
  {
    name: "delete with a finalizer",
    steps: [
      create("worker-1", ["example.dev/hold"]),
      { kind: "delete", object: machine },
      { kind: "patch", object: machine, patch: { metadata: { finalizers: [] } } },
      create("worker-1"),
    ],
  },
];
