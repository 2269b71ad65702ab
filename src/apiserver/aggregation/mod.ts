/** Other API servers whose versions of groups are served through this one. */
export { Aggregator, type AggregatorOptions } from "./aggregator.ts";
export type { FrontProxy } from "./backends.ts";
