/**
 * Foo: the kind of sample-controller. It asks for one Deployment by name and reports how many replicas are available.
 *
 * Caveats: an empty deploymentName is legal here, because the controller reports it instead (as the original does).
 * 253 is what the server allows a Deployment's name to be long; a longer one could never be created.
 */
import { defineResource, type Infer, z } from "../../mod.ts";

export const Foo = defineResource({
  group: "samplecontroller.k8s.io",
  version: "v1alpha1",
  kind: "Foo",
  scope: "Namespaced",
  description: "A Foo asks for one Deployment and reports how many of its replicas are available.",
  // Groups under k8s.io belong to Kubernetes; this one is its example and was never reviewed as an API.
  annotations: { "api-approved.kubernetes.io": "unapproved, example API of kubernetes/sample-controller" },
  spec: z.object({
    deploymentName: z.string().max(253).describe("Name of the Deployment, in the namespace of the Foo."),
    replicas: z.int32().min(0).max(10).default(1).describe("How many replicas the Deployment shall have."),
  }),
  status: z.object({
    availableReplicas: z.int32().min(0).default(0).describe("How many replicas were available when last looked at."),
  }),
  printerColumns: [
    { name: "Deployment", jsonPath: ".spec.deploymentName" },
    { name: "Replicas", jsonPath: ".spec.replicas" },
    { name: "Available", jsonPath: ".status.availableReplicas" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type Foo = Infer<typeof Foo>;
