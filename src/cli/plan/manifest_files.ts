/**
 * readManifests(): the objects of `--files`: a file, the files of a folder, or standard input, as `kubectl apply -f` reads
 * them: YAML or JSON, several documents, Lists included.
 *
 * Guarantees: an error names the file and the line; no text of a file is in a message, because it may be a Secret.
 */
import { apiVersionOf, builtin, isJsonObject, type KubeObject, type Resource } from "../../api/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import type { LineReader } from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { readDocuments } from "../documents/mod.ts";

/** An object of a file. */
export interface ManifestObject {
  readonly object: KubeObject;
  readonly resource: Resource<KubeObject>;
  /** The file and the line, for messages. */
  readonly place: string;
}

/** Options of {@link readManifests}. */
export interface ManifestOptions {
  /** The controllers whose kinds the files can have, besides the built-in ones. */
  readonly controllers: readonly OperatorController[];
  /** The namespace of objects that name none. */
  readonly namespace: string;
  readonly stdin: LineReader;
}

/** The most documents of all files together. */
const maxDocuments = 10_000;

/** Reads the objects. @param path `-` is standard input @throws CommandError when one cannot be read */
export async function readManifests(path: string, options: ManifestOptions): Promise<readonly ManifestObject[]> {
  const objects: ManifestObject[] = [];
  for (const { value, name, line } of await readDocuments(path, { stdin: options.stdin, cannotRead })) {
    for (const item of itemsOf(value)) objects.push(manifestObject(item, `${name}:${line}`, options));
    if (objects.length > maxDocuments) throw cannotRead(path, `it has more than ${maxDocuments} objects`);
  }
  if (objects.length === 0) throw cannotRead(path, "it has no objects");
  return objects;
}

/** The objects of a List, or the object itself. */
function itemsOf(value: unknown): readonly unknown[] {
  if (!isJsonObject(value) || !`${value.kind}`.endsWith("List") || !Array.isArray(value.items)) return [value];
  return value.items;
}

function manifestObject(value: unknown, place: string, options: ManifestOptions): ManifestObject {
  if (!isJsonObject(value)) throw cannotRead(place, "it is no object");
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string") {
    throw cannotRead(place, "apiVersion or kind is missing");
  }
  if (!isJsonObject(metadata) || typeof metadata.name !== "string") throw cannotRead(place, "metadata.name is missing");
  const resource = resourceOf(apiVersion, kind, options);
  if (resource === undefined) {
    const known = `no controller declares ${kind} of ${apiVersion}, and it is no kind of Kubernetes`;
    throw cannotRead(place, known, "Leave it out: no controller of this plan reacts to it");
  }
  const { namespace = options.namespace } = metadata;
  const named = resource.scope === "Cluster" ? metadata : { ...metadata, namespace };
  return { object: { ...value, metadata: named } as unknown as KubeObject, resource, place };
}

function resourceOf(
  apiVersion: string,
  kind: string,
  { controllers }: ManifestOptions,
): Resource<KubeObject> | undefined {
  const declared = controllers.flatMap(({ watches, permissions }) => [...watches, ...permissions]).map((one) =>
    one.resource
  );
  const builtins = Object.values(builtin).filter((one) => typeof one === "object" && "plural" in one);
  const all: readonly Resource[] = [...declared, ...builtins];
  const found = all.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);
  // The names of the kind are enough to read and apply its objects.
  return found && nameOnly(found);
}

function nameOnly({ group, version, kind, plural, scope }: Resource): Resource<KubeObject> {
  return { group, version, kind, plural, scope };
}

function cannotRead(place: string, state: string, advice?: string): CommandError {
  return new CommandError(`Cannot read manifests from "${place}": ${state}`, { code: exitCode.failed, advice });
}
