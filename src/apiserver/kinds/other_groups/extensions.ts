/**
 * CustomResourceDefinitions, APIServices and TokenRequests: defaults and table rows. The rules of CustomResourceDefinitions are
 * in crd/.
 */
import type { Draft, Json, JsonObject } from "../../model/mod.ts";
import { ageCell, conditionOf, createdAtCell, type DefaultsByType, nameCell, type Row, rowOf } from "../rules/mod.ts";
import { draftAt, findObject, objectAt, setIfAbsent, setIfEmpty, textAt } from "../types/mod.ts";

/** The defaults of CustomResourceDefinitions, APIServices and TokenRequests. */
export const extensionDefaults: DefaultsByType = {
  "apiextensions/v1.CustomResourceDefinition": setDefinitionDefaults,
  "apiextensions/v1.ServiceReference": (draft) => setIfAbsent(draft, "port", 443),
  "apiregistration/v1.ServiceReference": (draft) => setIfAbsent(draft, "port", 443),
  "authentication/v1.TokenRequestSpec": (draft) => setIfAbsent(draft, "expirationSeconds", 3_600),
};

function setDefinitionDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  const names = draftAt(spec, "names");
  const kind = textAt(names, "kind");
  if (kind !== "") {
    setIfEmpty(names, "singular", kind.toLowerCase());
    setIfEmpty(names, "listKind", `${kind}List`);
  }
  setIfAbsent(spec, "conversion", { strategy: "None" });
}

/** The cells of an APIService. */
export const apiServiceRow: Row = rowOf(nameCell, apiServiceTarget, apiServiceState, ageCell);

/** The cells of a CustomResourceDefinition. */
export const definitionRow: Row = rowOf(nameCell, createdAtCell);

function apiServiceTarget(object: JsonObject): Json {
  const service = findObject(objectAt(object, "spec"), "service");
  return service === undefined ? "Local" : `${textAt(service, "namespace")}/${textAt(service, "name")}`;
}

function apiServiceState(object: JsonObject): Json {
  const available = conditionOf(objectAt(object, "status"), "Available");
  if (available === undefined) return "Unknown";
  const [status, reason] = [textAt(available, "status"), textAt(available, "reason")];
  return status === "True" || reason === "" ? status : `${status} (${reason})`;
}
