/**
 * applyConfiguration(): server-side apply. The manager owns exactly the fields of its configuration; fields of its previous
 * one that are left out are removed. A field that another manager owns with another value is a conflict, unless the apply is
 * forced. The order of the rules is that of apimachinery `managedfields` of Kubernetes 1.36, texts of conflicts included.
 */
import {
  badRequest,
  goJson,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  read,
  StatusError,
  type TypeSchema,
} from "../model/mod.ts";
import { runSteps, type Steps } from "./_conversion.ts";
import { FieldsError } from "./_element.ts";
import { applyFields, reconcileManagers, type Typed } from "./updater.ts";
import { validateValue } from "./_validate_value.ts";
import {
  differenceOf,
  type FieldPath,
  type FieldSet,
  hasField,
  isEmptySet,
  noFields,
  pathsOf,
  pathText,
} from "./field_set.ts";
import {
  identityOf,
  identityText,
  type ManagedFields,
  managedFieldsOf,
  type Manager,
  type Managers,
  readManagers,
  timeText,
  withManagedFields,
  withoutEmpty,
  writeManagers,
} from "./managed_fields.ts";
import { type FieldContext, unownedFields, updateManagers } from "./update.ts";
import { compareFields, ownedFields } from "./compare_fields.ts";
import { parseFiniteJson, type StatusCause } from "../../api/mod.ts";

/** An apply. */
export interface ApplyFields extends FieldContext {
  /** The live object, in the version of the request; undefined when it does not exist. */
  readonly live: JsonObject | undefined;
  /** The configuration in the request. */
  readonly applied: JsonObject;
  /** The kind of the request, which the configuration must have. */
  readonly kind: string;
  /** True to take fields of other managers. */
  readonly isForced: boolean;
}

/** The result of an apply. */
export type ApplyOutcome =
  | {
    readonly kind: "merged";
    /**
     * The merged object without managed fields, before defaults. It shares parts with `live` and `applied`. It may contain
     * nulls where items were removed, which the decoder of the kind drops.
     */
    readonly object: JsonObject;
    /** False if the configuration changes nothing but owners: the object then gets no defaults of its version. */
    readonly isChanged: boolean;
    readonly managedFields: ManagedFields | undefined;
  }
  | { readonly kind: "conflicts"; readonly conflicts: readonly FieldConflict[] };

/**
 * Merges a configuration into an object.
 *
 * @throws StatusError 400 when it has another kind or version, or managed fields; 500 when it does not fit the type, as
 * kube-apiserver
 */
export function applyConfiguration(request: ApplyFields): ApplyOutcome | Promise<ApplyOutcome> {
  checkConfiguration(request);
  try {
    const outcome = runSteps(applySteps(request), request.convert);
    return outcome instanceof Promise ? outcome.catch(throwStatusError) : outcome;
  } catch (error) {
    return throwStatusError(error);
  }
}

/** A value that does not fit its type is a 500 on kube-apiserver. */
function throwStatusError(error: unknown): never {
  throw error instanceof FieldsError ? new StatusError(500, "", error.message) : error;
}

function checkConfiguration({ applied, apiVersion, kind }: ApplyFields): void {
  if (read(applied, "apiVersion") !== apiVersion || read(applied, "kind") !== kind) {
    throw badRequest(`invalid object type: ${kindText(applied)}`);
  }
  if ((managedFieldsOf(applied) ?? null) !== null) throw badRequest("metadata.managedFields must be nil");
}

/** `apps/v1, Kind=Deployment`; the core group is written as "". */
function kindText(object: JsonObject): string {
  const [apiVersion, kind] = [read(object, "apiVersion"), read(object, "kind")];
  const version = typeof apiVersion === "string" ? apiVersion : "";
  return `${version.includes("/") ? version : `/${version}`}, Kind=${typeof kind === "string" ? kind : ""}`;
}

function* applySteps(request: ApplyFields): Steps<ApplyOutcome> {
  const { applied, apiVersion, manager, type } = request;
  withMessage(`failed to create typed patch object (${subjectText(applied)}): `, () => validateValue(applied, type));
  const stored = request.live === undefined ? undefined : managedFieldsOf(request.live);
  const managers = withMessage("failed to decode managed fields: ", () => readManagers(stored));
  const live = request.live === undefined ? request.empty ?? {} : withManagedFields(request.live, undefined);
  withMessage(
    `failed to create typed live object (${subjectText(live)}): `,
    () => validateValue(live, type, { mayRepeat: true }),
  );
  let attempt = yield* attemptApply(request, live, managers, request.isForced);
  if (attempt.kind === "conflicts" && manager === kubectlName) {
    const allowed = lastAppliedFields(live, apiVersion, type);
    if (allowed === undefined) return attempt;
    const conflicts = attempt.conflicts.filter(({ path }) => !hasField(allowed, path));
    if (conflicts.length > 0) return { kind: "conflicts", conflicts };
    attempt = yield* attemptApply(request, live, managers, true);
  }
  if (attempt.kind === "conflicts" || manager !== kubectlName) return attempt;
  return { ...attempt, object: withLastApplied(attempt.object, applied) };
}

/** `default/web; apps/v1, Kind=Deployment`. */
function subjectText(object: JsonObject): string {
  const metadata = read(object, "metadata");
  const [namespace, name] = ["namespace", "name"].map((key) =>
    isJsonObject(metadata) ? read(metadata, key) : undefined
  );
  return `${typeof namespace === "string" ? namespace : ""}/${typeof name === "string" ? name : ""}; ${
    kindText(object)
  }`;
}

function withMessage<Value>(prefix: string, run: () => Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof FieldsError) throw new StatusError(500, "", prefix + error.message);
    throw error;
  }
}

function* attemptApply(
  request: ApplyFields,
  live: JsonObject,
  managers: Managers,
  isForced: boolean,
): Steps<ApplyOutcome> {
  const { type, apiVersion, resetFields } = request;
  const typed: Typed = { object: live, apiVersion, type };
  const tracked = managers.size > 0 ? managers : yield* beforeFirstApply(request, live);
  const reconciled = yield* reconcileManagers(typed, tracked);
  const applier = applierOf(request);
  const self = identityOf(applier);
  const result = yield* applyFields(typed, request.applied, reconciled, { applier, self, resetFields });
  if (!isForced && result.conflicts.size > 0) {
    return { kind: "conflicts", conflicts: conflictsOf(result.conflicts, reconciled) };
  }
  const isNoop = isSameJson(live, result.object);
  const own = result.managers.get(self);
  const after = own === undefined ? result.managers : new Map(result.managers).set(self, {
    ...own,
    fields: strip(own.fields),
    time: isNoop ? reconciled.get(self)?.time : timeText(request.now),
  });
  return {
    kind: "merged",
    object: isNoop ? live : result.object,
    isChanged: !isNoop || request.live === undefined,
    managedFields: writeManagers(withoutEmpty(after)),
  };
}

/** Removes unowned fields. As in kube-apiserver, this happens after the check for conflicts. */
function strip(fields: FieldSet): FieldSet {
  return isEmptySet(fields) ? noFields : differenceOf(fields, unownedFields);
}

function applierOf({ manager, apiVersion, subresource, now }: ApplyFields): Manager {
  const name = manager === "" ? "unknown" : manager;
  return { name, operation: "Apply", apiVersion, subresource, time: timeText(now), fields: noFields };
}

/** An object without managed fields gets an owner for all of its fields before the first apply. */
function beforeFirstApply(request: ApplyFields, live: JsonObject): Steps<Managers> {
  return updateManagers({ ...request, manager: "before-first-apply" }, request.empty ?? {}, live, new Map());
}

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/** The limit for all annotations of an object: 256 KiB, as in the validation of apimachinery. */
const maxAnnotationsBytes = 256 * 1024;

/** The only manager for which the annotation has a meaning. */
const kubectlName = "kubectl";

/**
 * The fields that client-side apply has set and that still have its values. Server-side apply by kubectl may take them, so that
 * users can move from client-side apply to server-side apply without conflicts.
 *
 * @param live without its managed fields
 * @returns undefined when the annotation is absent or malformed
 */
function lastAppliedFields(live: JsonObject, apiVersion: string, type: TypeSchema): FieldSet | undefined {
  const text = read(annotationsOf(live), annotation);
  if (typeof text !== "string" || text === "") return undefined;
  const config = parsed(text);
  if (!isJsonObject(config) || read(config, "apiVersion") !== apiVersion) return undefined;
  try {
    validateValue(live, type);
    validateValue(config, type);
    const fields = ownedFields(config, type);
    const comparison = compareFields(config, live, type);
    if (comparison === undefined) return fields;
    const { added, modified, removed } = comparison;
    return [modified, added, removed].reduce(differenceOf, fields);
  } catch (error) {
    if (error instanceof FieldsError) return undefined;
    throw error;
  }
}

/** Updates the annotation if the object has it, so that users can move back to client-side apply. */
function withLastApplied(merged: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(merged);
  const before = read(annotations, annotation);
  if (typeof before !== "string" || before === "") return merged;
  const updated: Record<string, Json> = { ...annotations, [annotation]: `${goJson(withoutAnnotation(config))}\n` };
  if (bytesOf(updated) > maxAnnotationsBytes) delete updated[annotation];
  return withAnnotations(merged, updated);
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const annotations = annotationsOf(config);
  if (!Object.hasOwn(annotations, annotation)) return config;
  const { [annotation]: _, ...rest } = annotations;
  return withAnnotations(config, rest);
}

function annotationsOf(object: JsonObject): JsonObject {
  const metadata = read(object, "metadata");
  const annotations = isJsonObject(metadata) ? read(metadata, "annotations") : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

function withAnnotations(object: JsonObject, annotations: JsonObject): JsonObject {
  const metadata = read(object, "metadata");
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), annotations } };
}

function bytesOf(annotations: JsonObject): number {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += encoder.encode(key).length + (typeof value === "string" ? encoder.encode(value).length : 0);
  }
  return bytes;
}

function parsed(text: string): Json | undefined {
  try {
    return parseFiniteJson(text) as Json;
  } catch {
    return undefined;
  }
}

/** A field that another manager owns. */
export interface FieldConflict {
  readonly manager: Manager;
  /** The identity of the manager. */
  readonly identity: string;
  readonly path: FieldPath;
}

/** The conflicts of an apply, by manager. */
function conflictsOf(taken: ReadonlyMap<string, FieldSet>, managers: Managers): readonly FieldConflict[] {
  const conflicts: FieldConflict[] = [];
  for (const { identity, manager } of sorted(managers)) {
    const fields = taken.get(identity);
    if (fields === undefined) continue;
    for (const path of pathsOf(fields)) conflicts.push({ manager, identity, path });
  }
  return conflicts;
}

/** Managers in the order of messages of kube-apiserver. */
function sorted(managers: Managers): readonly { readonly identity: string; readonly manager: Manager }[] {
  const all = Array.from(managers, ([identity, manager]) => ({ identity, manager, text: identityText(manager) }));
  return all.sort((left, right) => left.text < right.text ? -1 : 1);
}

/** Characters of all conflicts that are listed. Each manager may conflict in each field. */
const maxConflictCharacters = 256 * 1024;

/** 409 with a cause for each field. Of very many conflicts only the first are listed. */
export function applyConflict(conflicts: readonly FieldConflict[]): StatusError {
  const causes: StatusCause[] = [];
  let left = maxConflictCharacters;
  for (const { manager, path } of conflicts) {
    const [message, field] = [`conflict with ${managerText(manager)}`, pathText(path)];
    left -= message.length + field.length;
    if (left < 0 && causes.length > 0) break;
    causes.push({ reason: "FieldManagerConflict", message, field });
  }
  return new StatusError(409, "Conflict", messageOf(conflicts, causes), { causes });
}

/** @param listed the causes of the first conflicts */
function messageOf(conflicts: readonly FieldConflict[], listed: readonly StatusCause[]): string {
  const [only] = listed;
  if (conflicts.length === 1) return `Apply failed with 1 conflict: ${only?.message}: ${only?.field}`;
  const lines: string[] = [];
  let current: string | undefined;
  listed.forEach(({ field }, index) => {
    const conflict = conflicts[index];
    if (conflict !== undefined && conflict.identity !== current) {
      lines.push(`conflicts with ${managerText(conflict.manager)}:`);
      current = conflict.identity;
    }
    lines.push(`- ${field}`);
  });
  if (listed.length < conflicts.length) lines.push(`and ${conflicts.length - listed.length} more`);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function managerText({ name, operation, apiVersion, subresource }: Manager): string {
  const who = JSON.stringify(name) + (subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === "Update" ? `${who} using ${apiVersion}` : who;
}
