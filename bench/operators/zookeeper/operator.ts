/**
 * zookeeper-operator, before and after the repair of the two bugs that Sieve published for it. Version 0.2.8 is of the time of
 * Kubernetes 1.17: its definition is v1beta1 (converted), and it writes PodDisruptionBudgets of policy/v1beta1, which the
 * server serves for it. Both versions keep the size of a cluster in ZooKeeper itself: `server.ts` is one.
 */
import { type OperatorCase, presentJson } from "../operator.ts";

const common = {
  folder: import.meta.dirname ?? "",
  env: { WATCH_NAMESPACE: "default", OPERATOR_NAME: "zookeeper-operator" },
  application: {
    hosts: ["zookeeper-client", "zookeeper-client.default.svc.cluster.local"],
    program: "server.ts",
    port: 2181,
  },
  workloads: ["recreate.yaml", "scale.yaml"],
} as const satisfies Partial<OperatorCase>;

/** The two versions. */
export const zookeeper: readonly OperatorCase[] = [
  {
    ...common,
    name: "zookeeper-0.2.8",
    source: {
      module: "github.com/pravega/zookeeper-operator",
      version: "v0.2.8",
      package: "./cmd/manager",
      requires: presentJson,
      // Of helm and of tests; their hosts are gone.
      excludes: [
        "vbom.ml/util@v0.0.0-20160121211510-db5cfe13f5cc",
        "bou.ke/monkey@v1.0.1",
        "bou.ke/monkey@v1.0.2",
      ],
      crds: ["deploy/crds/zookeeper_v1beta1_zookeepercluster_crd.yaml"],
    },
    removedVersions: ["policy/v1beta1"],
  },
  {
    ...common,
    name: "zookeeper-0.2.15",
    source: {
      module: "github.com/pravega/zookeeper-operator",
      version: "v0.2.15",
      package: ".",
      crds: ["config/crd/bases"],
    },
    args: ["--metrics-bind-address=127.0.0.1:{port}"],
  },
];
