/**
 * The verb patch: the patch is applied to the present state, and again to a newer one when somebody else was faster, so a
 * patch without a resourceVersion never conflicts.
 */
import {
  badRequest,
  type Draft,
  draftOf,
  type FieldError,
  invalid,
  isJsonObject,
  type Json,
  type JsonObject,
  notFound,
  Refusal,
} from "../model/mod.ts";
import {
  applyConfiguration,
  applyConflict,
  type ApplyOutcome,
  goPlain,
  jsonPatch,
  mergePatch,
  strategicMergePatch,
} from "../patch/mod.ts";
import type { Answer, Call, FieldValidation } from "./call.ts";
import { decodeObject } from "./decode_object.ts";
import { type Engine, subjectOf } from "./engine.ts";
import { fieldContext, setManagedFields, trackFields } from "./fields.ts";
import { decodeMetadata } from "./metadata.ts";
import { patchedText, restoringText } from "./_patched_text.ts";
import { update } from "./update.ts";

/** The content types of patches. */
export type PatchType =
  | "application/json-patch+json"
  | "application/merge-patch+json"
  | "application/strategic-merge-patch+json"
  | "application/apply-patch+yaml";

/** A patch as it came. */
export interface PatchBody {
  readonly type: PatchType;
  readonly value: Json;
  readonly text: string;
  /** Keys that are there twice, as a strict decoder names them. */
  readonly duplicates: readonly string[];
  /** For apply: takes fields over from other managers. */
  readonly isForced: boolean;
}

/** Applies a patch. @throws Refusal */
export function patch(engine: Engine, call: Call, name: string, body: PatchBody): Promise<Answer> {
  const isApply = body.type === "application/apply-patch+yaml";
  if (isApply) checkApply(call, body);
  return update(engine, call, {
    name,
    mayCreate: isApply,
    uid: "",
    next: (old) => isApply ? applied(engine, call, old, body) : patched(engine, call, name, old, body),
  });
}

async function patched(
  engine: Engine,
  call: Call,
  name: string,
  old: JsonObject | undefined,
  body: PatchBody,
): Promise<Draft> {
  const { kind } = call;
  if (old === undefined) throw notFound(subjectOf(kind, name));
  const { object, problems } = patchedObject(call, old, body);
  decodePatched(engine, call, old, { object, problems, body });
  await trackFields(engine, call, old, object);
  return object;
}

function patchedObject(call: Call, old: JsonObject, body: PatchBody) {
  const { kind, fieldValidation } = call;
  const result = appliedPatch(old, body, fieldValidation);
  if (result !== undefined) return result;
  return { object: strategicMergePatch(old, body.value, kind.schema), problems: body.duplicates };
}

/** What a JSON or merge patch makes of an object; undefined for other patches. */
export function appliedPatch(
  old: JsonObject,
  body: PatchBody,
  validation: FieldValidation,
): { readonly object: Draft; readonly problems: readonly string[] } | undefined {
  switch (body.type) {
    case "application/json-patch+json": {
      const { object, problems } = jsonPatch(old, body.value, validation);
      return { object, problems: [...body.duplicates.map((text) => `json patch ${text}`), ...problems] };
    }
    case "application/merge-patch+json":
      return { object: mergePatch(old, body.value, validation), problems: body.duplicates };
    case "application/strategic-merge-patch+json":
    case "application/apply-patch+yaml":
      return undefined;
    default:
      return body.type satisfies never;
  }
}

/** A patched object has to be one of its kind again; the complaint names the patch and not the body. */
function decodePatched(
  engine: Engine,
  call: Call,
  old: JsonObject,
  { object: draft, problems, body }: { object: Draft; problems: readonly string[]; body: PatchBody },
): void {
  const isLenient = call.fieldValidation === "Ignore";
  const found: string[] = isLenient ? [] : [...problems];
  const collecting: Call = {
    ...call,
    fieldValidation: isLenient ? "Ignore" : "Warn",
    warn: (text) => void found.push(text),
  };
  try {
    decodeAsItself(engine, call, draft);
    decodeObject(engine.kinds, collecting, { draft, duplicates: [], text: "" });
  } catch (error) {
    throw asPatchRefusal(error, call, old, body);
  }
  call.kind.setDefaults(draft);
  if (found.length === 0) return;
  if (call.fieldValidation === "Strict") {
    throw unfitting(shownPatch(call, old, body), `strict decoding error: ${found.join(", ")}`);
  }
  for (const problem of found) call.warn(problem);
}

/** What calls itself another built-in kind is read as that kind before it is refused for it. */
function decodeAsItself(engine: Engine, call: Call, draft: Draft): void {
  const { apiVersion, kind } = draft;
  if (!call.kind.hasStrategicMerge || kind === call.kind.kind || typeof kind !== "string") return;
  const [version = "", group = ""] = `${apiVersion}`.split("/").reverse();
  engine.kinds.findKind(group, version, kind)?.kind.decode(draftOf(draft));
}

/** How a body is refused that is no such object: `Secret in version "v1" cannot be handled as a ConfigMap: ...`. */
const unreadable = /^[^ ]+ in version "[^"]*" cannot be handled as an? [^ ]+: /;

/** A value of the wrong type is the patch's fault here. */
function asPatchRefusal(error: unknown, call: Call, old: JsonObject, body: PatchBody): unknown {
  if (!(error instanceof Refusal)) return error;
  const title = unreadable.exec(error.message);
  if (title === null) return error;
  const detail = error.message.slice(title[0].length);
  const isMerged = body.type === "application/strategic-merge-patch+json";
  return unfitting(shownPatch(call, old, body), isMerged ? restoringText(detail) : detail);
}

/** What a refusal shows: the patched object as the real server has written it out, or the patch itself. */
function shownPatch(call: Call, old: JsonObject, body: PatchBody): string {
  const patched = appliedPatch(old, body, call.fieldValidation);
  return patched === undefined ? goPlain(body.value) : patchedText(patched.object, old, call.kind.schema);
}

function unfitting(shown: string, detail: string): Refusal {
  const error: FieldError = { type: "Invalid", field: "patch", value: shown, detail };
  return invalid({ group: "", resource: "", name: "" }, [error]);
}

function checkApply(call: Call, body: PatchBody): void {
  const { duplicates } = body;
  if (duplicates.length === 0 || call.fieldValidation === "Ignore") return;
  if (call.fieldValidation === "Strict") {
    throw badRequest(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${
        duplicates.join("\n  ")
      }`,
    );
  }
  for (const problem of duplicates) call.warn(problem);
}

async function applied(engine: Engine, call: Call, live: JsonObject | undefined, body: PatchBody): Promise<Draft> {
  const { kind } = call;
  const context = fieldContext(engine, call);
  const configuration = configurationOf(body);
  const outcome = await applyConfiguration({
    ...context,
    live,
    applied: configuration,
    kind: kind.kind,
    isForced: body.isForced,
  });
  const { object, managedFields } = merged(outcome);
  const draft = draftOf(object);
  kind.decode(draft);
  decodeMetadata(draft, kind);
  kind.setDefaults(draft);
  setManagedFields(draft, managedFields);
  return draft;
}

/** What an apply is to be merged with. @throws Refusal 400 when it is no object */
export function configurationOf(body: PatchBody): JsonObject {
  if (isJsonObject(body.value)) return body.value;
  const type = body.value === null ? "null" : Array.isArray(body.value) ? "array" : typeof body.value;
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} ` +
      "into Go value of type map[string]interface {}",
  );
}

/** @throws Refusal 409 when others own what the configuration sets */
export function merged(outcome: ApplyOutcome): Extract<ApplyOutcome, { kind: "merged" }> {
  if (outcome.kind === "conflicts") throw applyConflict(outcome.conflicts);
  return outcome;
}
