/** The command `why`. */
export { askDebugEndpoint, type DebugClientFlags, debugClientFlags } from "./debug_client.ts";
export { why } from "./why.ts";
