/** The five controllers as main.ts lists them, by name. */
import { ecsbindingController, ecsbindingWorkloads } from "../../src/controllers/ecsbinding/mod.ts";
import { fooController, fooWorkloads } from "../../src/controllers/foo/mod.ts";
import { ingressController, ingressWorkloads } from "../../src/controllers/ingress/mod.ts";
import { nodepoolController, nodepoolWebhooks, nodepoolWorkloads } from "../../src/controllers/nodepool/mod.ts";
import { podsController, podsWorkloads } from "../../src/controllers/pods/mod.ts";
import { type OperatorController, withWebhooks, withWorkloads, type Workload } from "../../src/mod.ts";

export const controllers: readonly OperatorController[] = [
  withWorkloads(fooController, fooWorkloads),
  withWorkloads(podsController, podsWorkloads),
  withWorkloads(ecsbindingController, ecsbindingWorkloads),
  withWorkloads(withWebhooks(nodepoolController, nodepoolWebhooks), nodepoolWorkloads),
  withWorkloads(ingressController, ingressWorkloads),
];

/** A controller, with one of its workloads. */
export function played(name: string, workload: string): { controller: OperatorController; workload: Workload } {
  const controller = controllers.find((one) => one.name === name);
  const found = controller?.workloads?.find((one) => one.name === workload);
  if (controller === undefined || found === undefined) {
    throw new Error(`Cannot play ${name} "${workload}": there is none`);
  }
  return { controller, workload: found };
}
