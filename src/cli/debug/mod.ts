/** The client of the debug endpoint of a running process, for the commands that look into one: `why`, `top`. */
export {
  askDebugEndpoint,
  type DebugClient,
  type DebugClientFlags,
  debugClientFlags,
  openDebugClient,
} from "./debug_client.ts";
