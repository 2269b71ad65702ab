/**
 * RabbitMQ's cluster operator, before and after the repair of the bugs that Sieve published for it: 1.6.0 deletes the
 * StatefulSet, and then enlarges the claims.
 */
import { type OperatorCase, presentJson } from "../operator.ts";

const common = {
  folder: import.meta.dirname ?? "",
  objects: ["class.yaml"],
  answers: "answers.yaml",
  env: { OPERATOR_NAMESPACE: "default", KUBE_CONFIG: "{kubeconfig}" },
  workloads: ["resize.yaml", "recreate.yaml", "scale.yaml"],
} as const satisfies Partial<OperatorCase>;

/** The two versions. */
export const rabbitmq: readonly OperatorCase[] = [
  {
    ...common,
    name: "rabbitmq-1.6.0",
    source: {
      module: "github.com/rabbitmq/cluster-operator",
      version: "v1.6.0",
      package: ".",
      requires: presentJson,
      crds: ["config/crd/bases"],
    },
    args: ["--metrics-addr=127.0.0.1:{port}"],
  },
  {
    ...common,
    name: "rabbitmq-2.16.0",
    source: {
      module: "github.com/rabbitmq/cluster-operator/v2",
      version: "v2.16.0",
      package: ".",
      crds: ["config/crd/bases"],
    },
    args: ["--metrics-bind-address=127.0.0.1:{port}"],
  },
];
