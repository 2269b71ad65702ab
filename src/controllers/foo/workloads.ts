/** What people do to Foos: `controller simulate foo` plays it with and without faults. */
import type { Workload, WorkloadStep } from "../../mod.ts";

const apiVersion = "samplecontroller.k8s.io/v1alpha1";
const web = { apiVersion, kind: "Foo", name: "a" };

function create(replicas: number): WorkloadStep {
  const metadata = { name: "a", namespace: "default" };
  return { kind: "create", object: { apiVersion, kind: "Foo", metadata, spec: { deploymentName: "web", replicas } } };
}

function scale(replicas: number): WorkloadStep {
  return { kind: "patch", object: web, patch: { spec: { replicas } } };
}

const strangerLabels = { app: "stranger" };
const stranger = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    selector: { matchLabels: strangerLabels },
    template: { metadata: { labels: strangerLabels }, spec: { containers: [{ name: "main", image: "nginx" }] } },
  },
};

/** See behaviours.md 3.1. */
export const fooWorkloads: readonly Workload[] = [
  { name: "create", steps: [create(1)] },
  { name: "scale", steps: [create(1), scale(3), { ...scale(5), atOnce: true }, scale(2)] },
  {
    name: "delete and create again",
    steps: [
      create(1),
      { kind: "delete", object: web },
      create(2),
      { kind: "delete", object: web, atOnce: true },
      create(3),
    ],
  },
  {
    name: "delete in the middle",
    steps: [{ ...create(1), untilWrites: 1 }, { kind: "delete", object: web, atOnce: true }, create(2)],
  },
  {
    name: "a stranger's Deployment",
    steps: [
      { kind: "create", object: stranger },
      create(2),
      { kind: "delete", object: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
    ],
  },
];
