/** prometheus-operator. It reads the configuration of the Pod that it runs in, and no kubeconfig. */
import type { OperatorCase } from "../operator.ts";

const module = "github.com/prometheus-operator/prometheus-operator";

/** The one version. */
export const prometheus: readonly OperatorCase[] = [{
  name: "prometheus-0.85.0",
  folder: import.meta.dirname ?? "",
  source: {
    module,
    version: "v0.85.0",
    package: "./cmd/operator",
    // The folders of nested modules are not in the module; the versions that go.mod requires are.
    dropsReplaced: [`${module}/pkg/apis/monitoring`, `${module}/pkg/client`],
    crds: ["example/prometheus-operator-crd"],
  },
  args: ["--web.listen-address=127.0.0.1:{port}"],
  workloads: ["scale.yaml"],
}];
