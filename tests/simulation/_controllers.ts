/** The five controllers with their workloads, as in main.ts. */
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

/** A controller and one of its workloads, by name. */
export function findWorkload(name: string, workload: string): { controller: OperatorController; workload: Workload } {
  const controller = controllers.find((one) => one.name === name);
  const found = controller?.workloads?.find((one) => one.name === workload);
  if (controller === undefined || found === undefined) {
    throw new Error(`Cannot find workload "${workload}" of controller ${name}: it does not exist`);
  }
  return { controller, workload: found };
}
