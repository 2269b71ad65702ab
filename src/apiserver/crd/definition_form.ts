/**
 * DefinitionForm: a CustomResourceDefinition as the rules about it see it. Kubernetes checks its internal form, in which
 * what all versions have alike stands once above them; messages name fields by that form (`spec.validation`), so the rules
 * here have to know it too.
 */
import { isJsonObject, isSameJson, type Json, type JsonObject, read } from "../model/mod.ts";
import { type CrdNames, objectAt, objectsAt, readNames, textAt } from "./crd_spec.ts";
import { readSchema, type SchemaProps } from "./schema_props.ts";

/** What stands in each version, or above all of them. */
export interface SharedParts {
  /** `schema` is there, with or without a schema in it. */
  readonly hasValidation: boolean;
  readonly schema: SchemaProps | undefined;
  readonly subresources: JsonObject | undefined;
  readonly columns: readonly JsonObject[];
  /** JSON paths. */
  readonly selectableFields: readonly string[];
}

/** One version. */
export interface VersionForm extends SharedParts {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStorage: boolean;
  readonly isDeprecated: boolean;
  readonly deprecationWarning: string | undefined;
  /** All that it has, whether it stands above it or not. */
  readonly own: SharedParts;
}

/** A definition. */
export interface DefinitionForm {
  readonly name: string;
  readonly group: string;
  readonly scope: string;
  readonly names: CrdNames;
  readonly preservesUnknownFields: boolean;
  readonly versions: readonly VersionForm[];
  /** What all versions have alike. */
  readonly shared: SharedParts;
  /** Undefined where there is none. */
  readonly conversion: JsonObject | undefined;
  readonly approval: string;
  readonly status: JsonObject;
  readonly isEstablished: boolean;
}

const noParts: SharedParts = {
  hasValidation: false,
  schema: undefined,
  subresources: undefined,
  columns: [],
  selectableFields: [],
};

/** Reads a definition. */
export function readForm(object: JsonObject): DefinitionForm {
  const metadata = objectAt(object, "metadata");
  const spec = objectAt(object, "spec");
  const status = objectAt(object, "status");
  const versions = objectsAt(spec, "versions");
  const isShared = sharedKeys(versions);
  const [first] = versions;
  const conversion = read(spec, "conversion");
  return {
    name: textAt(metadata, "name"),
    group: textAt(spec, "group"),
    scope: textAt(spec, "scope"),
    names: readNames(objectAt(spec, "names")),
    preservesUnknownFields: read(spec, "preserveUnknownFields") === true,
    versions: versions.map((version) => readVersion(version, isShared)),
    shared: first === undefined ? noParts : readParts(first, (key) => isShared.has(key)),
    conversion: isJsonObject(conversion) ? conversion : undefined,
    approval: textAt(objectAt(metadata, "annotations"), "api-approved.kubernetes.io"),
    status,
    isEstablished: objectsAt(status, "conditions").some((condition) =>
      textAt(condition, "type") === "Established" && textAt(condition, "status") === "True"
    ),
  };
}

const partKeys = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;
type PartKey = (typeof partKeys)[number];

/** The parts that are the same in all versions. */
function sharedKeys(versions: readonly JsonObject[]): ReadonlySet<PartKey> {
  const [first] = versions;
  if (first === undefined) return new Set();
  return new Set(
    partKeys.filter((key) => versions.every((version) => isSamePart(read(version, key), read(first, key)))),
  );
}

/** Nothing, null and an empty list are the same to Go. */
function isSamePart(left: Json | undefined, right: Json | undefined): boolean {
  const [a, b] = [left ?? null, right ?? null].map((part) => Array.isArray(part) && part.length === 0 ? null : part);
  return isSameJson(a, b);
}

function readVersion(json: JsonObject, isShared: ReadonlySet<PartKey>): VersionForm {
  const warning = read(json, "deprecationWarning");
  return {
    ...readParts(json, (key) => !isShared.has(key)),
    name: textAt(json, "name"),
    isServed: read(json, "served") === true,
    isStorage: read(json, "storage") === true,
    isDeprecated: read(json, "deprecated") === true,
    deprecationWarning: typeof warning === "string" ? warning : undefined,
    own: readParts(json, () => true),
  };
}

function readParts(json: JsonObject, isHere: (key: PartKey) => boolean): SharedParts {
  const validation = isHere("schema") ? read(json, "schema") : undefined;
  const schema = isJsonObject(validation) ? read(validation, "openAPIV3Schema") : undefined;
  const subresources = isHere("subresources") ? read(json, "subresources") : undefined;
  return {
    hasValidation: isJsonObject(validation),
    schema: isJsonObject(schema) ? readSchema(schema) : undefined,
    subresources: isJsonObject(subresources) ? subresources : undefined,
    columns: isHere("additionalPrinterColumns") ? objectsAt(json, "additionalPrinterColumns") : [],
    selectableFields: isHere("selectableFields")
      ? objectsAt(json, "selectableFields").map((field) => textAt(field, "jsonPath"))
      : [],
  };
}

/** All schemas of a definition, each once. */
export function schemasOf(form: DefinitionForm): readonly SchemaProps[] {
  return [form.shared, ...form.versions].flatMap(({ schema }) => schema ?? []);
}
