/** Other API servers whose versions of groups are served through this one. */
export { Aggregator, type AggregatorOptions } from "./aggregator.ts";
export { publishAuthentication } from "./authentication_config.ts";
export { type FrontProxy, frontProxyName } from "./backends.ts";
