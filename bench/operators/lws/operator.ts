/** LeaderWorkerSet, whose webhooks set the defaults of its kind and give its Pods their places. */
import type { OperatorCase } from "../operator.ts";

/** The one version. */
export const lws: readonly OperatorCase[] = [{
  name: "lws-0.6.0",
  folder: import.meta.dirname ?? "",
  source: {
    module: "sigs.k8s.io/lws",
    version: "v0.6.0",
    package: "./cmd",
    crds: ["config/crd/bases"],
    webhooks: ["config/webhook/manifests.yaml"],
  },
  setup: "sed -e s#PORT#{port3}# -e s#CERTS#{certs}# {folder}/config.yaml > {dir}/config.yaml",
  args: [
    "--config={dir}/config.yaml",
    "--metrics-bind-address=127.0.0.1:{port}",
    "--health-probe-bind-address=127.0.0.1:{port2}",
  ],
  webhookUrl: "https://127.0.0.1:{port3}",
  workloads: ["scale.yaml"],
}];
