/** Are there objects that cannot go, because a controller that should clean up after them does not run? */
import { keyOf, type KubeObject, type Resource, resourceName } from "../../api/mod.ts";
import { isNotFound } from "../../client/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { count } from "../crds/crd_work.ts";
import { storedObjects } from "../crds/stored_objects.ts";
import { type Check, type Finding, ok, unknown, warning } from "./check.ts";
import { type Examination, roughly } from "./examination.ts";
import { CommandError } from "../command_error.ts";
import { exitCode } from "../exit_code.ts";

/** As long as this a controller may take without anything being wrong. */
const patienceMs = 60_000;

/** One check for each controller that cleans up. */
export async function checkFinalizers(examination: Examination): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const controller of examination.controllers) {
    if (controller.finalizer === undefined) continue;
    checks.push({ about: "finalizer", subject: controller.finalizer, ...await examine(controller, examination) });
  }
  return checks;
}

async function examine(controller: OperatorController, examination: Examination): Promise<Finding> {
  const { session } = examination;
  const { finalizer = "", primary, name } = controller;
  const kind: Resource<KubeObject> = { ...primary, _type: undefined };
  const now = session.surroundings.clock.now();
  let [stuck, oldest, example] = [0, 0, ""];
  try {
    for await (const page of storedObjects(examination, kind, { metadataOnly: true })) {
      for (const object of page) {
        const { deletionTimestamp, finalizers = [] } = object.metadata;
        const ageMs = now - Date.parse(deletionTimestamp ?? "");
        if (!finalizers.includes(finalizer) || !(ageMs > patienceMs)) continue;
        if (ageMs > oldest) [oldest, example] = [ageMs, keyOf(object)];
        stuck++;
      }
    }
  } catch (error) {
    if (isNotFound(error)) return unknown(`the server does not know ${resourceName(primary)}`);
    if (error instanceof CommandError && error.code === exitCode.permission) {
      return unknown(`${resourceName(primary)} may not be looked at`);
    }
    throw error;
  }
  if (stuck === 0) return ok(`holds no object of ${resourceName(primary)} that should be gone`);
  const state = `holds ${count(stuck, "object")} that should be gone, ${example} for ${roughly(oldest)}`;
  return warning(state, `Run: ${session.operator.name} run ${name}; its log says why it cannot clean up`);
}
