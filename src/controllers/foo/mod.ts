/** foo: a Foo becomes a Deployment, as in Kubernetes' sample-controller. */
export { fooController } from "./controller.ts";
export { desiredDeployment } from "./desired.ts";
export { Foo } from "./resource.ts";
export { fooSamples } from "./samples.ts";
export { fooWorkloads } from "./workloads.ts";
