/**
 * The desired Deployment of a Foo: a pure function. The controller owns exactly these fields. It restores their values, and
 * leaves all others to their owners: of the template these are further containers, annotations, resources and the like.
 */
import { Deployment, type Desired, manifest } from "../../mod.ts";
import type { Foo } from "./resource.ts";

/**
 * @param foo A Foo whose `spec.deploymentName` is not empty.
 */
export function desiredDeployment(foo: Foo): Desired<typeof Deployment> {
  const labels = { app: "nginx", controller: foo.metadata.name ?? "" };
  return manifest(Deployment, {
    metadata: { name: foo.spec.deploymentName, namespace: foo.metadata.namespace, labels },
    spec: {
      replicas: foo.spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "nginx", image: "nginx:latest" }] },
      },
    },
  });
}
