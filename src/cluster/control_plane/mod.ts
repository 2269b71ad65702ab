/** A real control plane for tests: etcd and kube-apiserver as processes of this machine. */
export { tokenAccess } from "./access.ts";
export { apiServerHosts, type ControlPlaneFiles, writeControlPlaneFiles } from "./files.ts";
export {
  apiServerArgs,
  authenticationConfig,
  controllerManagerArgs,
  etcdArgs,
  loopback,
  overridden,
  type Ports,
} from "./flags.ts";
export { type FindProgramsOptions, findServerPrograms } from "./programs.ts";
export { ControlPlaneServers, type ControlPlaneServersOptions, type ServerPrograms } from "./servers.ts";
