/**
 * Runs an object through the embedded server's kinds, without a server: decode, defaults, preparation, validation, in the
 * order of the verbs. The kinds oracle compares the result with the response of a real kube-apiserver.
 */
import { builtinFamilies, type BuiltinFamily, type BuiltinKind } from "../../src/apiserver/kinds/mod.ts";
import {
  type Draft,
  type FieldError,
  invalid,
  type JsonObject,
  StatusError,
  type WriteContext,
} from "../../src/apiserver/model/mod.ts";
import { metadataErrors, metadataUpdateErrors } from "../../src/apiserver/registry/mod.ts";

/** A result: the object, or an error Status. */
export interface Outcome {
  readonly code: number;
  readonly body: JsonObject;
  readonly warnings: readonly string[];
}

const families: readonly BuiltinFamily[] = builtinFamilies();
const now = Date.UTC(2026, 0, 1);

/** The kind of an object. */
export function kindOf(object: JsonObject): BuiltinKind {
  const apiVersion = String(object["apiVersion"]);
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  for (const family of families) {
    for (const kind of family.served) {
      if (kind.group === group && kind.version === version && kind.kind === object["kind"]) return kind;
    }
  }
  throw new Error(`Cannot find the kind of ${apiVersion} ${object["kind"]}: not built in`);
}

/** Creates an object as the verb does, without storing it. */
export function createHere(object: JsonObject): Outcome {
  const kind = kindOf(object);
  const warnings: string[] = [];
  return answered(() => {
    const draft = decoded(kind, object, warnings);
    const metadata = metadataOf(draft);
    Object.assign(metadata, { uid: "UID", creationTimestamp: "2026-01-01T00:00:00Z" });
    const context = contextOf("");
    kind.prepareForCreate(draft, context);
    const names = nameErrors(kind, draft);
    const generic = metadataErrors(draft, kind).filter(({ field }) => names.length === 0 || field !== "metadata.name");
    refuse(kind, draft, [...names, ...generic, ...kind.validate(draft, context)]);
    warnings.push(...kind.warnings(draft));
    return { code: 201, body: draft, warnings };
  });
}

/** Changes an object as the verb does. */
export function updateHere(object: JsonObject, old: JsonObject, subresource = ""): Outcome {
  const kind = kindOf(object);
  const warnings: string[] = [];
  return answered(() => {
    const draft = decoded(kind, object, warnings);
    const before = JSON.parse(JSON.stringify(old["metadata"]));
    Object.assign(metadataOf(draft), { uid: before.uid, creationTimestamp: before.creationTimestamp });
    const context = contextOf(subresource);
    kind.prepareForUpdate(draft, old, context);
    const own = kind.validateUpdate(draft, old, context);
    refuse(kind, draft, [...metadataErrors(draft, kind), ...metadataUpdateErrors(draft, old), ...own]);
    warnings.push(...kind.warnings(draft, old));
    return { code: 200, body: draft, warnings };
  });
}

function decoded(kind: BuiltinKind, object: JsonObject, warnings: string[]): Draft {
  const draft: Draft = JSON.parse(JSON.stringify(object));
  warnings.push(...kind.decode(draft));
  kind.setDefaults(draft);
  return draft;
}

function nameErrors(kind: BuiltinKind, draft: Draft): readonly FieldError[] {
  const name = String(metadataOf(draft)["name"] ?? "");
  if (name === "") return [];
  return kind.validateName(name, false).map((detail) => ({
    type: "Invalid",
    field: "metadata.name",
    value: name,
    detail,
  }));
}

function refuse(kind: BuiltinKind, draft: Draft, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw invalid({ group: kind.errorGroup, resource: kind.kind, name: String(metadataOf(draft)["name"] ?? "") }, errors);
}

function metadataOf(draft: Draft): Draft {
  draft["metadata"] ??= {};
  return Object(draft["metadata"]);
}

function contextOf(subresource: string): WriteContext {
  return {
    subresource,
    userName: "admin",
    now,
    random: () => 0.5,
    objects: { get: () => undefined, list: () => [] },
  };
}

function answered(act: () => Outcome): Outcome {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { code: error.status.code, body: JSON.parse(JSON.stringify(error.status)), warnings: [] };
  }
}
