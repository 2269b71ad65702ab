/** JobSet, whose webhooks set the defaults of its kind and of its Pods. Its certificates are those of the simulation. */
import type { OperatorCase } from "../operator.ts";

/** The one version. */
export const jobset: readonly OperatorCase[] = [{
  name: "jobset-0.8.0",
  folder: import.meta.dirname ?? "",
  source: {
    module: "sigs.k8s.io/jobset",
    version: "v0.8.0",
    package: ".",
    crds: ["config/components/crd/bases"],
    webhooks: ["config/components/webhook/manifests.yaml"],
  },
  setup: "sed -e s#PORT#{port3}# -e s#CERTS#{certs}# {folder}/config.yaml > {dir}/config.yaml",
  args: [
    "--config={dir}/config.yaml",
    "--metrics-bind-address=127.0.0.1:{port}",
    "--health-probe-bind-address=127.0.0.1:{port2}",
  ],
  webhookUrl: "https://127.0.0.1:{port3}",
  workloads: ["recreate.yaml"],
}];
