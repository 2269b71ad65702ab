/** Samples and workloads of pods: objects to try it with, and what users do to Pods during a simulation. */
import type { Workload, WorkloadStep } from "../../mod.ts";

/** The samples of `controller dev --samples`; examples/pods.yaml contains the same. */
export const podsSamples = [{
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "mypod" },
  spec: { containers: [{ name: "nginx", image: "nginx:latest" }] },
}];

function create(name: string): WorkloadStep {
  const metadata = { name, namespace: "default" };
  const spec = { containers: [{ name: "main", image: "nginx" }] };
  return { kind: "create", object: { apiVersion: "v1", kind: "Pod", metadata, spec } };
}

function remove(name: string): WorkloadStep {
  return { kind: "delete", object: { apiVersion: "v1", kind: "Pod", name } };
}

/** The workloads of `controller simulate pods`. */
export const podsWorkloads: readonly Workload[] = [
  { name: "churn", steps: [create("a"), { ...create("b"), atOnce: true }, remove("a"), create("a"), remove("b")] },
  { name: "delete while down", steps: [create("a"), create("b"), { kind: "stop" }, remove("a"), create("c")] },
];
