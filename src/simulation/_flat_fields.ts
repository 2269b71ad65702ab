/**
 * flatFields(): the fields of an object as paths and values in which runs can be compared: without metadata that says when and
 * how often the object was written, with canonical names (see CanonicalNames), and with items of lists under their map key.
 *
 * Guarantees: the order of a list with a map key does not matter, but for init containers, which run in their order, and neither
 * does that of scalars in a status.
 */
import { isJsonObject, type KubeObject, printExactJson } from "../api/mod.ts";
import type { CanonicalNames } from "./_canonical_names.ts";

/** Metadata that differs between equal runs: it says when and how often an object was written, or which one it is. */
const transientMetadata: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
  "name",
  "namespace",
  "generateName",
  "selfLink",
]);

/** The fields that identify the items of Kubernetes' lists, most common first. */
const mapKeys = ["name", "type", "key", "containerPort", "port", "ip", "mountPath", "devicePath", "topologyKey", "uid"];

/** Numbers that are times between 2023 and 2027, in seconds or milliseconds. */
const timeRanges = [[1.7e9, 1.8e9], [1.7e12, 1.8e12]] as const;

/** Lists of scalars that are sets. */
const setPath = /^\.status\b|\.finalizers$|\.(?:verbs|resources|apiGroups|accessModes)$/;
/** Lists with a map key whose order has a meaning. */
const orderedPath = /\.initContainers$/;
const versionName = /resourceversion$/i;
const generationName = /generations?$/i;

/** Calls `put` for each field. Fields of the status whose names say that they are generations are compared with `generation`. */
export function flatFields(
  object: KubeObject,
  names: CanonicalNames,
  put: (path: string, value: string) => void,
): void {
  new Flattener(names, put).object(object);
}

class Flattener {
  readonly #names: CanonicalNames;
  readonly #put: (path: string, value: string) => void;

  constructor(names: CanonicalNames, put: (path: string, value: string) => void) {
    this.#names = names;
    this.#put = put;
  }

  object({ metadata, ...rest }: KubeObject): void {
    const compared = Object.entries(metadata).filter(([key]) => !transientMetadata.has(key));
    this.#value(Object.fromEntries(compared), ".metadata");
    for (const [key, value] of Object.entries(rest)) {
      if (key === "status") this.#status(value, metadata.generation);
      else this.#value(value, `.${key}`);
    }
  }

  /** The observed generation may differ, but it must be the newest in both runs or in neither. */
  #status(status: unknown, generation: number | undefined): void {
    if (typeof status !== "object" || status === null) return;
    for (const [key, value] of Object.entries(status)) {
      if (key === "observedGeneration") this.#put(".status.observed", String(value === generation));
      else this.#value(value, `.status.${this.#names.replace(key)}`);
    }
  }

  #value(value: unknown, path: string): void {
    if (Array.isArray(value)) this.#list(value, path);
    else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (key !== "observedGeneration") this.#value(inner, `${path}.${this.#names.replace(key)}`);
      }
    } else this.#put(path, this.#scalar(value, path));
  }

  #list(items: readonly unknown[], path: string): void {
    const selectors = this.#selectors(items);
    if (selectors !== undefined) {
      items.forEach((item, index) => this.#value(item, `${path}[${selectors[index]}]`));
      if (orderedPath.test(path) && items.length > 1) this.#put(`${path}[order].name`, selectors.join(", "));
    } else if (setPath.test(path)) {
      const texts = items.map((item) => this.#text(item)).sort();
      texts.forEach((text, index) => this.#put(`${path}[${index}]`, text));
    } else items.forEach((item, index) => this.#value(item, `${path}[${index}]`));
  }

  /** `name=web` for each item; undefined when no field identifies all of them. */
  #selectors(items: readonly unknown[]): readonly string[] | undefined {
    if (items.length === 0 || !items.every(isJsonObject)) return undefined;
    for (const key of mapKeys) {
      const values = items.map((item) => item[key]);
      if (values.every((value) => typeof value === "string" || typeof value === "number")) {
        const selectors = values.map((value) => `${key}=${this.#names.replace(String(value))}`);
        if (new Set(selectors).size === selectors.length) return selectors;
      }
    }
    return undefined;
  }

  /** An item of a set as one text. */
  #text(item: unknown): string {
    const fields: string[] = [];
    new Flattener(this.#names, (path, value) => fields.push(`${path}=${value}`)).#value(item, "");
    return fields.sort().join(",");
  }

  #scalar(value: unknown, path: string): string {
    const name = path.slice(path.lastIndexOf(".") + 1);
    if (typeof value === "number") {
      if (generationName.test(name)) return "<generation>";
      return timeRanges.some(([from, to]) => value >= from && value < to) ? "<time>" : printExactJson(value);
    }
    if (typeof value !== "string") return printExactJson(value);
    if (/^\d+$/.test(value)) {
      if (versionName.test(name)) return "<version>";
      if (generationName.test(name)) return "<generation>";
      if (timeRanges.some(([from, to]) => Number(value) >= from && Number(value) < to)) return "<time>";
    }
    const text = this.#names.replace(value);
    return text.startsWith("<") && text.endsWith(">") && text.lastIndexOf("<") === 0 ? text : printExactJson(text);
  }
}
