/**
 * SentFields: the fields that the operator, the users or the cluster have sent in a run. A field that was never sent has a
 * value that the server chose, for example when it created the object: imagePullPolicy depends on the first image, and
 * clusterIP on chance. Such a value is no result of the operator's work.
 *
 * Guarantees: a field that a PUT sends back as it was read was not sent, nor was one of a new object that is a copy of a deleted one.
 */
import { isJsonObject, pointerKeys } from "../api/mod.ts";
import type { SummaryChange } from "./_server_changes.ts";

/** A write, as it reached the server. */
export interface SentWrite {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

/** The fields sent in one run. Parses the writes at the first question. */
export class SentFields {
  readonly #writes: readonly SentWrite[];
  readonly #changes: readonly SummaryChange[];
  #paths: Set<string> | undefined;

  /** @param changes what the operator may have read */
  constructor(writes: readonly SentWrite[], changes: readonly SummaryChange[]) {
    this.#writes = writes;
    this.#changes = changes;
  }

  /** @param field as in a summary: `deployments.apps default/web .spec.template.spec.containers[name=main].image` */
  has(field: string): boolean {
    const [collection = "", , ...path] = field.split(" ");
    return this.#sent.has(`${collection} ${withoutSelectors(path.join(" "))}`);
  }

  get #sent(): ReadonlySet<string> {
    if (this.#paths !== undefined) return this.#paths;
    const paths = this.#paths = new Set<string>();
    for (const write of this.#writes) {
      const collection = collectionOfPath(write.url);
      for (const path of this.#pathsOf(write, collection)) paths.add(`${collection} ${path}`);
    }
    return paths;
  }

  *#pathsOf({ method, body }: SentWrite, collection: string): Generator<string> {
    const value = parsed(body);
    if (Array.isArray(value)) {
      for (const operation of value) {
        if (!isJsonObject(operation) || typeof operation["path"] !== "string") continue;
        yield* leaves(operation["value"], pointerPath(operation["path"]));
      }
    } else if (isJsonObject(value)) {
      if (method === "POST" && this.#isCopy(collection, value)) return;
      const read = method === "PUT" ? this.#stateAt(collection, value) : undefined;
      const known = new Set(read === undefined ? [] : [...leaves(read, "", true)]);
      for (const leaf of leaves(value, "", true)) if (!known.has(leaf)) yield leaf.slice(0, leaf.indexOf("="));
    }
  }

  /** True for a copy of a deleted object in its place: a user puts it there with all that the server has added. */
  #isCopy(collection: string, { metadata, ...fields }: Readonly<Record<string, unknown>>): boolean {
    if (!isJsonObject(metadata) || typeof metadata["name"] !== "string") return false;
    const { name, namespace } = metadata;
    const key = typeof namespace === "string" ? `${namespace}/${name}` : name;
    const own = new Set(leaves(fields, "", true));
    return this.#changes.some(({ collection: of, change: { kind, current } }) => {
      if (of !== collection || kind !== "deleted" || current.key !== key || !isJsonObject(current.object)) return false;
      const { metadata: _, status: __, ...others } = current.object;
      return [...leaves(others, "", true)].every((leaf) => own.has(leaf));
    });
  }

  /** The object that a PUT is based on. */
  #stateAt(collection: string, { metadata }: Readonly<Record<string, unknown>>): unknown {
    const version = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
    const read = this.#changes.find(({ collection: of, change }) =>
      of === collection && String(change.revision) === version
    );
    return read?.change.current.object;
  }
}

/** The paths of all scalars in a value, with `withValues` followed by `=` and the value. */
function* leaves(value: unknown, path: string, withValues = false): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* leaves(item, path, withValues);
  } else if (isJsonObject(value)) {
    for (const [key, inner] of Object.entries(value)) yield* leaves(inner, `${path}.${key}`, withValues);
  } else yield withValues ? `${path}=${JSON.stringify(value)}` : path;
}

/** `/spec/ports/0/port` as `.spec.ports.port`. */
function pointerPath(pointer: string): string {
  return pointerKeys(pointer).filter((key) => !/^(?:\d+|-)$/.test(key)).map((key) => `.${key}`).join("");
}

/** `.status.observed` stands for the observed generation, see flatFields(). */
function withoutSelectors(path: string): string {
  return path.replaceAll(/\[[^\]]*\]/g, "").replace(/^\.status\.observed$/, ".status.observedGeneration");
}

/** The collection of a request: `deployments.apps` of `/apis/apps/v1/namespaces/default/deployments/web?…`. */
export function collectionOfPath(url: string): string {
  const { pathname } = new URL(url, "http://server");
  const parts = pathname.split("/").slice(1);
  const group = parts[0] === "api" ? "" : parts[1] ?? "";
  const rest = parts.slice(parts[0] === "api" ? 2 : 3);
  const plural = (rest[0] === "namespaces" && rest.length > 2 ? rest[2] : rest[0]) ?? "";
  return group === "" ? plural : `${plural}.${group}`;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
