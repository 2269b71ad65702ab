/**
 * decodeObject(): a parsed body to a draft of the kind that the URL names, or the refusal that a kube-apiserver would
 * write. Built-in kinds and custom resources complain in different words, since the real server reads the first into Go
 * structs and the second into maps.
 */
import { apiVersionOf } from "../../api/mod.ts";
import { badRequest, type Draft, type DraftValue, type FieldError, invalid, type Kind, read } from "../model/mod.ts";
import type { Call } from "./call.ts";
import type { KindRegistry } from "./kind_registry.ts";
import { decodeMetadata, decodingTitle, metadataText } from "./metadata.ts";

/** A body as it was parsed. */
export interface ParsedBody {
  readonly draft: Draft;
  /** `duplicate field "spec.replicas"`, for each. */
  readonly duplicates: readonly string[];
  /** The text, for messages that quote its beginning. */
  readonly text: string;
}

/** @throws Refusal 400 (422 for a custom resource of another kind) when it is no such object */
export function decodeObject(kinds: KindRegistry, call: Call, body: ParsedBody): Draft {
  const { kind } = call;
  const { draft } = body;
  checkType(kinds, kind, draft, body.text);
  const unknown = kind.decode(draft);
  const unknownMetadata = decodeMetadata(draft, kind);
  if (call.fieldValidation !== "Ignore") {
    reportStrict(call, [...body.duplicates, ...unknownMetadata, ...unknown]);
  }
  return draft;
}

/** Refuses or warns of what a lenient decoder passes over, as `fieldValidation` says. */
function reportStrict(call: Call, problems: readonly string[]): void {
  if (problems.length === 0) return;
  if (call.fieldValidation === "Strict") {
    throw badRequest(`${decodingTitle(call.kind)}: strict decoding error: ${strictText(problems)}`);
  }
  for (const problem of problems) call.warn(problem);
}

/** What a strict decoder says as one: it has said what is wrong with the YAML before it looks at fields. */
function strictText(problems: readonly string[]): string {
  const isOfYaml = (problem: string) => /^line \d+: /.test(problem);
  const lines = problems.filter(isOfYaml);
  const fields = problems.filter((problem) => !isOfYaml(problem));
  return (lines.length === 0 ? fields : [`yaml: unmarshal errors:\n  ${lines.join("\n  ")}`, ...fields]).join(", ");
}

/** Checks apiVersion and kind, and fills them in where a built-in kind may do without. */
function checkType(kinds: KindRegistry, kind: Kind, draft: Draft, text: string): void {
  const [apiVersion, name] = [headText(kind, draft, "apiVersion", text), headText(kind, draft, "kind", text)];
  const expected = apiVersionOf(kind);
  if (kind.hasStrategicMerge) {
    if (apiVersion.split("/").length > 2) {
      const why = `unexpected GroupVersion string: ${apiVersion}`;
      throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why} (${summary(text)})`);
    }
    draft["apiVersion"] = apiVersion === "" ? expected : apiVersion;
    draft["kind"] = name === "" ? kind.kind : name;
    checkKnown(kinds, kind, String(draft["apiVersion"]), String(draft["kind"]));
  } else if (name === "") {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): ` +
        `Object 'Kind' is missing in '${text}' (${summary(text)})`,
    );
  }
  if (draft["apiVersion"] !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (draft["kind"] === kind.kind) return;
  const error: FieldError = { type: "Invalid", field: "kind", value: name, detail: `must be ${kind.kind}` };
  throw invalid({ group: kind.group, resource: name, name: metadataText(draft, "name") }, [error]);
}

function headText(kind: Kind, draft: Draft, field: "apiVersion" | "kind", text: string): string {
  const value = read(draft, field) ?? "";
  if (typeof value === "string") return value;
  throw badRequest(
    `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; ` +
      `json parse error: json: cannot unmarshal ${goType(value)} into Go struct field .${field} of type string ` +
      `(${summary(text)})`,
  );
}

function goType(value: DraftValue): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** Versions that the real server still reads, and serves no longer: it refuses them for the version. */
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

/** Only what the server knows can be told from what the URL names. */
function checkKnown(kinds: KindRegistry, kind: Kind, apiVersion: string, name: string): void {
  if (apiVersion === apiVersionOf(kind) && name === kind.kind) return;
  if (retiredVersions.has(apiVersion) && name === kind.kind) return;
  const slash = apiVersion.indexOf("/");
  const [group, version] = [slash < 0 ? "" : apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const title = `${name} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}`;
  const known = kinds.findKind(group, version, name);
  if (known === undefined || !known.kind.hasStrategicMerge) {
    throw badRequest(`${title}: ${unregistered(name, apiVersion)}`);
  }
  // Another version of the same kind can be read; it is refused for its version.
  if (name === kind.kind && group === kind.group) return;
  const internal = kind.group === "" ? "core" : kind.group.split(".")[0] ?? "";
  throw badRequest(`${title}: converting (${version}.${name}) to (${internal}.${kind.kind}): unknown conversion`);
}

/** What Go's scheme says of a kind it does not know. */
export function unregistered(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} ` +
    'in scheme "pkg/runtime/scheme.go:111"';
}

/** The beginning of a body, as summarizeData shows it. */
export function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = new TextEncoder().encode(text);
  const isCut = bytes.length > 30;
  if (text.startsWith("{")) return isCut ? `${new TextDecoder().decode(bytes.slice(0, 30))} ...` : text;
  return isCut ? `${bytes.slice(0, 30).toHex()} ...` : bytes.toHex();
}
