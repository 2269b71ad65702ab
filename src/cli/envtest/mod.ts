/** The command `envtest`, and this program in the place of the servers that tests start. */
export { envtest } from "./envtest.ts";
export { runStandIn } from "./stand_in.ts";
