/** What people do to Pods: `controller simulate pods` plays it with and without faults. */
import type { Workload, WorkloadStep } from "../../mod.ts";

function create(name: string): WorkloadStep {
  const metadata = { name, namespace: "default" };
  const spec = { containers: [{ name: "main", image: "nginx" }] };
  return { kind: "create", object: { apiVersion: "v1", kind: "Pod", metadata, spec } };
}

function remove(name: string): WorkloadStep {
  return { kind: "delete", object: { apiVersion: "v1", kind: "Pod", name } };
}

/** See behaviours.md 3.1. */
export const podsWorkloads: readonly Workload[] = [
  { name: "churn", steps: [create("a"), { ...create("b"), atOnce: true }, remove("a"), create("a"), remove("b")] },
  { name: "delete while down", steps: [create("a"), create("b"), { kind: "stop" }, remove("a"), create("c")] },
];
