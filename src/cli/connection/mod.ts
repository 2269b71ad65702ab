/** TODO */
export { connect, type Connection } from "./connect.ts";
export { connectionFlags } from "./connection_flags.ts";
export { isServed, waitForServer } from "./wait_for_server.ts";
