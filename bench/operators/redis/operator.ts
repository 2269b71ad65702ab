/** Spotahome's redis-operator. It connects to each Redis by the address of its Pod, where nothing listens here. */
import type { OperatorCase } from "../operator.ts";

/** The one version. */
export const redis: readonly OperatorCase[] = [{
  name: "redis-1.2.4",
  folder: import.meta.dirname ?? "",
  source: {
    module: "github.com/spotahome/redis-operator",
    version: "v1.2.4",
    package: "./cmd/redisoperator",
    crds: ["manifests/databases.spotahome.com_redisfailovers.yaml"],
  },
  args: ["--development", "--kubeconfig={kubeconfig}", "--listen-address=127.0.0.1:{port}"],
  workloads: ["recreate.yaml"],
}];
