/** foo: creates a Deployment for each Foo, as in Kubernetes' sample-controller. */
export { fooController } from "./controller.ts";
export { desiredDeployment } from "./desired.ts";
export { Foo } from "./resource.ts";
export { fooSamples, fooWorkloads } from "./workloads.ts";
