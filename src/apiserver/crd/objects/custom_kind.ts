/**
 * CustomKind: one version of a CustomResourceDefinition as a kind that the API server serves. It behaves like
 * apiextensions-apiserver: pruning, defaults, validation by schema and CEL rules, ratcheting of unchanged values, and the
 * status and scale subresources.
 */
import {
  badRequest,
  type ConvertedForm,
  dnsSubdomainErrors,
  type Draft,
  draftOf,
  type FieldError,
  forbidden,
  isDraft,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  type Kind,
  labelKeyErrors,
  maskTrailingDash,
  put,
  read,
  type ScalePaths,
  StatusError,
  type Subresource,
  type Table,
  type TypeSchema,
  type Verb,
  type WriteContext,
} from "../../model/mod.ts";
import { decodingTitle } from "../../registry/mod.ts";
import type { CompiledSchema } from "./compiled_schema.ts";
import type { Converter } from "./conversion.ts";
import { Correlation, fieldErrorsOf, goTypeOf, isInt64, stepsOf, valueAt } from "../schema/mod.ts";
import type { CrdSpec, CrdVersion } from "../definition/mod.ts";
import { tableOf } from "./printer_columns.ts";
import { compareKubeVersions } from "../../../schema/mod.ts";

/** The parts of a CustomKind. */
export interface CustomKindParts {
  readonly crd: CrdSpec;
  readonly version: CrdVersion;
  readonly schema: CompiledSchema;
  readonly converter: Converter;
  /** True when the definition had another schema before: stored objects may lack defaults. */
  readonly hasOldObjects: boolean;
}

const verbs: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const partVerbs: readonly Verb[] = ["get", "patch", "update"];

/** Errors after which rules are not run, because they would fail for other reasons than the object's own. */
const blockingErrors: ReadonlySet<FieldError["type"]> = new Set([
  "NotSupported",
  "Required",
  "TooLong",
  "TooMany",
  "TypeInvalid",
]);
const notChecked: FieldError = {
  type: "Invalid",
  field: "<nil>",
  value: null,
  detail: "some validation rules were not checked because the object was invalid; correct the existing errors to " +
    "complete validation",
};

/** A kind of a CustomResourceDefinition in one version. */
export class CustomKind implements Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: "Cluster" | "Namespaced";
  readonly collection: string;
  readonly verbs = verbs;
  readonly subresources: ReadonlyMap<string, Subresource>;
  readonly hasStrategicMerge = false;
  /** The compiled schema: discovery publishes its JSON. */
  readonly compiled: CompiledSchema;
  /** The warning for each request while the version is deprecated. */
  readonly deprecation: string | undefined;
  /** Adds new defaults of the schema to a stored object of this version. */
  readonly readStored: ((object: JsonObject) => JsonObject) | undefined;
  readonly #parts: CustomKindParts;
  readonly #selectable: ReadonlyMap<string, readonly string[]>;
  #table: Table | undefined;

  constructor(parts: CustomKindParts) {
    const { crd, version, schema } = parts;
    const { acceptedNames: names } = crd;
    this.#parts = parts;
    this.group = crd.group;
    this.version = version.name;
    this.kind = names.kind;
    this.plural = names.plural;
    this.singular = names.singular;
    this.listKind = names.listKind;
    this.shortNames = names.shortNames;
    this.categories = names.categories;
    this.scope = crd.scope;
    this.collection = crd.name;
    this.compiled = schema;
    this.subresources = subresourcesOf(version);
    this.deprecation = deprecationOf(crd, version);
    this.#selectable = new Map(version.selectableFields.map((path) => [path.replace(/^\./, ""), stepsOf(path)]));
    this.readStored = parts.hasOldObjects ? (object) => this.#prunedAndDefaulted(object) : undefined;
  }

  get schema(): TypeSchema {
    return this.compiled.type;
  }

  get table(): Table {
    return this.#table ??= tableOf(this.#parts.version.columns);
  }

  decode(draft: Draft): readonly string[] {
    for (const key of ["apiVersion", "kind"]) {
      const value = read(draft, key);
      if (value !== undefined && typeof value !== "string") {
        throw badRequest(`.${key} accessor error: must be a string`);
      }
    }
    try {
      return this.compiled.prune()(draft).map((path) => `unknown field "${path}"`);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      throw badRequest(`${decodingTitle(this)}: ${error.message}`);
    }
  }

  /** Nulls stay, and are validated: what is applied passes no decoder that drops them. */
  decodeApplied(draft: Draft): void {
    this.compiled.pruneUnknown()(draft);
    try {
      this.compiled.readEmbedded()?.(draft);
    } catch (error) {
      // validate() says it, too, and with the field.
      if (!(error instanceof StatusError)) throw error;
    }
  }

  setDefaults(draft: Draft): void {
    this.compiled.setDefaults()?.(draft);
  }

  prepareForCreate(draft: Draft, _context: WriteContext): void {
    if (this.#parts.crd.isDeleting) {
      const metadata = read(draft, "metadata");
      const name = isDraft(metadata) ? read(metadata, "name") : undefined;
      const subject = { group: this.group, resource: this.plural, name: typeof name === "string" ? name : "" };
      throw forbidden(subject, "create not allowed while custom resource definition is terminating");
    }
    if (this.#parts.version.hasStatus) delete draft["status"];
    setGeneration(draft, 1);
  }

  prepareForUpdate(draft: Draft, old: JsonObject, context: WriteContext): void {
    if (context.subresource === "status") return restoreAllExceptStatus(draft, old);
    if (this.#parts.version.hasStatus) {
      const status = read(old, "status");
      if (status === undefined) delete draft["status"];
      else if (!isSameJson(read(draft, "status"), status)) draft["status"] = draftOf(status);
    }
    if (!isSameExceptMetadata(draft, old)) setGeneration(draft, generationOf(old) + 1);
  }

  validate(object: JsonObject, _context: WriteContext): readonly FieldError[] {
    const errors = fieldErrorsOf(this.compiled.validator()(object), "");
    const { scale } = this.#parts.version;
    if (scale !== undefined) errors.push(...scaleSpecErrors(object, scale), ...scaleStatusErrors(object, scale));
    errors.push(...this.compiled.embeddedErrors()?.(object) ?? [], ...this.compiled.listErrors()?.(object) ?? []);
    return this.#withRules(errors, object, undefined);
  }

  validateUpdate(object: JsonObject, old: JsonObject, context: WriteContext): readonly FieldError[] {
    const isStatus = context.subresource === "status";
    const errors = isStatus ? this.#statusErrors(object, old) : this.#schemaErrors(object, old);
    const { scale } = this.#parts.version;
    if (scale !== undefined) {
      if (!isStatus) errors.push(...scaleSpecErrors(object, scale));
      errors.push(...scaleStatusErrors(object, scale));
    }
    if (!isStatus) errors.push(...this.compiled.embeddedErrors()?.(object) ?? []);
    const listErrors = this.compiled.listErrors();
    const found = listErrors?.(object) ?? [];
    // Duplicates in the old object are allowed to stay.
    if (found.length > 0 && listErrors?.(old).length === 0) errors.push(...found);
    return this.#withRules(errors, object, old);
  }

  validateName(name: string, isPrefix: boolean): readonly string[] {
    return dnsSubdomainErrors(isPrefix ? maskTrailingDash(name) : name);
  }

  warnings(object: JsonObject, old: JsonObject = {}, subresource = ""): readonly string[] {
    if (subresource === "status") return [];
    const before = new Set(finalizersOf(old));
    return finalizersOf(object).filter((name) => !before.has(name)).sort().flatMap(finalizerWarnings);
  }

  fieldValue(object: JsonObject, field: string): string | undefined {
    const steps = this.#selectable.get(field);
    if (steps === undefined) return undefined;
    const value = valueAt(object, steps) ?? null;
    return value === null ? "" : String(value);
  }

  isSelectable(field: string): boolean {
    return this.#selectable.has(field);
  }

  convert(
    objects: readonly JsonObject[],
    form: ConvertedForm = "shown",
  ): readonly JsonObject[] | Promise<readonly JsonObject[]> {
    const apiVersion = `${this.group}/${this.version}`;
    const result = this.#parts.converter.convert(objects, apiVersion);
    if (form === "plain") return result;
    const inForm = form === "shown" ? this.#pruned : this.#prunedAndDefaulted;
    const show = (converted: readonly JsonObject[]) => converted.map((object) => inForm.call(this, object));
    return result instanceof Promise ? result.then(show) : show(result);
  }

  #pruned(object: JsonObject): JsonObject {
    const draft = draftOf(object);
    this.compiled.prune()(draft);
    return isSameJson(draft, object) ? object : draft;
  }

  /** Pruned and defaulted by the schema of this version; the same object when that changes nothing. */
  #prunedAndDefaulted(object: JsonObject): JsonObject {
    const draft = draftOf(object);
    this.compiled.prune()(draft);
    this.setDefaults(draft);
    return isSameJson(draft, object) ? object : draft;
  }

  #schemaErrors(object: JsonObject, old: JsonObject): FieldError[] {
    const check = this.compiled.validator();
    const result = check(object);
    if (result.errors.length === 0) return [];
    return fieldErrorsOf(check(object, new Correlation(object, old, this.compiled.props)), "");
  }

  #statusErrors(object: JsonObject, old: JsonObject): FieldError[] {
    const check = this.compiled.statusValidator();
    const status = read(object, "status");
    if (check === undefined || status === undefined) return [];
    const result = check(status);
    if (result.errors.length === 0) return [];
    const link = new Correlation(object, old, this.compiled.props).key("status");
    return fieldErrorsOf(link === undefined ? result : check(status, link), "status");
  }

  #withRules(errors: FieldError[], object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
    const rules = this.compiled.rules();
    if (rules === undefined) return errors;
    if (errors.some((error) => blockingErrors.has(error.type))) return [...errors, notChecked];
    const found = rules(object, old);
    return found.length === 0 ? errors : [...errors, ...found];
  }
}

function subresourcesOf({ hasStatus, scale }: CrdVersion): ReadonlyMap<string, Subresource> {
  const parts = new Map<string, Subresource>();
  if (hasStatus) parts.set("status", { name: "status", verbs: partVerbs });
  if (scale !== undefined) {
    const body = { group: "autoscaling", version: "v1", kind: "Scale" };
    parts.set("scale", { name: "scale", verbs: partVerbs, body, scale });
  }
  return parts;
}

function deprecationOf(crd: CrdSpec, version: CrdVersion): string | undefined {
  if (!version.isDeprecated) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const base = `${crd.group}/${version.name} ${crd.names.kind} is deprecated`;
  const newer = crd.versions
    .filter((other) => other.isServed && !other.isDeprecated && compareKubeVersions(version.name, other.name) < 0)
    .map((other) => other.name)
    .sort((left, right) => compareKubeVersions(right, left));
  return newer[0] === undefined ? base : `${base}; use ${crd.group}/${newer[0]} ${crd.names.kind}`;
}

function restoreAllExceptStatus(draft: Draft, old: JsonObject): void {
  const status = read(draft, "status");
  const metadata = read(draft, "metadata");
  const managedFields = isDraft(metadata) ? read(metadata, "managedFields") : undefined;
  for (const key of Object.keys(draft)) if (!Object.hasOwn(old, key)) delete draft[key];
  for (const key of Object.keys(old)) {
    const value = old[key] ?? null;
    if (key === "status" || (key !== "metadata" && isSameJson(read(draft, key), value))) continue;
    put(draft, key, draftOf(value));
  }
  if (status === undefined) delete draft["status"];
  else draft["status"] = status;
  const metadataAfter = read(draft, "metadata");
  if (!isDraft(metadataAfter)) return;
  if (managedFields === undefined) delete metadataAfter["managedFields"];
  else metadataAfter["managedFields"] = managedFields;
}

function isSameExceptMetadata(draft: Draft, old: JsonObject): boolean {
  const keys = Object.keys(draft);
  return keys.length === Object.keys(old).length &&
    keys.every((key) => key === "metadata" || isSameJson(draft[key], read(old, key)));
}

function generationOf(object: JsonObject): number {
  const metadata = read(object, "metadata");
  const generation = isJsonObject(metadata) ? read(metadata, "generation") : undefined;
  return typeof generation === "number" ? generation : 0;
}

function setGeneration(draft: Draft, generation: number): void {
  const metadata = read(draft, "metadata");
  if (isDraft(metadata)) metadata["generation"] = generation;
  else draft["metadata"] = { generation };
}

const standardFinalizers = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

function finalizersOf(object: JsonObject): readonly string[] {
  const metadata = read(object, "metadata");
  const finalizers = isJsonObject(metadata) ? read(metadata, "finalizers") : undefined;
  return isJsonArray(finalizers) ? finalizers.filter((item) => typeof item === "string") : [];
}

function finalizerWarnings(name: string): readonly string[] {
  const prefix = `metadata.finalizers: ${JSON.stringify(name)}:`;
  const warnings = labelKeyErrors(name).map((error) => `${prefix} ${error}`);
  if (name.includes("/") || standardFinalizers.has(name)) return warnings;
  const how = name.includes(".") ? " including a path (/)" : "";
  return [
    ...warnings,
    `${prefix} prefer a domain-qualified finalizer name${how} to avoid accidental conflicts with other finalizer writers`,
  ];
}

const maxInt32 = 2 ** 31 - 1;

/** The errors of the replicas in the spec. Scale needs them to be non-negative int32. */
function scaleSpecErrors(object: JsonObject, { specReplicas }: ScalePaths): readonly FieldError[] {
  return replicasErrors(object, specReplicas);
}

/** The errors of the status fields that scale reads. */
function scaleStatusErrors(object: JsonObject, paths: ScalePaths): readonly FieldError[] {
  const errors = replicasErrors(object, paths.statusReplicas);
  if (paths.labelSelector === undefined) return errors;
  const found = nested(object, paths.labelSelector, "string", (value) => typeof value === "string");
  if (found.kind !== "failed") return errors;
  return [...errors, { type: "Invalid", field: paths.labelSelector, value: "", detail: found.message }];
}

function replicasErrors(object: JsonObject, path: string): readonly FieldError[] {
  const found = nested(object, path, "int64", (value) => typeof value === "number" && isInt64(value));
  const fail = (
    value: Json,
    detail: string,
  ): readonly FieldError[] => [{ type: "Invalid", field: path, value, detail }];
  if (found.kind === "failed") return fail(0, found.message);
  const count = typeof found.value === "number" ? found.value : 0;
  if (count < 0) return fail(count, "should be a non-negative integer");
  return count > maxInt32 ? fail(count, `should be less than or equal to ${maxInt32}`) : [];
}

type Nested =
  | { readonly kind: "value"; readonly value: Json | undefined }
  | { readonly kind: "failed"; readonly message: string };

function nested(object: JsonObject, path: string, type: string, isOfType: (value: Json) => boolean): Nested {
  const steps = stepsOf(path);
  let value: Json = object;
  for (const [index, step] of steps.entries()) {
    if (value === null) return { kind: "value", value: undefined };
    if (!isJsonObject(value)) return failed(steps.slice(0, index + 1), value, "map[string]interface{}");
    const next: Json | undefined = read(value, step);
    if (next === undefined) return { kind: "value", value: undefined };
    value = next;
  }
  return isOfType(value) ? { kind: "value", value } : failed(steps, value, type);
}

function failed(steps: readonly string[], value: Json, type: string): Nested {
  const [shown, found] = [plain(value), goTypeOf(value)];
  return {
    kind: "failed",
    message: `.${steps.join(".")} accessor error: ${shown} is of the type ${found}, expected ${type}`,
  };
}

/** Go's `%v` format. */
function plain(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return `[${value.map(plain).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  return `map[${Object.keys(value).sort().map((key) => `${key}:${plain(value[key] ?? null)}`).join(" ")}]`;
}
