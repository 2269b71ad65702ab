/**
 * decodeObject(): turns a parsed body into a draft of the kind in the URL, or throws the error of a kube-apiserver. Built-in
 * kinds and custom resources have different messages, because kube-apiserver decodes the former into Go structs and the
 * latter into maps.
 */
import { apiVersionOf } from "../../api/mod.ts";
import {
  badRequest,
  type Draft,
  type FieldError,
  invalid,
  jsonTypeName,
  type Kind,
  numberLiteral,
  type NumberRule,
  read,
  type StatusError,
} from "../model/mod.ts";
import type { Call } from "./call.ts";
import type { KindRegistry } from "./kind_registry.ts";
import { decodeMetadata, decodingTitle, metadataText } from "./metadata.ts";
import { toHex } from "../../runtime/mod.ts";

/** A parsed body. */
export interface ParsedBody {
  readonly draft: Draft;
  /** `duplicate field "spec.replicas"`, for each duplicate key. */
  readonly duplicates: readonly string[];
  /** The text, for messages that quote its start. */
  readonly text: string;
  /** @default json */
  readonly numbers?: NumberRule;
  /** Sorts problems as a decoder finds them in the body. @default as they are */
  readonly order?: (problems: readonly string[]) => readonly string[];
  /** The draft with the first values of keys that occur several times: they must have the right types, too. */
  readonly firstValues?: Draft;
}

/** @throws StatusError 400 (422 for a custom resource of another kind) when it is not an object of the kind */
export function decodeObject(kinds: KindRegistry, call: Call, body: ParsedBody): Draft {
  const { kind } = call;
  const { draft } = body;
  checkType(kinds, kind, draft, body.text);
  if (body.firstValues !== undefined) kind.decode(body.firstValues, body.numbers);
  const unknown = kind.decode(draft, body.numbers);
  const unknownMetadata = decodeMetadata(draft, kind);
  if (call.fieldValidation !== "Ignore") {
    // The fields of a custom resource are found in maps, whose keys are sorted; those of embedded metadata come last.
    const problems = kind.hasStrategicMerge
      ? [...body.duplicates, ...unknownMetadata, ...unknown]
      : [...body.duplicates, ...unknownMetadata.toSorted(), ...unknown];
    reportStrict(call, bounded(kind.hasStrategicMerge ? body.order?.(problems) ?? problems : problems));
  }
  return draft;
}

/** The most problems that are reported, as `sigs.k8s.io/json`, and the most characters of all: a key may be very long. */
const [maxProblems, maxCharacters] = [100, 64 * 1024];

function bounded(problems: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let characters = 0;
  for (const problem of new Set(problems)) {
    if (shown.length === maxProblems || characters > maxCharacters) break;
    const text = problem.slice(0, maxCharacters);
    characters += text.length;
    shown.push(text);
  }
  return shown;
}

/** Rejects or warns about unknown and duplicate fields, depending on `fieldValidation`. */
function reportStrict(call: Call, problems: readonly string[]): void {
  if (problems.length === 0) return;
  if (call.fieldValidation === "Strict") {
    throw badRequest(`${decodingTitle(call.kind)}: strict decoding error: ${strictText(problems)}`);
  }
  for (const problem of problems) call.warn(problem);
}

/** The message of a strict decoder: errors of the YAML first, then those of fields. */
function strictText(problems: readonly string[]): string {
  const isOfYaml = (problem: string) => /^line \d+: /.test(problem);
  const lines = problems.filter(isOfYaml);
  const fields = problems.filter((problem) => !isOfYaml(problem));
  return (lines.length === 0 ? fields : [`yaml: unmarshal errors:\n  ${lines.join("\n  ")}`, ...fields]).join(", ");
}

/** Checks apiVersion and kind, and sets them where a built-in kind may leave them out. */
function checkType(kinds: KindRegistry, kind: Kind, draft: Draft, text: string): void {
  const given = headText(kind, draft, "apiVersion", text);
  const name = headText(kind, draft, "kind", text);
  if (given.split("/").length > 2) throw unrecognized(kind, `unexpected GroupVersion string: ${given}`, text);
  const apiVersion = normalVersion(given);
  const expected = apiVersionOf(kind);
  if (kind.hasStrategicMerge) {
    if (apiVersion.endsWith("/") && apiVersion !== `${kind.group}/`) {
      const why = `Object 'apiVersion' is missing in '${text}'`;
      throw badRequest(`${name} in version "" cannot be handled as a ${kind.kind}: ${why}`);
    }
    draft["apiVersion"] = apiVersion === "" || apiVersion === `${kind.group}/` ? expected : apiVersion;
    draft["kind"] = name === "" ? kind.kind : name;
    checkKnown(kinds, kind, String(draft["apiVersion"]), String(draft["kind"]));
  } else if (name === "") {
    throw unrecognized(kind, `Object 'Kind' is missing in '${text}'`, text);
  }
  if (!kind.hasStrategicMerge && apiVersion !== given) draft["apiVersion"] = apiVersion;
  if (draft["apiVersion"] !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (draft["kind"] === kind.kind) return;
  const error: FieldError = { type: "Invalid", field: "kind", value: name, detail: `must be ${kind.kind}` };
  throw invalid({ group: kind.group, resource: name, name: metadataText(draft, "name") }, [error]);
}

/** An apiVersion as Go writes it after parsing: a leading slash is that of the core group. */
export function normalVersion(apiVersion: string): string {
  return apiVersion.startsWith("/") ? apiVersion.slice(1) : apiVersion;
}

function unrecognized(kind: Kind, why: string, text: string): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summary(text)})`);
}

function headText(kind: Kind, draft: Draft, field: "apiVersion" | "kind", text: string): string {
  const value = read(draft, field) ?? "";
  if (typeof value === "string" && numberLiteral(value) === undefined) return value;
  const why = `json: cannot unmarshal ${jsonTypeName(value)} into Go struct field .${field} of type string`;
  throw unrecognized(kind, `couldn't get version/kind; json parse error: ${why}`, text);
}

/** Versions that kube-apiserver decodes but does not serve any more: its error is about the version. */
const retiredVersions: ReadonlySet<string> = new Set([
  "extensions/v1beta1",
  "apps/v1beta1",
  "apps/v1beta2",
  "batch/v1beta1",
  "policy/v1beta1",
  "networking.k8s.io/v1beta1",
  "rbac.authorization.k8s.io/v1beta1",
  "rbac.authorization.k8s.io/v1alpha1",
  "autoscaling/v2beta1",
  "autoscaling/v2beta2",
]);

/** Rejects an object of another kind; the message depends on whether the server knows that kind. */
function checkKnown(kinds: KindRegistry, kind: Kind, apiVersion: string, name: string): void {
  if (apiVersion === apiVersionOf(kind) && name === kind.kind) return;
  if (retiredVersions.has(apiVersion) && name === kind.kind) return;
  const slash = apiVersion.indexOf("/");
  const [group, version] = [slash < 0 ? "" : apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const title = `${name} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}`;
  if (!isRegistered(kinds, group, version, name)) {
    throw badRequest(`${title}: ${unregistered(name, apiVersion)}`);
  }
  // Another version of the same kind can be decoded; the caller rejects its version.
  if (name === kind.kind && group === kind.group) return;
  const internal = kind.group === "" ? "core" : kind.group.split(".")[0] ?? "";
  throw badRequest(`${title}: converting (${version}.${name}) to (${internal}.${kind.kind}): unknown conversion`);
}

/** Kinds beside those of objects that every version of a group has, and those of the core group. */
const bodyKinds: ReadonlySet<string> = new Set(
  ["Create", "Delete", "Get", "List", "Patch", "Update"].map((verb) => `${verb}Options`).concat("WatchEvent"),
);
const coreKinds: ReadonlySet<string> = new Set([
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "APIVersions",
  "List",
  "PodStatusResult",
  "RangeAllocation",
  "SerializedReference",
  "Status",
]);

/** True for a kind of a built-in group, a list included. */
function isRegistered(kinds: KindRegistry, group: string, version: string, name: string): boolean {
  const found = kinds.findKind(group, version, name) ?? kinds.findKind(group, version, name.replace(/List$/, ""));
  if (found !== undefined) return found.kind.hasStrategicMerge;
  if (group === "" && version === "v1" && coreKinds.has(name)) return true;
  if (!bodyKinds.has(name)) return false;
  for (const kind of kinds.kinds()) {
    if (kind.group === group && kind.version === version) return kind.hasStrategicMerge;
  }
  return false;
}

/** The error of a Go scheme for an unknown kind. */
export function unregistered(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} ` +
    'in scheme "pkg/runtime/scheme.go:111"';
}

/** The start of a body, as summarizeData shows it. */
export function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = new TextEncoder().encode(text);
  const isCut = bytes.length > 30;
  if (text.startsWith("{")) return isCut ? `${new TextDecoder().decode(bytes.slice(0, 30))} ...` : text;
  return isCut ? `${toHex(bytes.slice(0, 30))} ...` : toHex(bytes);
}
