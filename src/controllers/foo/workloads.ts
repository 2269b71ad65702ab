/** Samples and workloads of foo: objects to try it with, and what users do to Foos during a simulation. */
import { pausedAnnotation, type Workload, type WorkloadStep } from "../../mod.ts";

/** The samples of `controller dev --samples`; examples/foo.yaml contains the same. */
export const fooSamples = [{
  apiVersion: "samplecontroller.k8s.io/v1alpha1",
  kind: "Foo",
  metadata: { name: "example-foo" },
  spec: { deploymentName: "example-foo", replicas: 1 },
}];

const apiVersion = "samplecontroller.k8s.io/v1alpha1";
const web = { apiVersion, kind: "Foo", name: "a" };
const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

function create(replicas: number): WorkloadStep {
  const metadata = { name: "a", namespace: "default" };
  return { kind: "create", object: { apiVersion, kind: "Foo", metadata, spec: { deploymentName: "web", replicas } } };
}

function scale(replicas: number): WorkloadStep {
  return { kind: "patch", object: web, patch: { spec: { replicas } } };
}

/** @param value null to resume */
function pause(value: "true" | null): WorkloadStep {
  return { kind: "patch", object: web, patch: { metadata: { annotations: { [pausedAnnotation]: value } } } };
}

const foreignLabels = { app: "other" };
const foreignDeployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default" },
  spec: {
    selector: { matchLabels: foreignLabels },
    template: { metadata: { labels: foreignLabels }, spec: { containers: [{ name: "main", image: "nginx" }] } },
  },
};

/** The workloads of `controller simulate foo`. */
export const fooWorkloads: readonly Workload[] = [
  { name: "create", steps: [create(1)] },
  { name: "scale", steps: [create(1), scale(3), { ...scale(5), atOnce: true }, scale(2)] },
  {
    name: "pause and resume",
    steps: [create(1), pause("true"), scale(3), pause(null)],
  },
  {
    name: "delete while paused",
    steps: [create(1), { ...pause("true"), atOnce: true }, { kind: "delete", object: web }, create(2)],
  },
  {
    name: "replicas of others",
    steps: [
      create(3),
      { kind: "patch", object: web, patch: { spec: { replicas: null } } },
      { kind: "patch", object: deployment, patch: { spec: { replicas: 5 } }, subresource: "scale", atOnce: true },
      { kind: "patch", object: deployment, patch: { metadata: { labels: { app: "other" } } } },
      scale(2),
    ],
  },
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
    name: "a foreign Deployment",
    steps: [
      { kind: "create", object: foreignDeployment },
      create(2),
      { kind: "delete", object: deployment },
    ],
  },
];
