/**
 * The objects of the program itself on the API server: its Namespace, ServiceAccount and Deployment, whose Pod the simulated
 * cluster makes. Programs look up their own Pod, and own locks with it.
 */
import type { UntypedObject } from "../../api/mod.ts";

/** Who the program is in the cluster. */
export interface ProgramIdentity {
  readonly namespace: string;
  /** Of the Deployment and of the ServiceAccount. */
  readonly name: string;
}

/** The objects, in the order in which they are created. */
export function programObjects({ namespace, name }: ProgramIdentity, replicas: number): readonly UntypedObject[] {
  const labels = { "app.kubernetes.io/name": name };
  const metadata = { namespace, name, labels };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          // The image never runs: the program is a process beside the simulated cluster.
          spec: { serviceAccountName: name, containers: [{ name, image: `${name}:simulated` }] },
        },
      },
    },
  ];
}

const first = ["Namespace", "CustomResourceDefinition", "ServiceAccount"];
const last = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/** Sorts the objects of files so that each one can be created: namespaces and definitions first, webhooks last. */
export function inCreationOrder(objects: readonly UntypedObject[]): readonly UntypedObject[] {
  const rank = ({ kind }: UntypedObject) =>
    first.includes(kind) ? first.indexOf(kind) : last.includes(kind) ? first.length + 1 : first.length;
  return objects.toSorted((one, other) => rank(one) - rank(other));
}
