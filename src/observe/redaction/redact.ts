/**
 * Values made safe to show: redact() and redactText() are the one place that removes secrets (security 5).
 *
 * redact() handles every field of every log record. It masks values under secret names (`secret_names.ts`) at any depth;
 * `data` and `stringData` of Secrets; the status of ExecCredentials and the output of exec plugins; and, inside any text,
 * the credentials of this process (`live_secrets.ts`) and what looks like a secret (`secret_shapes.ts`).
 *
 * Guarantees: the result is plain, finite data for any input, also for cycles, getters that throw and endless structures,
 * and takes linear time.
 */
import { liveSecrets, mask } from "./live_secrets.ts";
import { isSecretName } from "./secret_names.ts";
import { maskShapes } from "./secret_shapes.ts";

/** Plain data: the types of JSON. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

/** Longer texts are cut; a log field is shorter anyway. */
const maxTextLength = 16_384;
/** Longer texts are cut before they are searched. */
const maxSearchedLength = 4 * maxTextLength;
const maxDepth = 8;
const maxEntries = 200;
const maxValues = 2_000;

/** How much of a value is kept. */
interface Limits {
  readonly depth: number;
  readonly entries: number;
  readonly values: number;
  readonly text: (text: string) => string;
}

/** Of a log field. */
const fieldLimits: Limits = { depth: maxDepth, entries: maxEntries, values: maxValues, text: redactText };

/** Of a response, which a parser has bounded already. It accepts no deeper objects than 512. */
const wholeLimits: Limits = {
  depth: 600,
  entries: Infinity,
  values: Infinity,
  text: (text) => maskShapes(liveSecrets.mask(text)),
};

/** `text` without its secrets. */
export function redactText(text: string): string {
  return maskShapes(liveSecrets.mask(searched(text))).slice(0, maxTextLength);
}

/** The part of a text to search. It ends between two words, so that it has no beginning of a secret. */
function searched(text: string): string {
  if (text.length <= maxSearchedLength) return text;
  const cut = text.slice(0, maxSearchedLength);
  const end = Math.max(cut.lastIndexOf(" "), cut.lastIndexOf("\n"));
  return end > maxTextLength ? cut.slice(0, end) : cut;
}

/**
 * The message of an error and of its causes, without secrets. Guarantees: it is never empty, and any thrown value has one,
 * because this text is needed where a failure is handled.
 */
export function errorText(error: unknown): string {
  const parts: string[] = [];
  for (let at = error, depth = 0; depth < maxDepth; depth++) {
    const text = textWithoutCauses(at);
    // Many errors end with the text of their cause already.
    if (parts.at(-1)?.endsWith(text) !== true) parts.push(text);
    at = causeOf(at);
    if (at === undefined || at === null) break;
  }
  return redactText(parts.join(": caused by: "));
}

/** What an error is when its fields cannot be read. */
const unreadable = "an error that cannot be read";

function textWithoutCauses(error: unknown, depth = 0): string {
  try {
    if (!(error instanceof Error)) return textOfThrown(error);
    const text = String(error.message ?? "") || String(error.name) || "Error";
    if (!(error instanceof AggregateError) || error.errors.length === 0 || depth === maxDepth) return text;
    const several = error.errors.slice(0, maxDepth).map((one) =>
      one === error ? "itself" : textWithoutCauses(one, depth + 1)
    );
    return `${text} (${several.join("; ")})`;
  } catch {
    return unreadable;
  }
}

function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.cause : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a thrown value that is no Error, such as a rejection without a reason. */
function textOfThrown(value: unknown): string {
  if (value === undefined || value === null) return `${value} was thrown instead of an Error`;
  if (value === "") return "an empty text was thrown instead of an Error";
  if (typeof value !== "object") return String(value);
  const message: unknown = Reflect.get(value, "message");
  return typeof message === "string" && message !== "" ? message : JSON.stringify(redact(value));
}

/** A plain copy of `value` without its secrets. Errors become their messages. */
export function redact(value: unknown): Plain {
  return redactWithin(value, fieldLimits);
}

/** As {@link redact}, but nothing is left out: for responses that a user reads in full. */
export function redactWhole(value: unknown): Plain {
  return redactWithin(value, wholeLimits);
}

function redactWithin(value: unknown, limits: Limits): Plain {
  try {
    return new Redaction(limits).plain(value, 0, false);
  } catch (error) {
    return `[unreadable: ${errorText(error)}]`;
  }
}

/** One walk through one value. It bounds how much it copies. */
class Redaction {
  readonly #open = new Set<object>();
  readonly #limits: Limits;
  #values = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  plain(value: unknown, depth: number, isKnownSecret: boolean): Plain {
    if (++this.#values > this.#limits.values) return "[…]";
    switch (typeof value) {
      case "string":
        return this.#limits.text(value);
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "boolean":
        return value;
      case "bigint":
      case "symbol":
      case "undefined":
        return String(value);
      case "function":
        return "[function]";
      case "object":
        return value === null ? null : this.#object(value, depth, isKnownSecret);
      default:
        return "[unknown]";
    }
  }

  #object(value: object, depth: number, isKnownSecret: boolean): Plain {
    if (value instanceof Error) return errorText(value);
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (depth >= this.#limits.depth || this.#open.has(value)) return "[…]";
    this.#open.add(value);
    try {
      if (Array.isArray(value) || value instanceof Set) return this.#array(value, depth, isKnownSecret);
      if (value instanceof Map || value instanceof Headers) return this.#entries(value.entries(), depth, false);
      if (value instanceof URL) return redactText(value.href);
      const json = "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON() : value;
      if (json !== value) return this.plain(json, depth + 1, isKnownSecret);
      return this.#entries(
        Object.entries(isNamedSecret(value) ? { ...value, value: mask } : value),
        depth,
        isKnownSecret || isSecret(value),
      );
    } finally {
      this.#open.delete(value);
    }
  }

  #array(values: Iterable<unknown>, depth: number, isKnownSecret: boolean): Plain {
    const plain: Plain[] = [];
    // A pair such as `["authorization", "…"]`, which is how headers are listed.
    if (Array.isArray(values) && values.length === 2 && typeof values[0] === "string" && isSecretName(values[0])) {
      return [redactText(values[0]), mask];
    }
    for (const value of values) {
      if (plain.length >= this.#limits.entries) return [...plain, "[…]"];
      plain.push(this.plain(value, depth + 1, isKnownSecret));
    }
    return plain;
  }

  #entries(entries: Iterable<readonly [unknown, unknown]>, depth: number, isKnownSecret: boolean): Plain {
    const plain: [string, Plain][] = [];
    for (const [key, value] of entries) {
      if (plain.length >= this.#limits.entries) {
        plain.push(["…", "[…]"]);
        break;
      }
      const name = redactText(String(key));
      plain.push([name, this.#value(name, value, depth, isKnownSecret)]);
    }
    // fromEntries defines properties instead of assigning them, so `__proto__` stays an ordinary key.
    return Object.fromEntries(plain);
  }

  #value(name: string, value: unknown, depth: number, isKnownSecret: boolean): Plain {
    if (value !== undefined && value !== null && (isSecretName(name) || name === "stdout")) return mask;
    if (isKnownSecret && (name === "data" || name === "stringData" || name === "status")) {
      return maskedValues(value, this.#limits.entries);
    }
    return this.plain(value, depth + 1, isKnownSecret && name === "items");
  }
}

/** Keeps the keys of a Secret's data, which are not secret and help the reader. */
function maskedValues(value: unknown, maxCount: number): Plain {
  if (typeof value !== "object" || value === null) return mask;
  return Object.fromEntries(Object.keys(value).slice(0, maxCount).map((key) => [key, mask]));
}

/** True for Secrets, lists of Secrets (whose items have no kind) and the output of exec plugins. */
function isSecret(value: object): boolean {
  const kind = "kind" in value ? value.kind : undefined;
  return kind === "Secret" || kind === "SecretList" || kind === "ExecCredential";
}

/** True for a pair such as `{ name: "API_TOKEN", value: "…" }`, which is how variables and headers are listed. */
function isNamedSecret(value: object): boolean {
  return "value" in value && "name" in value && typeof value.name === "string" && isSecretName(value.name);
}
