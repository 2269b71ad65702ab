/**
 * JSON patch (RFC 6902) with the semantics of kube-apiserver, which uses evanphx/json-patch v4: indices may be negative,
 * `replace` of a missing field sets it, `copy` of one copies null, `test` of one succeeds against null.
 *
 * Guarantees: it works on a copy, so a patch that cannot be applied changes nothing.
 */
import { pointerKeys } from "../../api/mod.ts";
import {
  badRequest,
  type Draft,
  draftOf,
  type DraftValue,
  goJson,
  isDraft,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  jsonTypeName,
  put,
  read,
  StatusError,
} from "../model/mod.ts";

/** As apiserver `endpoints/handlers/patch.go`. */
const maxOperations = 10_000;

/**
 * The largest sum of the bytes that `copy` operations add, as apiserver `server/config.go` (JSONPatchMaxCopyBytes). Without
 * it, a patch of 20 operations that each copy a field into itself would create gigabytes.
 */
const maxCopiedBytes = 3 * 1024 * 1024;

/** How the server handles mistakes in a patch. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** A patched object, and the problems of the patch itself. */
export interface Patched {
  readonly object: Draft;
  /** `json patch unknown field "[0].foo"`: warnings or a rejection, depending on the field validation. */
  readonly problems: readonly string[];
}

/**
 * The object after the operations of a patch.
 *
 * @throws StatusError 400 when it is malformed, 413 when it has too many operations
 * @throws PatchApplyError when an operation cannot be applied, or the copies are too large
 */
export function jsonPatch(object: JsonObject, patch: Json, validation: FieldValidation = "Warn"): Patched {
  if (patch === null) return { object: draftOf(object), problems: [] };
  const problems = validation === "Ignore" ? [] : problemsOf(patch);
  if (!isJsonArray(patch)) throw notDecoded(patch, "jsonpatch.Patch");
  const operations = patch.map((operation) => {
    if (operation === null) return {};
    if (!isJsonObject(operation)) throw notDecoded(operation, "jsonpatch.Operation");
    return operation;
  });
  if (operations.length > maxOperations) {
    const why = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${operations.length}`;
    throw new StatusError(413, "RequestEntityTooLarge", `Request entity too large: ${why}`);
  }
  const document = new Document(draftOf(object));
  for (const operation of operations) document.apply(operation);
  const { root } = document;
  if (!isDraft(root)) throw new PatchApplyError("the patched document is not an object");
  return { object: root, problems };
}

function notDecoded(value: Json, type: string): StatusError {
  return badRequest(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${type}`);
}

/** The patch cannot be applied: 422 without the reason, as kube-apiserver. */
export class PatchApplyError extends StatusError {
  /** The reason, in the text of evanphx/json-patch, for messages about patches of webhooks. */
  readonly why: string;

  constructor(why: string) {
    super(422, "Invalid", "the server rejected our request due to an error in our request", {});
    this.why = why;
  }
}

const knownFields: ReadonlySet<string> = new Set(["op", "path", "from", "value"]);

/** The problems in the structure of a patch. @throws StatusError 400 when it cannot be decoded */
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

function undecodable(value: Json, into: string): StatusError {
  return badRequest(`error decoding patch: json: cannot unmarshal ${jsonTypeName(value)} into ${into}`);
}

/** The object or list at the end of a path. */
type Container = Draft | DraftValue[];

/** An object while the operations of a patch change it. */
class Document {
  root: DraftValue;
  #copiedBytes = 0;

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
        throw new PatchApplyError(`Unexpected kind: ${typeof name === "string" ? name : "unknown"}`);
    }
  }

  #add(path: string, value: DraftValue): void {
    const location = this.#find(path) ?? missing("add", `path: "${path}"`);
    within(`error in add for path: '${path}'`, () => insert(location, value));
  }

  #remove(path: string): void {
    const location = this.#find(path) ?? missing("remove", `path: "${path}"`);
    within(`error in remove for path: '${path}'`, () => remove(location));
  }

  #replace(path: string, value: DraftValue): void {
    if (path === "") {
      if (typeof value !== "object" || value === null) {
        throw new PatchApplyError("replace operation value must be object or array: %!w(<nil>)");
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
        throw new PatchApplyError("missing value");
      }
    });
    container[index] = value;
  }

  #move(operation: JsonObject): void {
    const from = pathOf(operation, "move", "from");
    const source = this.#find(from) ?? missing("move", `from path: ${from}`);
    const value = within(`error in move for path: '${source.key}'`, () => {
      const moved = valueAt(source);
      remove(source);
      return moved;
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
    this.#countCopy(value ?? null);
    within("error while adding value during copy", () => insert(target, draftOf(value ?? null)));
  }

  /** Counts the size of a copy before it is made. */
  #countCopy(value: Json): void {
    this.#copiedBytes += new TextEncoder().encode(goJson(value)).length;
    if (this.#copiedBytes <= maxCopiedBytes) return;
    throw new PatchApplyError(
      `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, ` +
        `exceeding the limit ${maxCopiedBytes}`,
    );
  }

  #test(path: string, value: Json): void {
    const failed = `testing value ${path} failed: test failed`;
    if (path === "") {
      if (!isSameJson(this.root, value)) throw new PatchApplyError(failed);
      return;
    }
    const location = this.#find(path);
    if (location === undefined) {
      throw new PatchApplyError(`test operation does not apply: is missing path: ${path}: missing value`);
    }
    const actual = within(`error in test for path: '${path}'`, () => valueAt(location));
    if (!isSameJson(actual ?? null, value)) throw new PatchApplyError(failed);
  }

  /** Text before the first slash is ignored. The root has no location. */
  #find(path: string): Location | undefined {
    const steps = [...pointerKeys(path)];
    const key = steps.pop();
    if (key === undefined) return undefined;
    let container: DraftValue | undefined = this.root;
    for (const step of steps) {
      if (Array.isArray(container)) container = container[arrayIndexOf(step, container.length) ?? container.length];
      else container = isDraft(container) ? read(container, step) : undefined;
    }
    return Array.isArray(container) || isDraft(container) ? { container, key } : undefined;
  }
}

/** A location in the document: a field of an object or an index of a list. */
interface Location {
  readonly container: Container;
  readonly key: string;
}

function insert({ container, key }: Location, value: DraftValue): void {
  if (!Array.isArray(container)) put(container, key, value);
  else if (key === "-") container.push(value);
  else {
    if (!isIndex(key)) throw new PatchApplyError(`value was not a proper array index: '${key}': ${notNumeric(key)}`);
    container.splice(indexIn(key, container.length + 1), 0, value);
  }
}

function remove({ container, key }: Location): void {
  if (Array.isArray(container)) container.splice(indexIn(key, container.length), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw new PatchApplyError(`Unable to remove nonexistent key: ${key}: missing value`);
}

/** @returns undefined for a missing field */
function valueAt({ container, key }: Location): DraftValue | undefined {
  return Array.isArray(container) ? container[indexIn(key, container.length)] : read(container, key);
}

/** Adds a title to the error of an action. */
function within<Result>(title: string, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw error instanceof PatchApplyError ? new PatchApplyError(`${title}: ${error.why}`) : error;
  }
}

function missing(operation: string, what: string): never {
  throw new PatchApplyError(`${operation} operation does not apply: doc is missing ${what}: missing value`);
}

function isIndex(step: string): boolean {
  return /^[+-]?\d+$/.test(step);
}

function notNumeric(step: string): string {
  return `strconv.Atoi: parsing ${JSON.stringify(step)}: invalid syntax`;
}

/** The index of a step in a list; -1 is the last item. */
function arrayIndexOf(step: string, length: number): number | undefined {
  const index = isIndex(step) ? Number(step) : NaN;
  const location = index < 0 ? index + length : index;
  return location >= 0 && location < length ? location : undefined;
}

function indexIn(step: string, length: number): number {
  if (!isIndex(step)) throw new PatchApplyError(notNumeric(step));
  const location = arrayIndexOf(step, length);
  if (location === undefined) {
    throw new PatchApplyError(`Unable to access invalid index: ${Number(step)}: invalid index referenced`);
  }
  return location;
}

function pathOf(operation: JsonObject, name: string, key: "path" | "from" = "path"): string {
  const value = read(operation, key);
  if (typeof value === "string") return value;
  throw new PatchApplyError(`${name} operation failed to decode ${key}: missing value`);
}

function valueOf(operation: JsonObject): DraftValue {
  return draftOf(read(operation, "value") ?? null);
}
