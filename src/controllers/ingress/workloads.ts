/** Samples and workloads of ingress: objects to try it with, and what users do to Services during a simulation. */
import type { Workload, WorkloadStep } from "../../mod.ts";

/** The samples of `controller dev --samples`; examples/ingress.yaml contains the same. */
export const ingressSamples = [{
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "shop", annotations: { "ingress/http": "shop.example.com/cart" } },
  spec: { selector: { app: "shop" }, ports: [{ port: 80, targetPort: 8080 }] },
}];

const shop = { apiVersion: "v1", kind: "Service", name: "shop" };
const ingress = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "shop" };

function create(annotations: Readonly<Record<string, string>>): WorkloadStep {
  const metadata = { name: "shop", namespace: "default", annotations };
  const spec = { selector: { app: "shop" }, ports: [{ port: 80, targetPort: 8080 }] };
  return { kind: "create", object: { apiVersion: "v1", kind: "Service", metadata, spec } };
}

function annotate(value: string | null): WorkloadStep {
  return { kind: "patch", object: shop, patch: { metadata: { annotations: { "ingress/http": value } } } };
}

/** The workloads of `controller simulate ingress`. */
export const ingressWorkloads: readonly Workload[] = [
  { name: "annotate", steps: [create({}), annotate("true")] },
  {
    name: "change and remove",
    steps: [create({ "ingress/http": "" }), annotate("shop.example.com/cart"), annotate(null), annotate("true")],
  },
  {
    name: "change in the middle",
    steps: [
      { ...create({ "ingress/http": "shop.example.com" }), untilWrites: 1 },
      { ...annotate(null), untilWrites: 1 },
      annotate("true"),
    ],
  },
  {
    name: "an Ingress deleted by a user",
    steps: [
      create({ "ingress/http": "shop.example.com" }),
      { kind: "delete", object: ingress },
      { kind: "delete", object: shop },
      create({ "ingress/http": "true" }),
    ],
  },
];
