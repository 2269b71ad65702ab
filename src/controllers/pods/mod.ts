/** pods: a line for each Pod, as in client-go's workqueue example. */
export { podPrinter, type PodPrinterOptions, podsController } from "./controller.ts";
export { KnownPods } from "./known_pods.ts";
export { type LineFormat, lineOf } from "./line.ts";
export { podsSamples } from "./samples.ts";
export { podsWorkloads } from "./workloads.ts";
