/** Fields of Pods whose features are off in Kubernetes 1.36: what is written to them is dropped, unless it was there before. */
import type { Draft, JsonObject } from "../../model/mod.ts";
import { draftAt, draftsAt, findDraft, has, objectAt, objectsAt } from "../fields.ts";

const projections = ["clusterTrustBundle", "podCertificate"];
const containerLists = ["containers", "initContainers", "ephemeralContainers"];

/** Drops them from the spec of a Pod or a template. @param before the spec that is changed */
export function dropDisabled(spec: Draft, before: JsonObject = {}): void {
  if (!has(before, "schedulingGroup")) delete spec["schedulingGroup"];
  for (const key of projections) {
    if (sourcesOf(before).some((source) => has(source, key))) continue;
    for (const volume of draftsAt(spec, "volumes")) {
      for (const source of draftsAt(findDraft(volume, "projected") ?? {}, "sources")) delete source[key];
    }
  }
  const hadSignal = containerLists.some((key) =>
    objectsAt(before, key).some((container) => has(objectAt(container, "lifecycle"), "stopSignal"))
  );
  if (hadSignal) return;
  for (const container of containerLists.flatMap((key) => draftsAt(spec, key))) {
    if (findDraft(container, "lifecycle") !== undefined) delete draftAt(container, "lifecycle")["stopSignal"];
  }
}

function sourcesOf(spec: JsonObject): readonly JsonObject[] {
  return objectsAt(spec, "volumes").flatMap((volume) => objectsAt(objectAt(volume, "projected"), "sources"));
}
