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
 * @throws Refusal 400 when it is no patch, 413 when it has too many operations
 * @throws PatchMisfit when it does not apply
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
  if (!isDraft(root)) throw new PatchMisfit("the patched document is no object");
  return { object: root, problems };
}

function notDecoded(value: Json, type: string): Refusal {
  return badRequest(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`);
}

/** A patch that does not apply: 422, without a word on which operation it was. So does the real server. */
export class PatchMisfit extends Refusal {
  /** What webhooks are told of theirs, in the words of evanphx/json-patch. */
  readonly why: string;

  constructor(why: string) {
    super(422, "Invalid", "the server rejected our request due to an error in our request", {});
    this.why = why;
  }
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
    const name = read(operation, "op");
    switch (name) {
      case "add":
        return this.#add(pathOf(operation, name), valueOf(operation));
      case "remove":
        return this.#remove(pathOf(operation, name));
      case "replace":
        return this.#replace(pathOf(operation, name), valueOf(operation));
      case "move":
        return this.#move(operation);
      case "test":
        return this.#test(pathOf(operation, name), read(operation, "value") ?? null);
      case "copy":
        return this.#copy(operation);
      default:
        throw new PatchMisfit(`Unexpected kind: ${typeof name === "string" ? name : "unknown"}`);
    }
  }

  #add(path: string, value: DraftValue): void {
    const place = this.#find(path) ?? missing("add", `path: "${path}"`);
    within(`error in add for path: '${path}'`, () => insert(place, value));
  }

  #remove(path: string): void {
    const place = this.#find(path) ?? missing("remove", `path: "${path}"`);
    within(`error in remove for path: '${path}'`, () => remove(place));
  }

  #replace(path: string, value: DraftValue): void {
    if (path === "") {
      if (typeof value !== "object" || value === null) {
        throw new PatchMisfit("replace operation value must be object or array: %!w(<nil>)");
      }
      this.root = value;
      return;
    }
    const { container, key } = this.#find(path) ?? missing("replace", `path: ${path}`);
    if (!Array.isArray(container)) return put(container, key, value);
    const index = within(`replace operation does not apply: doc is missing key: ${path}`, () => {
      try {
        return indexIn(key, container.length);
      } catch {
        throw new PatchMisfit("missing value");
      }
    });
    container[index] = value;
  }

  #move(operation: JsonObject): void {
    const from = pathOf(operation, "move", "from");
    const source = this.#find(from) ?? missing("move", `from path: ${from}`);
    const value = within(`error in move for path: '${source.key}'`, () => {
      const held = valueAt(source);
      remove(source);
      return held;
    });
    const path = pathOf(operation, "move");
    const target = this.#find(path) ?? missing("move", `destination path: ${path}`);
    within(`error in move for path: '${path}'`, () => insert(target, value ?? null));
  }

  #copy(operation: JsonObject): void {
    const from = pathOf(operation, "copy", "from");
    const source = this.#find(from) ?? missing("copy", `from path: ${from}`);
    const value = within(`error in copy for from: '${from}'`, () => valueAt(source));
    const path = pathOf(operation, "copy");
    const target = this.#find(path) ?? missing("copy", `destination path: ${path}`);
    within("error while adding value during copy", () => insert(target, draftOf(value ?? null)));
  }

  #test(path: string, value: Json): void {
    const failed = `testing value ${path} failed: test failed`;
    if (path === "") {
      if (!isSameJson(this.root, value)) throw new PatchMisfit(failed);
      return;
    }
    const place = this.#find(path);
    if (place === undefined) {
      throw new PatchMisfit(`test operation does not apply: is missing path: ${path}: missing value`);
    }
    const held = within(`error in test for path: '${path}'`, () => valueAt(place));
    if (!isSameJson(held ?? null, value)) throw new PatchMisfit(failed);
  }

  /** What is before the first slash does not count, and the whole cannot be named this way. */
  #find(path: string): Place | undefined {
    const steps = path.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const key = steps.pop();
    if (key === undefined) return undefined;
    let container: DraftValue | undefined = this.root;
    for (const step of steps) {
      if (Array.isArray(container)) container = container[placeIn(step, container.length) ?? container.length];
      else container = isDraft(container) ? read(container, step) : undefined;
    }
    return Array.isArray(container) || isDraft(container) ? { container, key } : undefined;
  }
}

/** A place in the document: a field of an object or an index of a list. */
interface Place {
  readonly container: Container;
  readonly key: string;
}

function insert({ container, key }: Place, value: DraftValue): void {
  if (!Array.isArray(container)) put(container, key, value);
  else if (key === "-") container.push(value);
  else {
    if (!isIndex(key)) throw new PatchMisfit(`value was not a proper array index: '${key}': ${notNumeric(key)}`);
    container.splice(indexIn(key, container.length + 1), 0, value);
  }
}

function remove({ container, key }: Place): void {
  if (Array.isArray(container)) container.splice(indexIn(key, container.length), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw new PatchMisfit(`Unable to remove nonexistent key: ${key}: missing value`);
}

/** @returns undefined for a field that is not there */
function valueAt({ container, key }: Place): DraftValue | undefined {
  return Array.isArray(container) ? container[indexIn(key, container.length)] : read(container, key);
}

/** Puts before what goes wrong inside what it happened to. */
function within<Result>(title: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw error instanceof PatchMisfit ? new PatchMisfit(`${title}: ${error.why}`) : error;
  }
}

function missing(operation: string, what: string): never {
  throw new PatchMisfit(`${operation} operation does not apply: doc is missing ${what}: missing value`);
}

function isIndex(step: string): boolean {
  return /^[+-]?\d+$/.test(step);
}

function notNumeric(step: string): string {
  return `strconv.Atoi: parsing ${JSON.stringify(step)}: invalid syntax`;
}

/** The place that a step names in a list of some length; -1 is the last one. */
function placeIn(step: string, length: number): number | undefined {
  const index = isIndex(step) ? Number(step) : NaN;
  const place = index < 0 ? index + length : index;
  return place >= 0 && place < length ? place : undefined;
}

function indexIn(step: string, length: number): number {
  if (!isIndex(step)) throw new PatchMisfit(notNumeric(step));
  const place = placeIn(step, length);
  if (place === undefined) {
    throw new PatchMisfit(`Unable to access invalid index: ${Number(step)}: invalid index referenced`);
  }
  return place;
}

function pathOf(operation: JsonObject, name: string, key: "path" | "from" = "path"): string {
  const value = read(operation, key);
  if (typeof value === "string") return value;
  throw new PatchMisfit(`${name} operation failed to decode ${key}: missing value`);
}

function valueOf(operation: JsonObject): DraftValue {
  return draftOf(read(operation, "value") ?? null);
}
