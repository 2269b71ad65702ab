/**
 * cert-manager's controller. Of later versions the controller is a module of its own that the module proxy cannot have. The
 * webhook, a second program, is not started: nothing needs it for certificates that sign themselves.
 */
import type { OperatorCase } from "../operator.ts";

/** The one version. */
export const certManager: readonly OperatorCase[] = [{
  name: "cert-manager-1.11.5",
  folder: import.meta.dirname ?? "",
  source: {
    module: "github.com/cert-manager/cert-manager",
    version: "v1.11.5",
    package: "./cmd/controller",
    crds: ["deploy/crds"],
  },
  args: [
    "--kubeconfig={kubeconfig}",
    "--cluster-resource-namespace=default",
    "--leader-election-namespace=default",
    "--metrics-listen-address=127.0.0.1:{port}",
  ],
  workloads: ["renew.yaml"],
}];
