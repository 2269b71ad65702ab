/** The rows of core kinds, apart from those that have a file of their own. */
import { objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import type { Json, JsonObject } from "../model/mod.ts";
import { age, type Cell, containers, count, createdAt, integer, labels, name, row, type Rows, text } from "./_cells.ts";
import { eventRow } from "./_event_row.ts";
import { nodeRow } from "./_node_row.ts";
import { podRow } from "./_pod_row.ts";
import { endpointsRow, serviceRow } from "./_service_row.ts";
import { textIn } from "./_values.ts";
import { claimRow, volumeRow } from "./_volume_rows.ts";

export const coreRows: Rows = {
  componentstatuses: componentStatus,
  configmaps: row(name, count("data", "binaryData"), age),
  endpoints: endpointsRow,
  events: eventRow,
  "events.events.k8s.io": eventRow,
  limitranges: row(name, createdAt),
  namespaces: row(name, text("status.phase"), age),
  nodes: nodeRow,
  persistentvolumeclaims: claimRow,
  persistentvolumes: volumeRow,
  pods: podRow,
  podtemplates: row(name, ...containers("template"), labels("template.metadata.labels")),
  replicationcontrollers: row(
    name,
    integer("spec.replicas"),
    integer("status.replicas"),
    integer("status.readyReplicas"),
    age,
    ...containers("spec.template"),
    labels("spec.selector"),
  ),
  resourcequotas: row(name, quota(false), quota(true), age),
  secrets: row(name, text("type"), count("data"), age),
  serviceaccounts: row(name, age),
  services: serviceRow,
};

function componentStatus(object: JsonObject): readonly Json[] {
  const healthy = objectsAt(object, "conditions").find((condition) => textAt(condition, "type") === "Healthy");
  if (healthy === undefined) return [name(object, 0), "Unknown", "", ""];
  const word = textAt(healthy, "status") === "True" ? "Healthy" : "Unhealthy";
  return [name(object, 0), word, textAt(healthy, "message"), textAt(healthy, "error")];
}

/** What is used of what there may be, of limits or of all the rest. */
function quota(isOfLimits: boolean): Cell {
  return (object) => {
    const status = objectAt(object, "status");
    const [hard, used] = [objectAt(status, "hard"), objectAt(status, "used")];
    const names = Object.keys(hard).filter((resource) => resource.startsWith("limits.") === isOfLimits).sort();
    const usedOf = (resource: string) => Object.hasOwn(used, resource) ? textIn(used[resource]) : "0";
    return names.map((resource) => `${resource}: ${usedOf(resource)}/${textIn(hard[resource])}`).join(", ");
  };
}
