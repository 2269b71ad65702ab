/**
 * JSON patch (RFC 6902) as the real server understands it, which is how evanphx/json-patch v4 does: indices may be negative,
 * `replace` of a field that is not there sets it, `copy` of one copies null, `test` of one succeeds against null. Where a
 * patch does not apply nothing is changed: it works on a copy.
 */
import {
  badRequest,
  type Draft,
  draftOf,
  type DraftValue,
  isDraft,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  put,
  read,
  Refusal,
} from "../model/mod.ts";
import { jsonTypeName } from "./_go_text.ts";

/** As apiserver `endpoints/handlers/patch.go`. */
const maxOperations = 10_000;

/** How much the writer minds what it wrote wrong. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** A patched object, and what the patch itself said too much. */
export interface Patched {
  readonly object: Draft;
  /** `json patch unknown field "[0].foo"`: warnings or part of a refusal, as the writer wanted. */
  readonly problems: readonly string[];
}

/**
 * The object after the operations of a patch.
 *
 * @throws Refusal 400 when it is no patch, 413 when it has too many operations, 422 when it does not apply
 */
export function jsonPatch(object: JsonObject, patch: Json, validation: FieldValidation = "Warn"): Patched {
  const problems = validation === "Ignore" ? [] : problemsOf(patch);
  if (!isJsonArray(patch)) throw notDecoded(patch, "jsonpatch.Patch");
  const operations = patch.map((operation) => {
    if (operation === null) return {};
    if (!isJsonObject(operation)) throw notDecoded(operation, "jsonpatch.Operation");
    return operation;
  });
  if (operations.length > maxOperations) {
    const why = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`;
    throw new Refusal(413, "RequestEntityTooLarge", `Request entity too large: ${why}`);
  }
  const document = new Document(draftOf(object));
  for (const operation of operations) document.apply(operation);
  const { root } = document;
  if (!isDraft(root)) throw unprocessable();
  return { object: root, problems };
}

function notDecoded(value: Json, type: string): Refusal {
  return badRequest(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`);
}

/** 422, without a word on which operation it was: so does the real server. */
function unprocessable(): Refusal {
  return new Refusal(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

const knownFields: ReadonlySet<string> = new Set(["op", "path", "from", "value"]);

/** What is wrong with the shape of a patch. @throws Refusal 400 for what is too wrong to go on */
function problemsOf(patch: Json): readonly string[] {
  if (patch === null) return [];
  if (!isJsonArray(patch)) throw undecodable(patch, "Go value of type []handlers.jsonPatchOp");
  const problems: string[] = [];
  for (const [index, operation] of patch.entries()) {
    if (operation === null) continue;
    if (!isJsonObject(operation)) throw undecodable(operation, "Go value of type handlers.jsonPatchOp");
    for (const key of Object.keys(operation)) {
      const value = operation[key] ?? null;
      if (!knownFields.has(key)) problems.push(`json patch unknown field "[${index}].${key}"`);
      else if (key !== "value" && value !== null && typeof value !== "string") {
        throw undecodable(value, `Go struct field jsonPatchOp.${key} of type string`);
      }
    }
  }
  return problems;
}

function undecodable(value: Json, into: string): Refusal {
  return badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into ${into}`);
}

/** What holds the place that a path leads to. */
type Container = Draft | DraftValue[];

/** An object while the operations of a patch change it. */
class Document {
  root: DraftValue;

  constructor(root: DraftValue) {
    this.root = root;
  }

  apply(operation: JsonObject): void {
    switch (read(operation, "op")) {
      case "add":
        return this.#add(textOf(operation, "path"), valueOf(operation));
      case "remove":
        this.#remove(textOf(operation, "path"));
        return;
      case "replace":
        return this.#replace(textOf(operation, "path"), valueOf(operation));
      case "move": {
        const value = this.#get(textOf(operation, "from"));
        this.#remove(textOf(operation, "from"));
        return this.#add(textOf(operation, "path"), value ?? null);
      }
      case "test":
        return this.#test(textOf(operation, "path"), read(operation, "value") ?? null);
      case "copy":
        return this.#add(textOf(operation, "path"), draftOf(this.#get(textOf(operation, "from")) ?? null));
      default:
        throw unprocessable();
    }
  }

  #add(path: string, value: DraftValue): void {
    const { container, key } = this.#find(path);
    if (!Array.isArray(container)) put(container, key, value);
    else if (key === "-") container.push(value);
    else container.splice(indexIn(key, container.length + 1), 0, value);
  }

  #remove(path: string): void {
    const { container, key } = this.#find(path);
    if (Array.isArray(container)) container.splice(indexIn(key, container.length), 1);
    else if (Object.hasOwn(container, key)) delete container[key];
    else throw unprocessable();
  }

  #replace(path: string, value: DraftValue): void {
    if (path === "") {
      if (typeof value !== "object" || value === null) throw unprocessable();
      this.root = value;
      return;
    }
    const { container, key } = this.#find(path);
    if (Array.isArray(container)) container[indexIn(key, container.length)] = value;
    else put(container, key, value);
  }

  #test(path: string, value: Json): void {
    const held = path === "" ? this.root : this.#get(path) ?? null;
    if (!isSameJson(held, value)) throw unprocessable();
  }

  /** @returns undefined for a field that is not there */
  #get(path: string): DraftValue | undefined {
    const { container, key } = this.#find(path);
    return Array.isArray(container) ? container[indexIn(key, container.length)] : read(container, key);
  }

  /** What is before the first slash does not count, and the whole cannot be named this way. */
  #find(path: string): { readonly container: Container; readonly key: string } {
    const steps = path.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const key = steps.pop();
    if (key === undefined) throw unprocessable();
    let container: DraftValue | undefined = this.root;
    for (const step of steps) {
      if (Array.isArray(container)) container = container[indexIn(step, container.length)];
      else container = isDraft(container) ? read(container, step) : undefined;
    }
    if (Array.isArray(container) || isDraft(container)) return { container, key };
    throw unprocessable();
  }
}

/** The place that a step names in a list of some length; -1 is the last one. */
function indexIn(step: string, length: number): number {
  const index = /^[+-]?\d+$/.test(step) ? Number(step) : NaN;
  const place = index < 0 ? index + length : index;
  if (!(place >= 0 && place < length)) throw unprocessable();
  return place;
}

function textOf(operation: JsonObject, key: string): string {
  const value = read(operation, key);
  if (typeof value !== "string") throw unprocessable();
  return value;
}

function valueOf(operation: JsonObject): DraftValue {
  return draftOf(read(operation, "value") ?? null);
}
