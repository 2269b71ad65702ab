/** CassKop, the operator for Cassandra in which Sieve found four bugs. Its program waits for one lock, as a Pod. */
import { type OperatorCase, presentJson } from "../operator.ts";

/** The one version. */
export const casskop: readonly OperatorCase[] = [{
  name: "casskop-1.1.5",
  folder: import.meta.dirname ?? "",
  source: {
    module: "github.com/Orange-OpenSource/casskop",
    version: "v1.1.5-release",
    package: "./cmd/manager",
    requires: presentJson,
    // Of helm and of tests; their hosts are gone.
    excludes: ["vbom.ml/util@v0.0.0-20160121211510-db5cfe13f5cc", "bou.ke/monkey@v1.0.1", "bou.ke/monkey@v1.0.2"],
    crds: [
      "deploy/crds/db.orange.com_cassandraclusters_crd.yaml",
      "deploy/crds/db.orange.com_cassandrabackups_crd.yaml",
      "deploy/crds/db.orange.com_cassandrarestores_crd.yaml",
    ],
  },
  removedVersions: ["policy/v1beta1"],
  objects: ["account.yaml"],
  env: { WATCH_NAMESPACE: "default", OPERATOR_NAME: "casskop", LOG_LEVEL: "Info" },
  workloads: ["recreate.yaml", "budget.yaml"],
}];
