/**
 * The discovery of a version that another API server serves, for the aggregated document: from its own aggregated one, or
 * converted from the list of its resources, as kube-aggregator does (`handler_discovery.go`).
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { booleanAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";

/** Reads a document of the other server. @returns undefined when there is none @throws when it does not answer */
export type ReadRemote = (
  path: string,
  accept: string,
) => Promise<{ readonly body: Json; readonly type: string } | undefined>;

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const olderType = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/** The entry of a version, without its freshness. @throws Error when the server does not serve it, or does not answer */
export async function readDiscovery(group: string, version: string, readRemote: ReadRemote): Promise<JsonObject> {
  const aggregated = await readRemote("/apis", `${aggregatedType},${olderType}`);
  if (aggregated !== undefined && /g=apidiscovery\.k8s\.io/.test(aggregated.type) && isJsonObject(aggregated.body)) {
    const found = objectsAt(aggregated.body, "items")
      .filter((item) => textAt(objectIn(item, "metadata"), "name") === group)
      .flatMap((item) => objectsAt(item, "versions"))
      .find((one) => textAt(one, "version") === version);
    return found === undefined ? { version } : withResponseKinds(found);
  }
  const listed = await readRemote(`/apis/${group}/${version}`, "application/json");
  if (listed === undefined || !isJsonObject(listed.body)) {
    throw new Error(`failed to download legacy discovery for /apis/${group}/${version}`);
  }
  return { version, resources: converted(objectsAt(listed.body, "resources")) };
}

function objectIn(object: JsonObject, key: string): JsonObject {
  const value = read<Json>(object, key);
  return isJsonObject(value) ? value : {};
}

const noKind: JsonObject = { group: "", version: "", kind: "" };

/** Old clients need the kind of each response. */
function withResponseKinds(version: JsonObject): JsonObject {
  const fill = (one: JsonObject): JsonObject => ({ ...one, responseKind: read<Json>(one, "responseKind") ?? noKind });
  const resources = read<Json>(version, "resources");
  if (!isJsonArray(resources)) return version;
  const filled = resources.filter(isJsonObject).map((resource) => {
    const parts = objectsAt(resource, "subresources");
    return parts.length === 0 ? fill(resource) : { ...fill(resource), subresources: parts.map(fill) };
  });
  return { ...version, resources: filled };
}

/** Resources with their subresources, from a list of both. */
function converted(list: readonly JsonObject[]): readonly JsonObject[] {
  const resources = list.filter((one) => !textAt(one, "name").includes("/"));
  return resources.map((one) => {
    const name = textAt(one, "name");
    const parts = list.filter((part) => textAt(part, "name").startsWith(`${name}/`)).map((part): JsonObject => ({
      subresource: textAt(part, "name").slice(name.length + 1),
      responseKind: textAt(part, "kind") === "" ? noKind : kindOf(part),
      verbs: textsAt(part, "verbs"),
    }));
    return {
      resource: name,
      responseKind: kindOf(one),
      scope: booleanAt(one, "namespaced") ? "Namespaced" : "Cluster",
      singularResource: textAt(one, "singularName"),
      verbs: textsAt(one, "verbs"),
      ...named("shortNames", textsAt(one, "shortNames")),
      ...named("categories", textsAt(one, "categories")),
      ...(parts.length === 0 ? {} : { subresources: parts }),
    };
  });
}

function kindOf(one: JsonObject): JsonObject {
  return { group: textAt(one, "group"), version: textAt(one, "version"), kind: textAt(one, "kind") };
}

function named(key: string, values: readonly string[]): JsonObject {
  return values.length === 0 ? {} : { [key]: values };
}
