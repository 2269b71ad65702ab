/** What people do to EcsBindings: `controller simulate ecsbinding` plays it with and without faults. */
import type { Workload, WorkloadStep } from "../../mod.ts";

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

/** See behaviours.md 3.1. */
export const ecsbindingWorkloads: readonly Workload[] = [
  { name: "label", steps: [createNode, create("worker-1"), { kind: "delete", object: node }, createNode] },
  { name: "a Node that goes", steps: [createNode, create("worker-1"), { kind: "delete", object: node }] },
  {
    name: "another Node",
    steps: [createNode, create("nowhere"), {
      kind: "patch",
      object: machine,
      patch: { spec: { nodename: "worker-1" } },
    }],
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
