/**
 * All built-in kinds, grouped by the collection that stores their objects. The API server registers them when it starts.
 */
import { type JsonObject, TypeLibrary } from "../model/mod.ts";
import { BuiltinKind } from "./builtin_kind.ts";
import { builtinTable, defaultingFunctions, ruleBook } from "./kind_groups.ts";
import { type BuiltinNames, readBuiltinNames } from "./kind_names.ts";
import type { KindRules, RuleBook } from "./rules/mod.ts";
import { fullNameOf, openApiOf, packageNames, structNames, TypeDefaulter, wireStruct } from "./types/mod.ts";

/** The built-in kinds whose objects are stored together. */
export interface BuiltinFamily {
  readonly collection: string;
  readonly served: readonly BuiltinKind[];
  readonly storage: BuiltinKind;
}

/** Options of {@link builtinFamilies}. */
export interface BuiltinKindsOptions {
  /** Rules that replace those of this folder, by `<kind>.<group>`. @default none */
  readonly rules?: RuleBook;
}

/** Kinds that are stored in the collection of another kind, by `<plural>.<group>`. */
const sharedCollections: ReadonlyMap<string, string> = new Map([["events.events.k8s.io", "events"]]);

/** The stored version of collections with several versions. */
const storageVersions: ReadonlyMap<string, string> = new Map([
  ["events", "v1"],
  ["horizontalpodautoscalers.autoscaling", "autoscaling/v2"],
]);

const noRules: KindRules = { depth: "schema" };

/**
 * Returns the families of all built-in kinds, in the order of discovery. Types and tables are read when they are first used.
 *
 * @example
 * ```ts
 * import { builtinFamilies } from "./mod.ts";
 *
 * const families = builtinFamilies();
 * const deployments = families.find(({ collection }) => collection === "deployments.apps");
 * console.assert(deployments?.storage.kind === "Deployment");
 * ```
 */
export function builtinFamilies(options: BuiltinKindsOptions = {}): readonly BuiltinFamily[] {
  const defaulter = new TypeDefaulter(defaultingFunctions);
  const byCollection = new Map<string, BuiltinKind[]>();
  for (const names of readBuiltinNames()) {
    const kind = new BuiltinKind({
      names,
      typeName: typeNameOf(names),
      collection: collectionOf(names),
      rules: rulesOf(names, options.rules),
      defaulter,
      types: typeLibrary,
      table: () => builtinTable(names),
    });
    byCollection.set(kind.collection, [...byCollection.get(kind.collection) ?? [], kind]);
  }
  return [...byCollection].flatMap(([collection, served]) => {
    const storage = served.find((kind) => isStored(kind, collection));
    return storage === undefined ? [] : [{ collection, served, storage }];
  });
}

/**
 * Returns the kinds that have no URL and are the body of a subresource: the TokenRequest of a ServiceAccount.
 *
 * @returns a family for each; discovery does not show them
 */
export function bodyFamilies(): readonly BuiltinFamily[] {
  const defaulter = new TypeDefaulter(defaultingFunctions);
  return bodyKinds.map((names) => {
    const kind = new BuiltinKind({
      names,
      typeName: typeNameOf(names),
      collection: collectionOf(names),
      rules: noRules,
      defaulter,
      types: typeLibrary,
      table: () => ({ columns: [], cells: () => [] }),
    });
    return { collection: kind.collection, served: [kind], storage: kind };
  });
}

const bodyKinds: readonly BuiltinNames[] = [{
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  plural: "tokenrequests",
  singular: "tokenrequest",
  listKind: "TokenRequestList",
  scope: "Namespaced",
  shortNames: [],
  categories: [],
  verbs: ["create"],
  storageVersionHash: "",
  subresources: new Map(),
}];

function isStored(kind: BuiltinKind, collection: string): boolean {
  const version = storageVersions.get(collection);
  return version === undefined || version === (kind.group === "" ? kind.version : `${kind.group}/${kind.version}`);
}

function collectionOf({ plural, group }: BuiltinNames): string {
  const name = group === "" ? plural : `${plural}.${group}`;
  return sharedCollections.get(name) ?? name;
}

function rulesOf({ kind, group, version }: BuiltinNames, others: RuleBook | undefined): KindRules {
  for (const book of others === undefined ? [ruleBook] : [others, ruleBook]) {
    const rules = book.get(`${kind}.${group}/${version}`) ?? book.get(`${kind}.${group}`);
    if (rules !== undefined) return rules;
  }
  return noRules;
}

/** Go packages have the name of the first part of their group, with these exceptions. */
const packagesOf: ReadonlyMap<string, string> = new Map([
  ["", "core"],
  ["rbac.authorization.k8s.io", "rbac"],
  ["flowcontrol.apiserver.k8s.io", "flowcontrol"],
]);

function typeNameOf({ group, version, kind }: BuiltinNames): string {
  return `${packagesOf.get(group) ?? group.split(".")[0]}/${version}.${kind}`;
}

let library: TypeLibrary | undefined;

/** All types, for patches and apply. A component is built when it is first read. */
export function typeLibrary(): TypeLibrary {
  library ??= new TypeLibrary(lazyComponents());
  return library;
}

function lazyComponents(): JsonObject {
  const components = {};
  for (const name of packageNames().flatMap(structNames)) {
    const struct = () => openApiOf(wireStruct(name));
    Object.defineProperty(components, fullNameOf(name), { enumerable: true, get: struct });
  }
  return components;
}
