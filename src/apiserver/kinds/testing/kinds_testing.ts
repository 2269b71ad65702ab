/**
 * For tests of kinds: creates and updates objects without a server, and returns the result, the errors and the warnings.
 */
import {
  type Draft,
  draftOf,
  type FieldError,
  fieldErrorBody,
  isJsonObject,
  type JsonObject,
  type WriteContext,
} from "../../model/mod.ts";
import { builtinFamilies, type BuiltinKind } from "../mod.ts";

const families = builtinFamilies();

/** All built-in kinds. */
export const allKinds: readonly BuiltinKind[] = families.flatMap(({ served }) => served);

/** Finds a kind by its name and apiVersion. */
export function kindNamed(kind: string, apiVersion: string): BuiltinKind {
  const found = allKinds.find((each) =>
    each.kind === kind && (each.group === "" ? each.version : `${each.group}/${each.version}`) === apiVersion
  );
  if (found === undefined) throw new RangeError(`Cannot find the kind ${apiVersion} ${kind}: not built in`);
  return found;
}

/** The time of every write. */
const writtenAt = Date.UTC(2026, 0, 1);

function contextOf(subresource: string): WriteContext {
  return {
    subresource,
    userName: "tester",
    user: { name: "jane", uid: "1", groups: ["people"], extra: new Map([["scope", ["all"]]]) },
    now: writtenAt,
    random: () => 0.5,
    objects: { get: () => undefined, list: () => [] },
  };
}

function decoded(kind: BuiltinKind, object: JsonObject): Draft {
  const draft = draftOf({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
  if (!isJsonObject(draft["metadata"])) draft["metadata"] = { name: "a" };
  kind.decode(draft);
  kind.setDefaults(draft);
  return draft;
}

function apiVersionOf({ group, version }: BuiltinKind): string {
  return group === "" ? version : `${group}/${version}`;
}

function textOf(error: FieldError): string {
  return `${error.field}: ${fieldErrorBody(error)}`;
}

/** The result of a write: the object, its errors and its warnings. */
interface Outcome {
  // deno-lint-ignore no-explicit-any
  readonly object: any;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Creates an object. */
export function created(kind: BuiltinKind, object: JsonObject): Outcome {
  const draft = decoded(kind, object);
  const context = contextOf("");
  kind.prepareForCreate(draft, context);
  return { object: draft, problems: kind.validate(draft, context).map(textOf), warnings: kind.warnings(draft) };
}

/** Updates an object that {@link created} returned. */
export function updated(kind: BuiltinKind, object: JsonObject, old: JsonObject, subresource = ""): Outcome {
  const draft = decoded(kind, object);
  const context = contextOf(subresource);
  kind.prepareForUpdate(draft, old, context);
  const problems = kind.validateUpdate(draft, old, context).map(textOf);
  return { object: draft, problems, warnings: kind.warnings(draft, old) };
}
