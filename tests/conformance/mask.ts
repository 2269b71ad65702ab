/**
 * Mask: makes the answers of two servers comparable. What must differ (UIDs, versions, times, addresses) becomes a word
 * with a number, the same for the same value within one run, so that "equal to the one before" is still compared.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Fields that never agree, by name, and the word that stands for each. */
const volatile: Readonly<Record<string, string>> = {
  uid: "uid",
  resourceVersion: "version",
  continue: "token",
  creationTimestamp: "time",
  deletionTimestamp: "time",
  time: "time",
  lastTransitionTime: "time",
  lastUpdateTime: "time",
  lastProbeTime: "time",
  startTime: "time",
  completionTime: "time",
  renewTime: "time",
  acquireTime: "time",
  clusterIP: "address",
  nodePort: "port",
  token: "token",
  expirationTimestamp: "time",
  storageVersionHash: "hash",
};

/** One run's mask. */
export class Mask {
  readonly #unique: string;
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(unique: string) {
    this.#unique = unique;
  }

  /** The run's own word, and whatever has been masked before, out of a text. */
  text(text: string): string {
    let masked = text.replaceAll(this.#unique, "UNIQUE");
    for (const [value, word] of this.#known) if (value.length >= 6) masked = masked.replaceAll(value, word);
    return masked;
  }

  value(value: unknown, key = ""): Json {
    const word = Object.hasOwn(volatile, key) ? volatile[key] : undefined;
    if (
      word !== undefined && (typeof value === "string" || typeof value === "number") && value !== "" && value !== "None"
    ) {
      return this.#word(word, `${value}`);
    }
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) {
      return value.map((item) => this.value(item, key === "clusterIPs" ? "clusterIP" : ""));
    }
    if (typeof value !== "object" || value === null) return value as Json;
    const entries = Object.entries(value).map(([name, item]) =>
      [this.text(name), this.#field(name, item, value)] as const
    );
    return Object.fromEntries(entries.toSorted(([left], [right]) => left < right ? -1 : 1));
  }

  /** A name that the server made is masked by what it was made from. */
  #field(name: string, item: unknown, holder: object): Json {
    const stem = (holder as { readonly generateName?: unknown }).generateName;
    if (name === "name" && typeof item === "string" && typeof stem === "string" && item.startsWith(stem)) {
      return this.#word("generated", item);
    }
    return this.value(item, name);
  }

  #word(kind: string, value: string): string {
    const known = this.#known.get(`${value}`);
    if (known !== undefined && known.startsWith(`<${kind} `)) return known;
    // Two servers tick differently: times are not told apart.
    if (kind === "time") return "<time>";
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const word = `<${kind} ${number}>`;
    this.#known.set(value, word);
    return word;
  }
}
