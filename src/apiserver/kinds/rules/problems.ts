/**
 * Problems: collects the errors of an object while its rules check it (field.ErrorList of apimachinery), and FieldPath: the path
 * of the field that is checked (field.Path). A path becomes text only for a field that has an error.
 */
import { printExactJson } from "../../../api/mod.ts";
import { type FieldError, isJsonObject, type Json, type JsonObject } from "../../model/mod.ts";

/** The path of a field. */
export class FieldPath {
  readonly #parent: FieldPath | undefined;
  readonly #step: string;

  private constructor(parent: FieldPath | undefined, step: string) {
    this.#parent = parent;
    this.#step = step;
  }

  /** A path from the root of an object: `spec.template`. */
  static of(...names: readonly string[]): FieldPath {
    return names.reduce<FieldPath>((path, name) => path.child(name), FieldPath.root);
  }

  /** A field of the object at this path. */
  child(...names: readonly string[]): FieldPath {
    return names.reduce<FieldPath>(
      (path, name) => new FieldPath(path, path === FieldPath.root ? name : `.${name}`),
      this,
    );
  }

  /** An item of the list at this path. */
  index(index: number): FieldPath {
    return new FieldPath(this, `[${index}]`);
  }

  /** A value of the map at this path. */
  key(key: string): FieldPath {
    return new FieldPath(this, `[${key}]`);
  }

  toString(): string {
    return (this.#parent?.toString() ?? "") + this.#step;
  }

  /** The root of an object. */
  static readonly root = new FieldPath(undefined, "");
}

/** Collects field errors. */
export class Problems {
  readonly #errors: FieldError[] = [];

  get list(): readonly FieldError[] {
    return this.#errors;
  }

  get count(): number {
    return this.#errors.length;
  }

  required(path: FieldPath, detail = ""): void {
    this.#errors.push({ type: "Required", field: path.toString(), detail });
  }

  invalid(path: FieldPath, value: Json, detail: string): void {
    this.#errors.push({ type: "Invalid", field: path.toString(), value, detail });
  }

  /** An Invalid error without the value. */
  invalidWithoutValue(path: FieldPath, detail: string): void {
    this.#errors.push({ type: "Invalid", field: path.toString(), detail });
  }

  /** One Invalid error for each text. */
  invalidAll(path: FieldPath, value: Json, details: readonly string[]): void {
    for (const detail of details) this.invalid(path, value, detail);
  }

  /** @param supported in the order of the message */
  notSupported(path: FieldPath, value: Json, supported: readonly string[]): void {
    const detail = supported.length === 0
      ? ""
      : `supported values: ${supported.map((known) => printExactJson(known)).join(", ")}`;
    this.#errors.push({ type: "NotSupported", field: path.toString(), value, detail });
  }

  /** A NotSupported error for an object, whose fields are shown in this order. */
  notSupportedStruct(path: FieldPath, value: JsonObject, supported: readonly string[]): void {
    const detail = `supported values: ${supported.map((known) => printExactJson(known)).join(", ")}`;
    this.#errors.push({ type: "NotSupported", field: path.toString(), value, shown: printExactJson(value), detail });
  }

  /** @param value an object is shown with its fields in this order, as Go shows structs */
  duplicate(path: FieldPath, value: Json, detail = ""): void {
    const shown = isJsonObject(value) ? { shown: printExactJson(value) } : {};
    this.#errors.push({ type: "Duplicate", field: path.toString(), value, detail, ...shown });
  }

  /** An Invalid error for an object, whose fields are shown in this order. */
  invalidStruct(path: FieldPath, value: JsonObject, detail: string): void {
    this.#errors.push({ type: "Invalid", field: path.toString(), value, shown: printExactJson(value), detail });
  }

  notFound(path: FieldPath, value: Json, detail = ""): void {
    this.#errors.push({ type: "NotFound", field: path.toString(), value, detail });
  }

  internal(path: FieldPath, detail: string): void {
    this.#errors.push({ type: "Internal", field: path.toString(), detail });
  }

  forbidden(path: FieldPath, detail: string): void {
    this.#errors.push({ type: "Forbidden", field: path.toString(), detail });
  }

  /** @param bytes the limit */
  tooLong(path: FieldPath, bytes: number): void {
    const detail = `may not be more than ${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
    this.#errors.push({ type: "TooLong", field: path.toString(), detail });
  }

  tooMany(path: FieldPath, count: number, max: number): void {
    const detail = `must have at most ${max} ${max === 1 ? "item" : "items"}`;
    this.#errors.push({ type: "TooMany", field: path.toString(), value: count, detail });
  }

  add(errors: readonly FieldError[]): void {
    this.#errors.push(...errors);
  }
}
