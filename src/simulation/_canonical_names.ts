/**
 * CanonicalNames: names of objects and texts in a form in which runs can be compared. Names that the server or the operator
 * generated are replaced by their role: the namespace, the prefix and the controlling owner. UIDs are replaced by the names
 * of their objects, and times by `<time>`, also inside of longer texts.
 *
 * Guarantees: two runs that differ only in generated names, UIDs and times have equal canonical names and texts.
 * Caveats: a reference to one of several objects with one role does not say which of them it is.
 */
import { controllerOf, type KubeObject } from "../api/mod.ts";

/** An object with its collection: `deployments.apps`. */
export interface SummaryObject {
  readonly collection: string;
  readonly object: KubeObject;
}

/** What runs without faults have taught about names. */
export interface LearnedNames {
  /** The objects that exist under the same name in all of them. */
  readonly stable: ReadonlySet<string>;
  /** The roles of those that do not. */
  readonly generatedRoles: ReadonlySet<string>;
}

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)/g;

/** Shorter names are too common in other texts to be replaced there. */
const minReplacedName = 4;

/** How far owners are followed. */
const maxOwners = 8;

/** `deployments.apps default/web`. */
export function nameOf(collection: string, { metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? `${collection} ${name}` : `${collection} ${namespace}/${name}`;
}

/** A canonical name for people: `persistentvolumes pvc-<UID of persistentvolumeclaims default/a>`. */
export function shownName(name: string): string {
  return name.replaceAll(/<uid((?::[^<>]*)?)>/g, (_, rest: string) => `<UID${rest.replaceAll(":", " ")}>`);
}

/** The names of one run. */
export class CanonicalNames {
  readonly #learned: LearnedNames | undefined;
  readonly #live: ReadonlySet<string>;
  readonly #byUid = new Map<string, SummaryObject>();
  readonly #generated = new Map<string, string>();
  readonly #pattern: RegExp | undefined;

  /** @param all the objects that existed at any moment @param live those at the end @param learned from other runs */
  constructor(all: readonly SummaryObject[], live: readonly SummaryObject[], learned?: LearnedNames) {
    this.#learned = learned;
    this.#live = new Set(live.map(({ object }) => object.metadata.uid ?? ""));
    for (const one of [...all, ...live]) {
      const { uid } = one.object.metadata;
      if (uid !== undefined) this.#byUid.set(uid, one);
    }
    const withoutUid = live.filter(({ object }) => object.metadata.uid === undefined);
    for (const one of [...this.#byUid.values(), ...withoutUid]) {
      const { name = "" } = one.object.metadata;
      if (this.isGenerated(one) && name.length >= minReplacedName) this.#generated.set(name, this.#roleName(one));
    }
    const names = [...this.#generated.keys()].sort((one, other) => other.length - one.length).map(escaped);
    if (names.length > 0) this.#pattern = new RegExp(`(?<![\\w-])(?:${names.join("|")})(?![\\w])`, "g");
  }

  /** True when another run gives the object another name. */
  isGenerated({ collection, object }: SummaryObject): boolean {
    const { generateName, name = "" } = object.metadata;
    if (generateName !== undefined && name.startsWith(generateName)) return true;
    return this.#learned !== undefined && !this.#learned.stable.has(nameOf(collection, object)) &&
      this.#learned.generatedRoles.has(roleOf({ collection, object }));
  }

  /** The name of an object; objects with the same role have the same one. */
  nameOf(one: SummaryObject): string {
    if (this.isGenerated(one)) return `${one.collection} ${this.#roleName(one)}`;
    const { namespace, name = "" } = one.object.metadata;
    return `${one.collection} ${this.keyOf(namespace === undefined ? name : `${namespace}/${name}`)}`;
  }

  /** A key, as `default/web`, without UIDs. It has no spaces. */
  keyOf(key: string): string {
    return this.#withoutUids(key).replaceAll(" ", ":");
  }

  /** A text without UIDs, times and generated names. */
  replace(text: string): string {
    if (text.length < minReplacedName) return text;
    const plain = this.#withoutUids(text).replaceAll(timePattern, "<time>");
    return this.#pattern === undefined
      ? plain
      : plain.replaceAll(this.#pattern, (name) => this.#generated.get(name) ?? name);
  }

  /** A reference to an object that no longer exists is not one to a newer object of the same name. */
  #withoutUids(text: string): string {
    if (text.length < 36) return text;
    return text.replaceAll(uidPattern, (uid) => {
      const known = this.#byUid.get(uid);
      if (known === undefined) return "<uid>";
      return this.#live.has(uid) ? `<uid of ${this.#shortName(known)}>` : "<uid of a deleted object>";
    });
  }

  /** As {@link nameOf}, without following UIDs inside of names. */
  #shortName(one: SummaryObject): string {
    return this.isGenerated(one) ? `${one.collection} ${this.#roleName(one)}` : nameOf(one.collection, one.object);
  }

  #roleName(one: SummaryObject, depth = 0): string {
    const { namespace, name = "" } = one.object.metadata;
    const owner = this.#byUid.get(controllerOf(one.object)?.uid ?? "");
    const of = owner === undefined || depth > maxOwners ? "" : `(${this.#ownerName(owner, depth + 1)})`;
    return `${namespace === undefined ? "" : `${namespace}/`}${prefixOf(one.object, name)}*${of}`;
  }

  #ownerName(owner: SummaryObject, depth: number): string {
    const { kind, metadata: { name } } = owner.object;
    return this.isGenerated(owner) ? this.#roleName(owner, depth) : `${kind}/${name}`;
  }
}

/** The role of an object: what stays the same when its name is generated anew. Without its owner, whose name may vary too. */
export function roleOf({ collection, object }: SummaryObject): string {
  const { namespace = "", name = "" } = object.metadata;
  const owner = controllerOf(object);
  return `${collection} ${namespace}/${prefixOf(object, name)}* ${owner?.kind ?? ""}`;
}

/** What runs without faults teach about the names of their objects. @param runs the objects of each run */
export function learnNames(runs: readonly (readonly SummaryObject[])[]): LearnedNames {
  const named = runs.map((objects) => new Map(objects.map((one) => [nameOf(one.collection, one.object), one])));
  const stable = new Set([...named[0]?.keys() ?? []].filter((name) => named.every((names) => names.has(name))));
  // A role is generated when each run has objects with it, and at least one of them under another name.
  const unstable = named.map((names) =>
    new Set([...names].flatMap(([name, one]) => stable.has(name) ? [] : [roleOf(one)]))
  );
  const generatedRoles = [...unstable[0] ?? []].filter((role) => unstable.every((roles) => roles.has(role)));
  return { stable, generatedRoles: new Set(generatedRoles) };
}

/** The part of a name before its last, generated one. */
function prefixOf({ metadata: { generateName } }: KubeObject, name: string): string {
  if (generateName !== undefined && name.startsWith(generateName)) return generateName;
  return name.slice(0, name.lastIndexOf("-") + 1);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
