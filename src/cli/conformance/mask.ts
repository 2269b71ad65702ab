/**
 * Mask: makes the responses of two servers comparable. Values that must differ (UIDs, versions, times, addresses) become a
 * word with a number, the same for equal values within one run, so that equality is still compared.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Fields that never agree, by name, and the word that replaces each value. */
const volatile: ReadonlyMap<string, string> = new Map([
  ["uid", "uid"],
  ["resourceVersion", "version"],
  ["continue", "token"],
  ["creationTimestamp", "time"],
  ["deletionTimestamp", "time"],
  ["time", "time"],
  ["lastTransitionTime", "time"],
  ["lastUpdateTime", "time"],
  ["lastProbeTime", "time"],
  ["lastHeartbeatTime", "time"],
  ["startTime", "time"],
  ["completionTime", "time"],
  ["expirationTimestamp", "time"],
  ["clusterIP", "address"],
  ["nodePort", "port"],
  ["healthCheckNodePort", "port"],
  ["token", "secret"],
  ["storageVersionHash", "hash"],
]);

/** Parts of texts that never agree: present versions, ages, addresses, ports of the loopback. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/(must have the same UID: )[0-9a-f-]{36}/g, "$1<uid>"],
  [/(does not match the UID in record \()[0-9a-f-]{36}/g, "$1<uid>"],
  [/(response\.uid=\\?")[0-9a-f-]{36}/g, "$1<uid>"],
  [/(too old resource version: \d+) \(\d+\)/g, "$1 (<version>)"],
  [/(Too large resource version: \d+, current: )\d+/g, "$1<version>"],
  [/(the ResourceVersion in record \()\d+/g, "$1<version>"],
  [/(\\"resourceVersion\\":\\")\d+/g, "$1<version>"],
  [/("resourceVersion":")\d+/g, "$1<version>"],
  [/("uid":")[0-9a-f-]{36}/g, "$1<uid>"],
  [/(\\"uid\\":\\")[0-9a-f-]{36}/g, "$1<uid>"],
  [/(controller-uid(?:=|":"))[0-9a-f-]{36}/g, "$1<uid>"],
  [/(\bcontinue=)eyJ[\w-]{20,}/g, "$1<token>"],
  [/\b10\.96\.\d+\.\d+\b/g, "<address>"],
  // The real server ends a message about fields that must not change with a diff of Go structs, ours with their names.
  [/(?<=(?:may not|is immutable) [^\n]*)\n@@ [^\n]*\n(?:[ +@-][^\n]*\n)*/g, "; <changed fields>"],
  [/; this update changes "[^"]*"(?:(?:,| and) "[^"]*")*(?: and \d+ more)?/g, "; <changed fields>"],
  [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/g, "<uid>"],
  [/(UID of the service account \()[0-9a-f-]{36}/g, "$1<uid>"],
  [/(UID mismatch: expected [0-9a-f-]{36} got |object reference \()[0-9a-f-]{36}/g, "$1<uid>"],
  [/\b(kube-api-access-)[a-z0-9]{5}\b/g, "$1GENERATED"],
  [/\bJTI=[0-9a-f-]{36}/g, "JTI=<id>"],
  [/\bX509SHA256=[0-9a-f]{64}/g, "X509SHA256=<hash>"],
  [/(?<=dial tcp 127\.0\.0\.1:)\d+/g, "<port>"],
  [/https?:\/\/127\.0\.0\.1:\d+/g, "<server>"],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\b/g, "<time>"],
];

/** The same for the output of kubectl: the width of a column depends on its longest cell. */
const printed: readonly (readonly [RegExp, string])[] = [
  [/^[EIW]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /gm, "<log> "],
  [/(pod-template-hash=)[a-z0-9]+/g, "$1<hash>"],
  [/(Resource Version: +|resource version to be 1, was )\d+/g, "$1<version>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uid>"],
  [/(resourceVersion"?: ?)"?\d+"?/g, "$1<version>"],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<token>"],
  [/\b3[0-2]\d{3}\b/g, "<port>"],
  [/(?<![\w.-])\d+(ms|s|m|h|d)(\d+s)?(?![\w.-])/g, "<age>"],
  [/ {2,}/g, "  "],
  [/-{2,}/g, "--"],
  [/ +$/gm, ""],
];

/** Versions that cases invent for their requests. */
const madeUp: ReadonlySet<string> = new Set(["0", "1", "5", "999999999"]);

/** The length to which the API server shortens a generateName before it appends five characters. */
const longestStem = 58;

/** Fields of lists, or of the part that a case reads: their version depends on other writers. */
const ofMany = ["items", "rows", "names"];

const age = /^(<unknown>|<invalid>|\d+(ms|s|m|h|d|y)(\d+(s|m|h|d))?)$/;

/** One run's mask. */
export class Mask {
  readonly #unique: string;
  readonly #known = new Map<string, string>();
  readonly #stems = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(unique: string) {
    this.#unique = unique;
  }

  /** Replaces the run's unique word, and every value that was masked before, in a text. */
  text(text: string): string {
    let masked = text.replaceAll(this.#unique, "UNIQUE");
    for (const stem of this.#stems) {
      // Node 22 has no RegExp.escape.
      const pattern = stem.replaceAll(/\W/g, "\\$&");
      masked = masked.replaceAll(new RegExp(`${pattern}[a-z0-9]{5}\\b`, "g"), `${stem}GENERATED`);
    }
    for (const [value, word] of this.#known) if (value.length >= 6) masked = masked.replaceAll(value, word);
    for (const [pattern, word] of patterns) masked = masked.replace(pattern, word);
    return masked.replace(
      /(resourceVersion=)(\d+)/g,
      (all, name, version) => madeUp.has(version) ? all : `${name}<version>`,
    );
  }

  /** Masks the output of a program. */
  output(text: string): string {
    let masked = this.text(text);
    for (const [pattern, word] of printed) masked = masked.replace(pattern, word);
    return masked;
  }

  /** From now on masks the names that a server generates from this prefix. */
  addStem(generateName: string): void {
    this.#stems.add(generateName.slice(0, longestStem));
  }

  value(value: unknown, key = ""): Json {
    const word = volatile.get(key);
    const isPlain = (typeof value === "string" && value !== "" && value !== "None") || typeof value === "number";
    if (word !== undefined && isPlain) return this.#word(word, `${value}`);
    if (typeof value === "string") return this.text(value);
    // A recording is read by JSON.parse, which has no integers beyond 2^53.
    if (typeof value === "bigint") return `${value}n`;
    if (Array.isArray(value)) return value.map((item) => this.#item(item, key));
    if (typeof value !== "object" || value === null) return value as Json;
    const entries = Object.entries(value).map(([name, item]) =>
      [this.text(name), this.#field(name, item, value)] as const
    );
    return Object.fromEntries(entries.toSorted(([left], [right]) => left < right ? -1 : 1));
  }

  #item(item: unknown, key: string): Json {
    if (key === "cells" && typeof item === "string" && age.test(item)) return "<age>";
    return this.value(item, key === "clusterIPs" ? "clusterIP" : "");
  }

  /** Replaces a generated name by its prefix, and a version of many objects by a word. */
  #field(name: string, item: unknown, holder: object): Json {
    const { generateName } = holder as { readonly generateName?: unknown };
    if (name === "name" && typeof item === "string" && typeof generateName === "string") {
      if (item.startsWith(generateName)) return this.#word("generated", item);
    }
    const isOfMany = ofMany.some((member) => Object.hasOwn(holder, member)) || isBookmark(holder);
    if (name === "metadata" && isOfMany && typeof item === "object" && item !== null) return this.#listMeta(item);
    if (name === "object" && isBookmark(holder)) return this.#bookmark(item);
    if (name === "managedFields" && Array.isArray(item)) {
      return item.map((entry) => this.value(entry)).toSorted(byManager);
    }
    if (name === "columnDefinitions" && Array.isArray(item)) return item.map((column) => this.#column(column));
    return this.value(item, name);
  }

  /** The descriptions of columns differ; ours are empty. */
  #column(column: unknown): Json {
    const { description: _, ...rest } = Object(column);
    return this.value(rest);
  }

  #listMeta(metadata: object): Json {
    if (!Object.hasOwn(metadata, "resourceVersion")) return this.value(metadata);
    return { ...Object(this.value({ ...metadata, resourceVersion: "" })), resourceVersion: "<version>" };
  }

  #bookmark(object: unknown): Json {
    if (typeof object !== "object" || object === null || !("metadata" in object)) return this.value(object);
    const { metadata } = object;
    const masked = this.value({ ...object, metadata: undefined });
    return { ...Object(masked), metadata: this.#listMeta(Object(metadata)) };
  }

  #word(kind: string, value: string): string {
    // The clocks of two servers differ: times are not compared, and neither are counts of fields of other managers.
    if (kind === "time") return "<time>";
    const known = this.#known.get(value);
    if (known !== undefined && known.startsWith(`<${kind}`)) return known;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    // Two pages have equal tokens if nothing was written between them, in any namespace.
    const word = kind === "token" ? "<token>" : `<${kind} ${number}>`;
    this.#known.set(value, word);
    return word;
  }
}

function isBookmark(holder: object): boolean {
  return "type" in holder && holder.type === "BOOKMARK";
}

/** Servers sort them by time in seconds, so the order depends on whether a second passed between two writes. */
function byManager(left: Json, right: Json): number {
  return managerOf(left) < managerOf(right) ? -1 : 1;
}

function managerOf(entry: Json): string {
  const { operation, manager, subresource, apiVersion } = Object(entry);
  return JSON.stringify([operation, manager, subresource, apiVersion]);
}
