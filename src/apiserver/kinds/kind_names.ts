/** The names of the built-in kinds, read from the generated text when the server starts, in the order of discovery. */
import type { KindNames, Subresource, Verb } from "../model/mod.ts";
import { names } from "./generated/names.ts";

/** The names and verbs of a built-in kind, as discovery shows them. */
export interface BuiltinNames extends KindNames {
  readonly verbs: readonly Verb[];
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** The storage version hash in discovery; "" for kinds that are not stored. */
  readonly storageVersionHash: string;
}

/** Reads the names of all built-in kinds. */
export function readBuiltinNames(): readonly BuiltinNames[] {
  return names.trim().split("\n").map(readLine);
}

/** The groups of the built-in kinds, in the order of discovery; "" is core. */
export function builtinGroups(): readonly string[] {
  return [...new Set(names.trim().split("\n").map((line) => line.slice(0, line.indexOf("|"))))];
}

function readLine(line: string): BuiltinNames {
  const [group = "", version = "", kind = "", plural = "", singular = "", scope, short = "", categories = "", ...rest] =
    line
      .split("|");
  const [verbs = "", storageVersionHash = "", subresources = ""] = rest;
  return {
    group,
    version,
    kind,
    plural,
    singular,
    listKind: `${kind}List`,
    scope: scope === "N" ? "Namespaced" : "Cluster",
    shortNames: splitList(short),
    categories: splitList(categories),
    verbs: verbsOf(verbs),
    storageVersionHash,
    subresources: new Map(
      subresources === "" ? [] : subresources.split(" ").map(readSubresource).map((part) => [part.name, part]),
    ),
  };
}

function readSubresource(text: string): Subresource {
  const [name = "", verbs = "", body = ""] = text.split(":");
  if (body === "") return { name, verbs: verbsOf(verbs) };
  const [group = "", version = "", kind = ""] = body.split("/");
  return { name, verbs: verbsOf(verbs), body: { group, version, kind } };
}

function splitList(text: string): readonly string[] {
  return text === "" ? [] : text.split(",");
}

const verbs: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function verbsOf(text: string): readonly Verb[] {
  const named = new Set(splitList(text));
  return verbs.filter((verb) => named.has(verb));
}
