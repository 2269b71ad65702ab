/** Requests that the server passes on to programs on this machine, which stand in for what simulated Pods and Nodes serve. */
export { portForwardHandler } from "./port_forward.ts";
export { proxyHandlers, standInClient } from "./proxies.ts";
export { standInAnnotation } from "./stand_ins.ts";
