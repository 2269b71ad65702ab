/** pods: prints a line for each Pod, as in client-go's workqueue example. */
export { podPrinter, podsController } from "./controller.ts";
export { KnownPods } from "./known_pods.ts";
export { podsSamples, podsWorkloads } from "./workloads.ts";
