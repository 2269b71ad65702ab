/**
 * Foo: the kind of sample-controller. It names one Deployment and reports how many replicas are available.
 *
 * Caveats: the schema allows an empty deploymentName, because the controller reports it (as the original does). The limit of
 * 253 characters is that of the API server for the name of a Deployment. The number of replicas has no default, because a
 * Foo without one leaves the replicas of its Deployment to others.
 */
import { defineResource, type Infer, z } from "../../mod.ts";

export const Foo = defineResource({
  group: "samplecontroller.k8s.io",
  version: "v1alpha1",
  kind: "Foo",
  scope: "Namespaced",
  description: "A Foo creates one Deployment and reports how many of its replicas are available.",
  // Groups under k8s.io belong to Kubernetes; this one is its example and was never reviewed as an API.
  annotations: { "api-approved.kubernetes.io": "unapproved, example API of kubernetes/sample-controller" },
  spec: z.object({
    deploymentName: z.string().max(253).describe("Name of the Deployment, in the namespace of the Foo."),
    replicas: z.int32().min(0).max(10).optional().describe(
      "Number of replicas of the Deployment. Without it, others may set it, such as a HorizontalPodAutoscaler.",
    ),
  }),
  status: z.object({
    availableReplicas: z.int32().min(0).default(0).describe("Number of available replicas at the last reconcile."),
  }),
  printerColumns: [
    { name: "Deployment", jsonPath: ".spec.deploymentName" },
    { name: "Replicas", jsonPath: ".spec.replicas" },
    { name: "Available", jsonPath: ".status.availableReplicas" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type Foo = Infer<typeof Foo>;
