/** The client of the debug endpoint of a running process, for the commands that look into one: `why`, `top`. */
export { askDebugEndpoint, type DebugClient, openDebugClient } from "./debug_client.ts";
export { type DebugClientFlags, debugClientFlags } from "./debug_client_flags.ts";
export { debugEndpointAnnotation, type DebugLocation, locationText, podName } from "./debug_location.ts";
