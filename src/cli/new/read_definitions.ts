/**
 * Reads CustomResourceDefinitions from a YAML or JSON text with one or several documents, Lists included.
 *
 * Guarantees: the work is bounded, whatever the text is. A definition that the API server would reject is rejected with the
 * server's words, because an API server in memory reads it, strictly. Errors name the line.
 */
import { parseExactJson, printExactJson } from "../../api/mod.ts";
import { kubernetesApi } from "../../apiserver/mod.ts";
import type { Crd } from "../../schema/mod.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** A definition and the line where its document begins. */
export interface ReadDefinition {
  readonly crd: Crd;
  readonly line: number;
}

type JsonObject = { readonly [key: string]: unknown };

/** The most documents of a text, and the most errors of a definition that a message names. */
const maxDocuments = 1_000, maxErrors = 3;

/**
 * Returns the definition of `kind`, or the only one.
 *
 * @param source The name of the file, for messages
 * @throws CommandError when there is none, there are several, or it is invalid
 */
export async function readDefinition(text: string, source: string, kind: string | undefined): Promise<ReadDefinition> {
  const found = documentsOf(text, source, kind).flatMap(({ value, line }) => definitionsIn(value, line, source));
  const named = found.filter(({ object }) => kind === undefined || kindOf(object) === kind);
  const [first, second] = named;
  if (first === undefined || second !== undefined) {
    const kinds = [...new Set(found.map(({ object }) => kindOf(object)))].slice(0, 20).join(", ");
    const state = found.length === 0
      ? "it has no CustomResourceDefinition"
      : first === undefined
      ? `it has no definition of the kind ${kind}, but of ${kinds}`
      : `it has ${named.length} definitions, of ${kinds}`;
    throw cannotRead(source, state, found.length === 0 ? undefined : "Choose one with --kind");
  }
  return { crd: await storedForm(first.object, source, first.line), line: first.line };
}

/** @throws CommandError */
function cannotRead(source: string, state: string, advice?: string): CommandError {
  return new CommandError(`Cannot read the definition in "${source}": ${state}`, { code: exitCode.usage, advice });
}

/** One document of a text. */
interface TextDocument {
  readonly value: unknown;
  readonly line: number;
}

/** Splits at lines that begin with `---`, as kubectl does, and parses each part that may define the kind. */
function documentsOf(text: string, source: string, kind: string | undefined): readonly TextDocument[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const starts = [0, ...lines.flatMap((line, index) => /^---(\s|$)/.test(line) ? [index + 1] : [])];
  if (starts.length > maxDocuments) throw cannotRead(source, `it has more than ${maxDocuments} documents`);
  const parts = starts.map((start, index) => {
    const end = (starts[index + 1] ?? lines.length + 1) - 1;
    return { start, part: lines.slice(start, end).join("\n") };
  });
  const named = parts.filter(({ part }) => kind !== undefined && part.includes(kind));
  return (named.length === 0 ? parts : named)
    .map(({ start, part }) => ({ value: valueOf(part, start, source), line: start + 1 }));
}

function valueOf(text: string, start: number, source: string): unknown {
  const document = parseYaml(text, { dialect: "go" });
  const [problem] = document.problems;
  if (problem !== undefined) throw cannotRead(source, `line ${start + problem.line}: ${problem.message}`);
  const [twice] = document.duplicateKeys();
  if (twice !== undefined) throw cannotRead(source, `line ${start + twice.line}: the key appears a second time`);
  try {
    return document.value();
  } catch (error) {
    throw cannotRead(source, `line ${start + 1}: ${error instanceof Error ? error.message : error}`);
  }
}

/** The definitions in a document: itself, or the items of a List. Objects of other kinds are left out. */
function definitionsIn(value: unknown, line: number, source: string): readonly { object: JsonObject; line: number }[] {
  if (!isObject(value)) return [];
  if (value.kind === "CustomResourceDefinition") {
    if (value.apiVersion === "apiextensions.k8s.io/v1") return [{ object: value, line }];
    const state = `line ${line}: it is of ${value.apiVersion}, which Kubernetes does not serve since 1.22`;
    throw cannotRead(source, state, "Convert it to apiextensions.k8s.io/v1");
  }
  if (typeof value.kind !== "string" || !value.kind.endsWith("List") || !Array.isArray(value.items)) return [];
  return value.items.flatMap((item) =>
    isObject(item) && item.kind !== value.kind ? definitionsIn(item, line, source) : []
  );
}

function kindOf({ spec }: JsonObject): string {
  const names = isObject(spec) && isObject(spec.names) ? spec.names : {};
  return typeof names.kind === "string" ? names.kind : "";
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The definition as the API server stores it. @throws CommandError with the words of the server when it rejects it */
async function storedForm(object: JsonObject, source: string, line: number): Promise<Crd> {
  const { server } = kubernetesApi();
  using _ending = server;
  const { status: _status, ...written } = object;
  const request = new Request(
    "http://in.memory/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict",
    { method: "POST", headers: { "content-type": "application/json" }, body: printExactJson(asWritten(written)) },
  );
  const response = await server.fetch(request);
  const answer = parseExactJson(await response.text());
  if (response.status === 201) return answer as Crd;
  const { message, details }: JsonObject = isObject(answer) ? answer : {};
  const { causes = [] } = (details ?? {}) as {
    readonly causes?: readonly { readonly field?: string; readonly message?: string }[];
  };
  const errors = causes.slice(0, maxErrors).map((cause) => `${cause.field}: ${cause.message}`);
  const more = causes.length > maxErrors ? `; and ${causes.length - maxErrors} more` : "";
  throw cannotRead(source, `line ${line}: the API server rejects it: ${errors.join("; ") || message}${more}`);
}

/** What `kubectl get -o yaml` shows besides what a user wrote; controller-gen writes `creationTimestamp: null`. */
const serverFields = ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];
const appliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

function asWritten({ metadata, ...rest }: JsonObject): JsonObject {
  const { annotations, ...others } = isObject(metadata) ? metadata : {};
  const kept = Object.entries(others).filter(([name]) => !serverFields.includes(name));
  if (!isObject(annotations)) return { ...rest, metadata: Object.fromEntries(kept) };
  const { [appliedAnnotation]: _applied, ...written } = annotations;
  return { ...rest, metadata: { ...Object.fromEntries(kept), annotations: written } };
}
