/**
 * defineResource(): makes one value from zod schemas that is the TypeScript type, the CustomResourceDefinition, the
 * validation and the cache key of a kind.
 *
 * Guarantees: a definition that the API server would reject, or would understand differently than zod, is a TypeError
 * when the module loads; the message names the field and says how to fix it. Parsing leaves metadata unchanged and
 * reports a key `__proto__`, which zod would drop silently.
 */
import {
  apiVersionOf,
  type DeepReadonly,
  isJsonObject,
  printExactJson,
  type Scope,
  type StringMap,
} from "../api/mod.ts";
import { z } from "zod";
import type {
  CustomObject,
  CustomResource,
  InputOf,
  OtherVersionOptions,
  OutputOf,
  ParseIssue,
  ParseOptions,
  ParseResult,
  PrinterColumn,
  ResourceOptions,
  VersionOptions,
} from "./custom_resource.ts";
import { addRules } from "./_extensions.ts";
import { InvalidObjectError } from "./invalid_object_error.ts";
import { type BoundedIssue, boundedParse, maxIssues } from "./bounded_parse.ts";
import { canonical } from "./_json.ts";
import type { Draft } from "./_scalars.ts";
import { cannotDefine, type Place, propertyOf, rootPlace } from "./_place.ts";
import type { Crd, CrdColumn, CrdConversion, CrdNames, CrdScale, CrdVersion } from "./crd.ts";
import { translate } from "./structural.ts";
import type { CheckedRules } from "./checked_rules.ts";
import type { StructuralSchema } from "./structural_schema.ts";
import { isRequired, type Schema } from "./_zod.ts";
import { dotPath } from "./dot_path.ts";
import { type ResourceRules, resourceRules } from "./resource_rules.ts";
import { type OwnFields, ownFieldsOf, withoutPrototypes, withPrototypes } from "./_own_fields.ts";

/**
 * Defines a kind from zod schemas. The value that it returns is the TypeScript type, the CustomResourceDefinition, the
 * validation and the cache key of the kind.
 *
 * @param options The names of the kind, its schemas, and how kubectl shows it.
 * @throws {TypeError} when a CustomResourceDefinition cannot express the schema, or the API server would reject a name;
 * the message names the field and says how to fix it
 *
 * @example
 * ```ts
 * import { defineResource, type Infer, z } from "@pintle/controller";
 *
 * const Website = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Website",
 *   scope: "Namespaced",
 *   spec: z.object({ host: z.string().min(1).max(253), replicas: z.int32().min(0).default(1) }),
 *   status: z.object({ url: z.string().optional() }),
 *   printerColumns: [{ name: "Host", jsonPath: ".spec.host" }],
 * });
 * type Website = Infer<typeof Website>;
 *
 * const site: Website = Website.make({ metadata: { name: "home" }, spec: { host: "example.dev" } });
 * console.assert(site.spec.replicas === 1 && Website.crd.metadata.name === "websites.example.dev");
 * ```
 */
export function defineResource<
  const Kind extends string,
  Spec extends z.core.$ZodType = z.core.$ZodUndefined,
  Status extends z.core.$ZodType = z.core.$ZodUndefined,
  const Rules extends readonly string[] = readonly string[],
  Fields extends z.core.$ZodType = z.core.$ZodUndefined,
>(
  options: ResourceOptions<Kind, Spec, Status, CheckedRules<Rules, Kind, Spec, Status, Fields>, Fields>,
): CustomResource<OutputOf<Kind, Spec, Status, Fields>, InputOf<Kind, Spec, Status, Fields>> {
  const { group, version, kind, scope, annotations = {}, labels = {}, versions = [], conversion } = options;
  const names = namesOf(options);
  const storage = !versions.some((other) => other.storage === true);
  const crd = crdOf({
    group,
    scope,
    names,
    annotations,
    labels,
    versions: [{ ...options, name: version, storage }, ...versions],
    conversion,
  });
  type Output = OutputOf<Kind, Spec, Status, Fields>;
  const root = crd.spec.versions[0]?.schema.openAPIV3Schema ?? {};
  const methods = methodsOf<Output, InputOf<Kind, Spec, Status, Fields>>(options, root);
  // TypeScript does not see through the condition of `spec` that the kind of the output is Kind.
  return Object.freeze({ group, version, kind: kind as Output["kind"], plural: names.plural, scope, crd, ...methods });
}

type Methods<T extends CustomObject, Input> = Pick<CustomResource<T, Input>, "parse" | "safeParse" | "make">;

function methodsOf<T extends CustomObject, Input>(
  options: ResourceOptions<string, z.core.$ZodType, z.core.$ZodType>,
  root: StructuralSchema,
): Methods<T, Input> {
  const { kind, spec, status, fields } = options;
  const apiVersion = apiVersionOf(options);
  const ownFields = ownFieldsOf(root);
  const safeParse = parserOf<T>({ apiVersion, kind, spec, status, fields, ownFields, rules: resourceRules(root) });
  const parse = (value: unknown, parseOptions?: ParseOptions): DeepReadonly<T> => {
    const result = safeParse(value, parseOptions);
    if (result.kind === "invalid") throw cannotParse(kind, value, result.issues);
    return result.object;
  };
  return { parse, safeParse, make: (input) => parse({ apiVersion, kind, ...input }) };
}

/**
 * Largest CRD in bytes of JSON. etcd rejects requests above 1.5 MiB (--max-request-bytes), and the API server adds
 * managedFields and status to the object that we send.
 */
const maxCrdBytes = 1024 * 1024;

/** The parts of a CRD. */
interface CrdParts {
  readonly group: string;
  readonly scope: Scope;
  readonly names: CrdNames;
  readonly annotations: StringMap;
  readonly labels: StringMap;
  readonly versions: readonly OtherVersionOptions[];
  readonly conversion: CrdConversion | undefined;
}

/** Builds the CRD. @throws TypeError when the API server would reject it. */
function crdOf(parts: CrdParts): Crd {
  const { group, scope, names, annotations, labels, conversion } = parts;
  const place = rootPlace(names.kind);
  checkGroup(names.kind, group, annotations);
  const versions = parts.versions.map((version) => versionOf(version, place));
  checkVersions(versions, place);
  const crd: Crd = canonical({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${names.plural}.${group}`,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    },
    spec: { group, scope, names, versions, ...(conversion === undefined ? {} : { conversion }) },
  });
  const bytes = new TextEncoder().encode(printExactJson(crd)).length;
  if (bytes > maxCrdBytes) {
    throw cannotDefine(place, `makes a CRD of ${bytes} bytes, the API server stores at most ${maxCrdBytes}`);
  }
  return crd;
}

function versionOf(version: OtherVersionOptions, place: Place): CrdVersion {
  const { name, served = true, storage = false, deprecated = false, scale } = version;
  checkVersion(place.kind, name);
  const root = rootSchema(version, place);
  const subresources = {
    ...(version.statusSubresource ?? version.status !== undefined ? { status: {} } : {}),
    ...(scale === undefined ? {} : { scale: scaleOf(scale, root, place) }),
  };
  const columns = columnsOf(version.printerColumns ?? [], root, place);
  const fields = selectableFieldsOf(version.selectableFields ?? [], root, place);
  return {
    name,
    served,
    storage,
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === "string" ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: root },
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns }),
    ...(fields.length === 0 ? {} : { selectableFields: fields }),
  };
}

/** The schema of the whole object. Unless `metadata` says more, the API server alone validates the metadata. */
function rootSchema(version: VersionOptions, place: Place): StructuralSchema {
  const { spec, status, fields, metadata = {} } = version;
  const { properties: others = {}, required = [], ...rest } = fields === undefined ? {} : objectAt(fields, place);
  const parts: Readonly<Record<string, StructuralSchema>> = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object", ...metadata },
    ...(spec === undefined ? {} : { spec: objectAt(spec, propertyOf(place, "spec")) }),
    ...(status === undefined ? {} : { status: objectAt(status, propertyOf(place, "status")) }),
  };
  const twice = Object.keys(others).find((name) => Object.hasOwn(parts, name));
  if (twice !== undefined) throw cannotDefine(place, `has the field ${twice} in \`fields\`, which it has already`);
  const properties = Object.fromEntries([...Object.entries(parts), ...Object.entries(others)]);
  const root: Draft = { ...rest, type: "object", properties };
  if (version.description !== undefined) root.description = version.description;
  const needed = [...(spec !== undefined && isRequired(spec) ? ["spec"] : []), ...required];
  if (needed.length > 0) root.required = needed;
  addRules(root, version.validations ?? [], place);
  return root;
}

function objectAt(schema: Schema, place: Place): StructuralSchema {
  const translated = translate(schema, place);
  if (translated.type !== "object") throw cannotDefine(place, "is not a z.object()");
  return translated;
}

function checkVersions(versions: readonly CrdVersion[], place: Place): void {
  const names = new Set(versions.map((version) => version.name));
  if (names.size !== versions.length) throw cannotDefine(place, "has two versions with the same name");
  const stored = versions.filter((version) => version.storage).map((version) => version.name);
  if (stored.length !== 1) {
    throw cannotDefine(place, `has ${stored.length} storage versions (${stored.join(", ")}), a CRD has exactly one`);
  }
}

/** The annotation that CRDs in the groups k8s.io and kubernetes.io must have. */
const approvalAnnotation = "api-approved.kubernetes.io";

/** The names as the author of the kind gave them. */
interface GivenNames {
  readonly kind: string;
  readonly plural?: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** All names of a kind. @throws TypeError when the API server would reject one. */
function namesOf(given: GivenNames): CrdNames {
  const { kind, shortNames = [], categories = [] } = given;
  const lower = kind.toLowerCase();
  const names = {
    kind,
    listKind: given.listKind ?? `${kind}List`,
    plural: given.plural ?? pluralOf(lower),
    singular: given.singular ?? lower,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  checkLabel(kind, "kind", lower);
  checkLabel(kind, "listKind", names.listKind.toLowerCase());
  for (const text of [names.plural, names.singular, ...shortNames, ...categories]) checkLabel(kind, "name", text);
  if (names.listKind === kind) throw cannotDefine(rootPlace(kind), "has the same kind and listKind");
  return names;
}

/** Refuses a version name that the API server would reject. */
function checkVersion(kind: string, version: string): void {
  checkLabel(kind, "version", version);
}

/** Refuses a group that the API server would reject, or a group of Kubernetes without the approval annotation. */
function checkGroup(kind: string, group: string, annotations: Readonly<Record<string, string>>): void {
  const isDomain = group.length <= 253 &&
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(group);
  if (!isDomain) {
    throw cannotDefine(rootPlace(kind), `has the group ${printExactJson(group)}, which must be a domain with a dot`);
  }
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return;
  const approval = Object.hasOwn(annotations, approvalAnnotation) ? annotations[approvalAnnotation] : undefined;
  const isApproved = approval !== undefined && (approval.startsWith("unapproved") || URL.canParse(approval));
  if (!isApproved) {
    throw cannotDefine(
      rootPlace(kind),
      `is in the group ${group}, which belongs to Kubernetes; annotate it with ${approvalAnnotation}: ` +
        `the URL of the approval, or a reason that begins with "unapproved"`,
    );
  }
}

function checkLabel(kind: string, what: string, text: string): void {
  if (text.length > 63 || !/^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(text)) {
    throw cannotDefine(
      rootPlace(kind),
      `has the ${what} ${
        printExactJson(text)
      }, which must have 1 to 63 letters, digits or hyphens and begin with a letter`,
    );
  }
}

/** The usual English plural, as `meta.UnsafeGuessKindToResource` makes it. */
function pluralOf(singular: string): string {
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}

/** Largest number of selectable fields of a kind, as in apiextensions `validation.go`. */
const maxSelectableFields = 8;

/** The printer columns with their types filled in. @throws TypeError when a path does not exist in the schema. */
function columnsOf(columns: readonly PrinterColumn[], root: StructuralSchema, place: Place): CrdColumn[] {
  return columns.map((column) => ({ ...column, type: column.type ?? columnType(column.jsonPath, root, place) }));
}

/** The selectable fields. @throws TypeError when the API server would reject one. */
function selectableFieldsOf(paths: readonly string[], root: StructuralSchema, place: Place) {
  if (paths.length > maxSelectableFields) {
    throw cannotDefine(
      place,
      `has ${paths.length} selectable fields, the API server allows at most ${maxSelectableFields}`,
    );
  }
  return paths.map((jsonPath) => {
    const type = jsonPath.startsWith(".metadata") ? undefined : schemaAt(jsonPath, root)?.type;
    if (type !== "string" && type !== "integer" && type !== "boolean") {
      throw cannotDefine(
        place,
        `has the selectable field ${jsonPath}, which is not a string, integer or boolean in it`,
      );
    }
    return { jsonPath };
  });
}

/** The scale subresource. @throws TypeError when one of its paths does not exist in the schema. */
function scaleOf(scale: CrdScale, root: StructuralSchema, place: Place): CrdScale {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  if (!specReplicasPath.startsWith(".spec.") || schemaAt(specReplicasPath, root)?.type !== "integer") {
    throw cannotDefine(place, `has the specReplicasPath ${specReplicasPath}, which is not an integer under .spec`);
  }
  if (!statusReplicasPath.startsWith(".status.") || schemaAt(statusReplicasPath, root)?.type !== "integer") {
    throw cannotDefine(
      place,
      `has the statusReplicasPath ${statusReplicasPath}, which is not an integer under .status`,
    );
  }
  if (labelSelectorPath !== undefined && schemaAt(labelSelectorPath, root)?.type !== "string") {
    throw cannotDefine(place, `has the labelSelectorPath ${labelSelectorPath}, which is not a string in it`);
  }
  return scale;
}

/** The schema at a path of plain names; undefined when the path does not exist. */
function schemaAt(path: string, root: StructuralSchema): StructuralSchema | undefined {
  if (!path.startsWith(".")) return undefined;
  let at: StructuralSchema | undefined = root;
  for (const name of path.slice(1).split(".")) {
    const properties: StructuralSchema["properties"] = at?.properties ?? {};
    at = Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  return at;
}

function columnType(path: string, root: StructuralSchema, place: Place): CrdColumn["type"] {
  if (/^\.metadata\.(creation|deletion)Timestamp$/.test(path)) return "date";
  if (path.startsWith(".metadata.")) return "string";
  const schema = schemaAt(path, root);
  if (schema?.type === undefined || schema.type === "object" || schema.type === "array") {
    throw cannotDefine(place, `has a column with the path ${path}, whose type is unknown; set its type`);
  }
  return schema.format === "date-time" || schema.format === "date" ? "date" : schema.type;
}

/** The parts of a kind that its parser needs. */
interface ParserParts {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: z.core.$ZodType | undefined;
  readonly status: z.core.$ZodType | undefined;
  readonly fields: z.core.$ZodType | undefined;
  readonly ownFields: OwnFields | undefined;
  readonly rules: ResourceRules;
}

/** Makes the parser of one kind. */
function parserOf<T extends CustomObject>(
  parts: ParserParts,
): (value: unknown, options?: ParseOptions) => ParseResult<DeepReadonly<T>> {
  const { apiVersion, kind, spec, status, fields, ownFields, rules } = parts;
  // The translation has refused all but objects.
  const others = fields instanceof z.ZodObject ? fields : z.object({});
  const schema = others.extend({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(kind),
    metadata: z.custom<T["metadata"]>(isMetadata, "Invalid input: expected an object with names and labels as strings"),
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status: z.optional(status) }),
  });
  const fieldNames = ["spec", "status", ...Object.keys(others.shape)];
  return (value, { old, rules: mode = "evaluate" } = {}) => {
    const hidden = protoKeyIn(value, fieldNames);
    if (hidden !== undefined) {
      return { kind: "invalid", issues: [{ path: hidden, message: "The key __proto__ is not supported" }] };
    }
    const parsed = boundedParse(schema, ownFields === undefined ? value : withoutPrototypes(value, ownFields));
    if (parsed.kind === "invalid") return { kind: "invalid", issues: parsed.issues.map(issueOf) };
    const object: unknown = ownFields === undefined ? parsed.value : withPrototypes(parsed.value, ownFields);
    const issues = mode === "skip" ? [] : rules(object, old).slice(0, maxIssues);
    return issues.length > 0 ? { kind: "invalid", issues } : { kind: "valid", object: object as DeepReadonly<T> };
  };
}

/** The error for a value that is not an object of the kind. */
function cannotParse(kind: string, value: unknown, issues: readonly ParseIssue[]): InvalidObjectError {
  const list = issues.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
  return new InvalidObjectError(`Cannot parse ${kind}${nameOf(value)}: ${list.join("; ")}`, {
    kind,
    uid: uidOf(value),
  });
}

function uidOf(value: unknown): string | undefined {
  const metadata = typeof value === "object" && value !== null && "metadata" in value ? value.metadata : undefined;
  if (typeof metadata !== "object" || metadata === null || !("uid" in metadata)) return undefined;
  return typeof metadata.uid === "string" ? metadata.uid : undefined;
}

function issueOf(issue: BoundedIssue): ParseIssue {
  return { path: dotPath(issue.path), message: issue.message };
}

function nameOf(value: unknown): string {
  if (!isJsonObject(value) || !isJsonObject(value.metadata)) return "";
  const { namespace, name } = value.metadata;
  if (typeof name !== "string") return "";
  return typeof namespace === "string" ? ` "${namespace}/${name}"` : ` "${name}"`;
}

function isMetadata(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { name, namespace, labels, annotations } = value;
  return [name, namespace].every((text) => text === undefined || typeof text === "string") &&
    [labels, annotations].every((map) => map === undefined || isStringMap(map));
}

function isStringMap(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((item) => typeof item === "string");
}

/** The path of a key `__proto__` in these fields. A stack, not recursion, because the input decides the depth. */
function protoKeyIn(value: unknown, fields: readonly string[]): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const levels = [new Level(fields, value)];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const held = level.next();
    if (level.isOver) levels.pop();
    else if (typeof held === "object" && held !== null) {
      if (Object.hasOwn(held, "__proto__")) return [...levels.map(({ key }) => key), "__proto__"].join(".");
      levels.push(new Level(Array.isArray(held) ? held.length : Object.keys(held), held));
    }
  }
  return undefined;
}

/** A list or an object on the way to a value. The keys of a list are not created, because a list can be large. */
class Level {
  readonly #keys: readonly string[] | number;
  readonly #holder: object;
  #at = -1;

  constructor(keys: readonly string[] | number, holder: object) {
    this.#keys = keys;
    this.#holder = holder;
  }

  get isOver(): boolean {
    return this.#at >= (typeof this.#keys === "number" ? this.#keys : this.#keys.length);
  }

  /** The key of the value that `next` has returned. */
  get key(): string {
    return typeof this.#keys === "number" ? String(this.#at) : this.#keys[this.#at] ?? "";
  }

  next(): unknown {
    this.#at++;
    if (this.isOver) return undefined;
    return Reflect.get(this.#holder, typeof this.#keys === "number" ? this.#at : this.key);
  }
}
