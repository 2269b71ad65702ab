/**
 * BuiltinKind: a kind of Kubernetes itself. It joins the names that discovery shows, the generated type and the rules of the
 * kind (KindRules). All kinds share the order of the steps of a write, so a rule file contains only what is specific to its
 * kind.
 */
import type { Scope } from "../../api/mod.ts";
import {
  type DeletionRules,
  type Draft,
  draftOf,
  type FieldError,
  isSameJson,
  type JsonObject,
  type Kind,
  type NumberRule,
  read,
  StatusError,
  type Subresource,
  type Table,
  type TypeLibrary,
  type TypeSchema,
  type Verb,
  type WriteContext,
} from "../model/mod.ts";
import type { BuiltinNames } from "./kind_names.ts";
import { checkBySchema, type Depth, type KindRules, Problems, subdomainName } from "./rules/mod.ts";
import {
  DecodeError,
  decodeStruct,
  draftAt,
  findDraft,
  findNumber,
  inFieldOrder,
  metadataOf,
  restoreField,
  restoreMetadata,
  type TypeDefaulter,
  type WireStruct,
  wireStruct,
} from "./types/mod.ts";

/** Options of a {@link BuiltinKind}. */
interface BuiltinKindOptions {
  readonly names: BuiltinNames;
  /** The name of its type, e.g. `apps/v1.Deployment`. */
  readonly typeName: string;
  readonly collection: string;
  readonly rules: KindRules;
  readonly defaulter: TypeDefaulter;
  readonly types: () => TypeLibrary;
  readonly table: () => Table;
}

/** A built-in kind in one version. */
export class BuiltinKind implements Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly scope: Scope;
  readonly collection: string;
  readonly verbs: readonly Verb[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  readonly storageVersionHash: string;
  readonly hasStrategicMerge = true;
  readonly errorGroup: string;
  readonly missingResource: string | undefined;
  readonly allowsUnconditionalUpdate: boolean;
  readonly allowsCreateOnUpdate: boolean;
  readonly generatesNames: boolean;
  readonly allowsPlainFinalizers: boolean;
  readonly deletion: DeletionRules;
  readonly deprecation: string | undefined;
  /** How closely its rules follow the real server. */
  readonly depth: Depth;
  /** The name of its type, e.g. `apps/v1.Deployment`. */
  readonly typeName: string;
  readonly #options: BuiltinKindOptions;
  #struct: WireStruct | undefined;
  #schema: TypeSchema | undefined;
  #empty: JsonObject | undefined;
  #table: Table | undefined;

  constructor(options: BuiltinKindOptions) {
    const { names, rules, collection } = options;
    this.#options = options;
    this.group = names.group;
    this.version = names.version;
    this.kind = names.kind;
    this.plural = names.plural;
    this.singular = names.singular;
    this.listKind = names.listKind;
    this.shortNames = names.shortNames;
    this.categories = names.categories;
    this.scope = names.scope;
    this.verbs = names.verbs;
    this.storageVersionHash = names.storageVersionHash;
    this.collection = collection;
    this.typeName = options.typeName;
    this.subresources = withScale(names.subresources, rules);
    this.errorGroup = rules.errorGroup ?? names.group;
    this.missingResource = rules.missingResource;
    this.allowsUnconditionalUpdate = rules.allowsUnconditionalUpdate ?? true;
    this.allowsCreateOnUpdate = rules.allowsCreateOnUpdate ?? false;
    this.generatesNames = rules.generatesNames ?? true;
    this.allowsPlainFinalizers = rules.allowsPlainFinalizers ?? false;
    this.deletion = deletionOf(collection, rules);
    this.deprecation = rules.deprecation;
    this.depth = rules.depth;
  }

  /** The same kind in a version whose objects have the same fields. */
  inVersion(version: string): BuiltinKind {
    const { names } = this.#options;
    return new BuiltinKind({ ...this.#options, names: { ...names, version, storageVersionHash: "" } });
  }

  get schema(): TypeSchema {
    this.#schema ??= this.#options.types().named(this.struct.fullName);
    return this.#schema;
  }

  get table(): Table {
    this.#table ??= this.#options.table();
    return this.#table;
  }

  get empty(): JsonObject {
    if (this.#empty !== undefined) return this.#empty;
    const empty: Draft = {};
    this.#options.defaulter.setDefaults(this.struct, empty, "zeros");
    this.#empty = empty;
    return empty;
  }

  /** The generated type. */
  get struct(): WireStruct {
    this.#struct ??= wireStruct(this.typeName);
    return this.#struct;
  }

  inFieldOrder(object: JsonObject): JsonObject {
    return inFieldOrder(this.struct, object);
  }

  /** @throws UndecodableError */
  decode(draft: Draft, numbers: NumberRule = "json"): readonly string[] {
    try {
      return decodeStruct(this.struct, draft, numbers);
    } catch (error) {
      if (error instanceof DecodeError) throw new UndecodableError(this, error.message);
      throw error;
    }
  }

  setDefaults(draft: Draft): void {
    this.#options.defaulter.setDefaults(this.struct, draft);
  }

  prepareForCreate(draft: Draft, context: WriteContext): void {
    const { rules, defaulter } = this.#options;
    if (this.#hasStatus && rules.createWritesStatus !== true) delete draft["status"];
    if (rules.generationFields !== undefined) draftAt(draft, "metadata")["generation"] = 1;
    rules.prepareForCreate?.(draft, context);
    defaulter.setDefaults(this.struct, draft, "declared");
  }

  prepareForUpdate(draft: Draft, old: JsonObject, context: WriteContext): void {
    const { rules, defaulter } = this.#options;
    switch (context.subresource) {
      case "":
        if (this.#hasStatus) restoreField(draft, old, "status");
        rules.prepareForUpdate?.(draft, old, context);
        this.#countGeneration(draft, old);
        break;
      case "status":
        this.#keepAllButStatus(draft, old);
        rules.prepareForStatus?.(draft, old, context);
        break;
      default:
        rules.prepareForSubresource?.(draft, old, context);
        this.#countGeneration(draft, old);
    }
    defaulter.setDefaults(this.struct, draft, "declared");
  }

  validate(object: JsonObject, context: WriteContext): readonly FieldError[] {
    const problems = new Problems();
    const { validate } = this.#options.rules;
    if (validate === undefined) checkBySchema(this.struct, object, problems);
    else validate(object, problems, context);
    return problems.list;
  }

  validateUpdate(object: JsonObject, old: JsonObject, context: WriteContext): readonly FieldError[] {
    const { rules } = this.#options;
    const problems = new Problems();
    if (context.subresource === "status") rules.validateStatus?.(object, old, problems, context);
    else if (context.subresource !== "") rules.validateSubresource?.(object, old, problems, context);
    else if (rules.validateUpdate !== undefined) rules.validateUpdate(object, old, problems, context);
    else return this.validate(object, context);
    return problems.list;
  }

  validateName(name: string, isPrefix: boolean): readonly string[] {
    return (this.#options.rules.validateName ?? subdomainName)(name, isPrefix);
  }

  warnings(object: JsonObject, old?: JsonObject, subresource = ""): readonly string[] {
    const { rules } = this.#options;
    if (subresource === "status") return rules.statusWarnings?.(object) ?? [];
    // A write to scale is one to the object; other subresources have no warnings.
    return subresource === "" || subresource === "scale" ? rules.warnings?.(object, old) ?? [] : [];
  }

  fieldValue(object: JsonObject, field: string): string | undefined {
    return this.#options.rules.fieldSelectors?.get(field)?.(object);
  }

  isSelectable(field: string): boolean {
    return this.#options.rules.fieldSelectors?.has(field) ?? false;
  }

  /** The fields that a write of this subresource does not change, and so does not own. */
  resetFields(subresource: string): readonly (readonly string[])[] {
    const own = this.#options.rules.resetFields?.get(subresource);
    if (own !== undefined) return own;
    if (!this.#hasStatus) return [];
    if (subresource === "") return [["status"]];
    if (subresource !== "status") return [];
    const paths = [...this.struct.fields.keys()].filter((name) => !notSpec.has(name)).map((name) => [name]);
    const { statusMetadata = "all" } = this.#options.rules;
    if (statusMetadata === "none") return [...paths, ["metadata"]];
    return statusMetadata === "noLabels" ? [...paths, ["metadata", "labels"]] : paths;
  }

  /** Absent for most kinds, so that their objects need not be read. */
  get shown(): ((object: JsonObject) => JsonObject) | undefined {
    return this.#options.rules.shown;
  }

  convert(objects: readonly JsonObject[]): readonly JsonObject[] {
    const { convert } = this.#options.rules;
    const apiVersion = this.group === "" ? this.version : `${this.group}/${this.version}`;
    return objects.map((object) => {
      if (object["apiVersion"] === apiVersion) return object;
      const draft = draftOf(convert === undefined ? { ...object, apiVersion } : convert(object, this));
      this.decode(draft);
      this.#options.defaulter.setDefaults(this.struct, draft, "declared");
      return draft;
    });
  }

  get #hasStatus(): boolean {
    return this.subresources.has("status") && this.struct.fields.has("status");
  }

  #countGeneration(draft: Draft, old: JsonObject): void {
    const { generationFields, annotationsIncrementGeneration, labelsIncrementGeneration } = this.#options.rules;
    if (generationFields === undefined) return;
    const before = findNumber(metadataOf(old), "generation") ?? 0;
    const isChanged = generationFields.some((field) => !isSameJson(read(draft, field), read(old, field))) ||
      (annotationsIncrementGeneration === true && !isSameIn(draft, old, "annotations")) ||
      (labelsIncrementGeneration === true && !isSameIn(draft, old, "labels"));
    draftAt(draft, "metadata")["generation"] = isChanged ? before + 1 : before;
  }

  #keepAllButStatus(draft: Draft, old: JsonObject): void {
    for (const name of new Set([...Object.keys(draft), ...Object.keys(old)])) {
      if (!notSpec.has(name)) restoreField(draft, old, name);
    }
    const { statusMetadata = "all" } = this.#options.rules;
    if (statusMetadata === "all") return;
    restoreMetadata(draft, old, statusMetadata === "noLabels" ? ["labels"] : undefined);
  }
}

const notSpec: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

function isSameIn(draft: Draft, old: JsonObject, key: "annotations" | "labels"): boolean {
  return isSameJson(findDraft(draftAt(draft, "metadata"), key) ?? {}, read(metadataOf(old), key) ?? {});
}

function withScale(subresources: ReadonlyMap<string, Subresource>, rules: KindRules): ReadonlyMap<string, Subresource> {
  const scale = subresources.get("scale");
  if (scale === undefined || rules.scale === undefined) return subresources;
  return new Map([...subresources, ["scale", { ...scale, scale: rules.scale }]]);
}

/** Collections whose last DELETE responds with the object (ReturnDeletedObject), which old clients rely on. */
const respondsWithObject: ReadonlySet<string> = new Set([
  "csidrivers.storage.k8s.io",
  "csinodes.storage.k8s.io",
  "deviceclasses.resource.k8s.io",
  "namespaces",
  "persistentvolumeclaims",
  "persistentvolumes",
  "pods",
  "podtemplates",
  "resourceclaims.resource.k8s.io",
  "resourceclaimtemplates.resource.k8s.io",
  "resourcequotas",
  "resourceslices.resource.k8s.io",
  "serviceaccounts",
  "services",
  "storageclasses.storage.k8s.io",
  "volumeattachments.storage.k8s.io",
  "volumeattributesclasses.storage.k8s.io",
]);

/** The deletion rules of a collection. */
function deletionOf(collection: string, { deletion = {} }: KindRules): DeletionRules {
  return respondsWithObject.has(collection) ? { ...deletion, returnsObject: true } : deletion;
}

/**
 * 400: the body is not an object of the kind. `detail` is the message of Go's decoder without the prefix of the kind.
 */
export class UndecodableError extends StatusError {
  readonly detail: string;

  constructor(kind: { readonly kind: string; readonly version: string }, detail: string) {
    super(
      400,
      "BadRequest",
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${detail}`,
    );
    this.detail = detail;
  }
}
