/** The connection of a command to its cluster: flags, client, and the first requests to the API server. */
export { isAllowed, isConversionFailure, isServed, type ResourceAttributes } from "./cluster_queries.ts";
export { connect, type Connection } from "./connect.ts";
export { connectionFlags } from "./connection_flags.ts";
export { electionGroup, leaseFlags } from "./lease_flags.ts";
export { findWebhookConfigurationName, operatorLabel } from "./webhook_installation.ts";
export { permissionAdvice, unknownKindError } from "./missing_access.ts";
export { retryUnavailable } from "./retry_unavailable.ts";
export { waitForServer } from "./wait_for_server.ts";
