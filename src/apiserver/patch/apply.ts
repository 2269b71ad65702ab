/**
 * applyConfiguration: server-side apply. The writer says what it wants of an object and owns just that; what it wanted
 * before and does not say any more goes; where somebody else owns a field and has another value there, it is refused unless
 * it forces. The order of rules is that of apimachinery `managedfields` of Kubernetes 1.36.
 */
import { badRequest, isJsonObject, isSameJson, type JsonObject, read, Refusal } from "../model/mod.ts";
import { runSteps, type Steps } from "./_conversion.ts";
import { FieldsError } from "./_fields_error.ts";
import { kubectlName, lastAppliedFields, withLastApplied } from "./_last_applied.ts";
import { applyFields, reconcileManagers, type Typed } from "./_updater.ts";
import { validateValue } from "./_validate_value.ts";
import { conflictsOf, type FieldConflict } from "./conflict.ts";
import { differenceOf, type FieldSet, hasField, isEmptySet, noFields } from "./field_set.ts";
import {
  identityOf,
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

/** An apply. */
export interface ApplyFields extends FieldContext {
  /** The stored object, in the version of the request; undefined when there is none. */
  readonly live: JsonObject | undefined;
  /** The configuration as it was sent. */
  readonly applied: JsonObject;
  /** The kind of the request, for the check that the configuration is of it. */
  readonly kind: string;
  /** Whether to take what others own. */
  readonly isForced: boolean;
}

/** What an apply comes to. */
export type ApplyOutcome =
  | {
    readonly kind: "merged";
    /**
     * The merged object without managed fields, before defaults; it shares its parts with `live` and `applied`. Where
     * items were removed it may hold nulls, which the kind's decoder drops.
     */
    readonly object: JsonObject;
    readonly managedFields: ManagedFields | undefined;
  }
  | { readonly kind: "conflicts"; readonly conflicts: readonly FieldConflict[] };

/**
 * Merges a configuration into an object.
 *
 * @throws Refusal 400 when it is of another kind or version or holds managed fields; 500 when it does not fit the type, as
 * the real server answers then
 */
export function applyConfiguration(request: ApplyFields): ApplyOutcome | Promise<ApplyOutcome> {
  checkConfiguration(request);
  try {
    const outcome = runSteps(applySteps(request), request.convert);
    return outcome instanceof Promise ? outcome.catch(refuse) : outcome;
  } catch (error) {
    return refuse(error);
  }
}

/** Fields that cannot be told apart are a 500 on the real server: it takes the object for its own. */
function refuse(error: unknown): never {
  throw error instanceof FieldsError ? new Refusal(500, "", error.message) : error;
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
    if (error instanceof FieldsError) throw new Refusal(500, "", prefix + error.message);
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
    managedFields: writeManagers(withoutEmpty(after)),
  };
}

/** The order in which fields are stripped and compared is that of the real server: conflicts first. */
function strip(fields: FieldSet): FieldSet {
  return isEmptySet(fields) ? noFields : differenceOf(fields, unownedFields);
}

function applierOf({ manager, apiVersion, subresource, now }: ApplyFields): Manager {
  const name = manager === "" ? "unknown" : manager;
  return { name, operation: "Apply", apiVersion, subresource, time: timeText(now), fields: noFields };
}

/** An object that nobody was tracked on gets an owner for all that it holds, before the first apply takes its share. */
function beforeFirstApply(request: ApplyFields, live: JsonObject): Steps<Managers> {
  return updateManagers({ ...request, manager: "before-first-apply" }, request.empty ?? {}, live, new Map());
}
