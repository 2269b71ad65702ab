/** Requests that the server passes on to programs on this machine, which stand in for what simulated Pods and Nodes serve. */
export { isUpgrade, type PassedRequest, passOn } from "./passed_request.ts";
export { portForwardHandler } from "./port_forward.ts";
export { type ByteChannel, SpdyConnection, SpdyError, type SpdyStream } from "./spdy_connection.ts";
export { acceptSpdy } from "./spdy_handshake.ts";
export { proxyHandlers, standInClient } from "./proxies.ts";
export { dialError, joinHostPort, loopbackHost, RefusedConnection, standInOfPod } from "./stand_ins.ts";
