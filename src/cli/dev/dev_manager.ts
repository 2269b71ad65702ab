/** The Manager of `dev`: as that of `run`, on a cluster in the same process, alone and without endpoints. */
import { Client } from "../../client/mod.ts";
import type { EmbeddedCluster } from "../../cluster/mod.ts";
import { Manager, type OperatorController } from "../../manager/mod.ts";
import { processFacts } from "../../runtime/mod.ts";
import type { Session } from "../session.ts";

/** Makes it; nothing runs yet. */
export async function devManager(
  cluster: EmbeddedCluster,
  controllers: readonly OperatorController[],
  { operator, surroundings: { clock, random } }: Session,
): Promise<Manager> {
  const client = new Client(cluster.transport, { clock });
  const { name, cacheRules } = operator;
  const manager = new Manager({ client, name, instance: processFacts().hostname, cacheRules, clock, random });
  for (const controller of controllers) manager.add(controller);
  for (const runnable of controllers.flatMap((controller) => controller.runnables ?? [])) {
    await manager.addRunnable(runnable);
  }
  return manager;
}
