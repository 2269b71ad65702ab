/**
 * The wire types of all built-in kinds, by name. Texts are split into lines when a package is first used, lines into
 * fields when a struct is: starting the server costs nothing, and a test that stores ConfigMaps reads five structs.
 */
import { packages } from "./generated/packages.ts";
import type { WireStruct } from "./wire_type.ts";
import { readStruct } from "./_wire_text.ts";

const lines = new Map<string, ReadonlyMap<string, string>>();
const structs = new Map<string, WireStruct>();

/**
 * A struct by its name, e.g. `core/v1.PodSpec`.
 *
 * @throws RangeError when there is none
 */
export function wireStruct(name: string): WireStruct {
  const known = structs.get(name);
  if (known !== undefined) return known;
  const [packageName, goName] = splitName(name);
  const line = linesOf(packageName).get(goName);
  if (line === undefined) throw new RangeError(`Cannot find the type ${name}: no such type`);
  const struct = readStruct(packageName, packages.get(packageName)?.fullName ?? "", line);
  structs.set(name, struct);
  return struct;
}

/** The name of a struct's component in OpenAPI, e.g. `io.k8s.api.core.v1.PodSpec`. */
export function fullNameOf(name: string): string {
  const [packageName, goName] = splitName(name);
  return `${packages.get(packageName)?.fullName ?? ""}.${goName}`;
}

/** The names of all structs of a package, e.g. `core/v1`. */
export function structNames(packageName: string): readonly string[] {
  return [...linesOf(packageName).keys()].map((goName) => `${packageName}.${goName}`);
}

/** The names of all packages. */
export function packageNames(): readonly string[] {
  return [...packages.keys()];
}

function splitName(name: string): readonly [string, string] {
  const dot = name.indexOf(".");
  return [name.slice(0, dot), name.slice(dot + 1)];
}

function linesOf(packageName: string): ReadonlyMap<string, string> {
  const known = lines.get(packageName);
  if (known !== undefined) return known;
  const text = packages.get(packageName)?.text ?? "";
  const read = new Map(text.trim().split("\n").map((line) => [line.slice(0, line.indexOf("\t")), line] as const));
  lines.set(packageName, read);
  return read;
}
