/** CrdSpec: the parts of a stored CustomResourceDefinition that the server needs, read from its JSON once per change. */
import { booleanAt, objectAt, objectsAt, textAt, textsAt } from "../../kinds/mod.ts";
import { isJsonObject, type JsonObject, read, type ScalePaths } from "../../model/mod.ts";

/** `spec.names` and `status.acceptedNames`. */
export interface CrdNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** One of `spec.versions`. */
export interface CrdVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStorage: boolean;
  readonly isDeprecated: boolean;
  readonly deprecationWarning: string | undefined;
  /** `schema.openAPIV3Schema`. */
  readonly schema: JsonObject | undefined;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly columns: readonly JsonObject[];
  /** JSON paths. */
  readonly selectableFields: readonly string[];
}

/** A conversion webhook. */
export interface ConversionWebhook {
  readonly clientConfig: JsonObject;
  readonly reviewVersions: readonly string[];
}

/** A definition. */
export interface CrdSpec {
  /** `<plural>.<group>`. */
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly names: CrdNames;
  readonly acceptedNames: CrdNames;
  readonly scope: "Cluster" | "Namespaced";
  readonly versions: readonly CrdVersion[];
  /** Undefined for the strategy None. */
  readonly webhook: ConversionWebhook | undefined;
  readonly isDeleting: boolean;
  readonly isEstablished: boolean;
}

/** Reads a definition. */
export function readCrd(object: JsonObject): CrdSpec {
  const metadata = objectAt(object, "metadata");
  const spec = objectAt(object, "spec");
  const status = objectAt(object, "status");
  return {
    name: textAt(metadata, "name"),
    uid: textAt(metadata, "uid"),
    group: textAt(spec, "group"),
    names: readNames(objectAt(spec, "names")),
    acceptedNames: readNames(objectAt(status, "acceptedNames")),
    scope: textAt(spec, "scope") === "Cluster" ? "Cluster" : "Namespaced",
    versions: objectsAt(spec, "versions").map(readVersion),
    webhook: readWebhook(objectAt(spec, "conversion")),
    isDeleting: read(metadata, "deletionTimestamp") !== undefined,
    isEstablished: objectsAt(status, "conditions").some((condition) =>
      textAt(condition, "type") === "Established" && textAt(condition, "status") === "True"
    ),
  };
}

/** Reads names. */
export function readNames(json: JsonObject): CrdNames {
  return {
    plural: textAt(json, "plural"),
    singular: textAt(json, "singular"),
    kind: textAt(json, "kind"),
    listKind: textAt(json, "listKind"),
    shortNames: textsAt(json, "shortNames"),
    categories: textsAt(json, "categories"),
  };
}

function readVersion(json: JsonObject): CrdVersion {
  const schema = read(objectAt(json, "schema"), "openAPIV3Schema");
  const subresources = objectAt(json, "subresources");
  const scale = read(subresources, "scale");
  const warning = read(json, "deprecationWarning");
  return {
    name: textAt(json, "name"),
    isServed: booleanAt(json, "served"),
    isStorage: booleanAt(json, "storage"),
    isDeprecated: booleanAt(json, "deprecated"),
    deprecationWarning: typeof warning === "string" ? warning : undefined,
    schema: isJsonObject(schema) ? schema : undefined,
    hasStatus: isJsonObject(read(subresources, "status")),
    scale: isJsonObject(scale) ? readScale(scale) : undefined,
    columns: objectsAt(json, "additionalPrinterColumns"),
    selectableFields: objectsAt(json, "selectableFields").map((field) => textAt(field, "jsonPath")),
  };
}

function readScale(json: JsonObject): ScalePaths {
  const selector = textAt(json, "labelSelectorPath");
  return {
    specReplicas: textAt(json, "specReplicasPath"),
    statusReplicas: textAt(json, "statusReplicasPath"),
    ...(selector === "" ? {} : { labelSelector: selector }),
  };
}

function readWebhook(conversion: JsonObject): ConversionWebhook | undefined {
  if (textAt(conversion, "strategy") !== "Webhook") return undefined;
  const webhook = objectAt(conversion, "webhook");
  return {
    clientConfig: objectAt(webhook, "clientConfig"),
    reviewVersions: textsAt(webhook, "conversionReviewVersions"),
  };
}
