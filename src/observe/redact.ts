/**
 * Values and text from elsewhere, made safe to show. redact() is the one place that removes secrets (security 5);
 * escaped() and printable() remove what could move a cursor, begin a second line or reverse text (security 19).
 *
 * redact() handles every field of every log record. It masks values under names such as Authorization, token, password
 * or client-key-data at any depth; `data` and `stringData` of Secrets; the status of ExecCredentials and the output of
 * exec plugins; the last-applied annotation; and, inside any text, bearer tokens, private keys, passwords in URLs and
 * the secret lines of a kubeconfig.
 *
 * Guarantees: the result is plain, finite data for any input, also for cycles, getters that throw and endless
 * structures. The patterns take linear time: their repetitions are bounded, or cannot start inside what they scanned.
 */

/** The text that replaces a secret. */
export const mask = "[masked]";

/** Plain data: the types of JSON. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

/** Names whose values are secret, in lower case and without `-`, `_` and `.`. */
const secretNames: ReadonlySet<string> = new Set([
  "accesstoken",
  "apikey",
  "authorization",
  "bearertoken",
  "clientkeydata",
  "clientsecret",
  "cookie",
  "execoutput",
  "idtoken",
  "passphrase",
  "passwd",
  "password",
  "privatekey",
  "proxyauthorization",
  "refreshtoken",
  "secretkey",
  "setcookie",
  "stdout",
  "token",
  // kubectl.kubernetes.io/last-applied-configuration holds the whole object, so a Secret's data as well.
  "kubectlkubernetesio/lastappliedconfiguration",
]);

/** Longer texts are cut before they are searched; a log field is shorter anyway. */
const maxTextLength = 16_384;
const maxDepth = 8;
const maxEntries = 200;
const maxValues = 2_000;

/** `text` without its secrets. */
export function redactText(text: string): string {
  // A Secret as JSON or YAML inside a text: the end of its data is unknown, so the whole text is masked.
  if (/\bkind["']?\s{0,8}[:=]\s{0,8}["']?(?:Secret|ExecCredential)(?:List)?\b/.test(text)) return mask;
  return text.slice(0, maxTextLength)
    .replace(/-----BEGIN ([A-Z0-9 ]{0,40})PRIVATE KEY-----[^]*?(?:-----END \1PRIVATE KEY-----|$)/g, mask)
    .replace(/(last-applied-configuration\\*["']?\s{0,8}[:=]\s{0,8})[^]*$/g, `$1${mask}`)
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${mask}`)
    .replace(/(?<![\w-])eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g, mask)
    .replace(/(:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,1024}@/g, `$1${mask}@`)
    .replace(
      /\b((?:id-|access-|refresh-|bearer-)?token|password|client-key-data|client-secret)(\\*["']?\s{0,8}[:=]\s{0,8}\\*["']?)[^\s"'\\,;&}]+/gi,
      `$1$2${mask}`,
    );
}

/** The message of an error and of its causes, without secrets. */
export function errorText(error: unknown): string {
  const parts: string[] = [];
  for (let at = error, depth = 0; at !== undefined && depth < maxDepth; depth++) {
    parts.push(textWithoutCauses(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return redactText(parts.join(": caused by: "));
}

function textWithoutCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.message === "" ? error.name : error.message;
  if (!(error instanceof AggregateError) || error.errors.length === 0) return text;
  return `${text} (${error.errors.slice(0, maxDepth).map(textWithoutCauses).join("; ")})`;
}

/** A plain copy of `value` without its secrets. Errors become their messages. */
export function redact(value: unknown): Plain {
  try {
    return new Redaction().plain(value, 0, false);
  } catch (error) {
    return `[unreadable: ${errorText(error)}]`;
  }
}

/** True when the value under this name is secret. */
export function isSecretName(name: string): boolean {
  return secretNames.has(name.toLowerCase().replace(/[-_.]/g, ""));
}

/** One walk through one value. It bounds how much it copies. */
class Redaction {
  readonly #open = new Set<object>();
  #values = 0;

  plain(value: unknown, depth: number, isKnownSecret: boolean): Plain {
    if (++this.#values > maxValues) return "[…]";
    switch (typeof value) {
      case "string":
        return redactText(value);
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
    if (depth >= maxDepth || this.#open.has(value)) return "[…]";
    this.#open.add(value);
    try {
      if (Array.isArray(value) || value instanceof Set) return this.#array(value, depth, isKnownSecret);
      if (value instanceof Map || value instanceof Headers) return this.#entries(value.entries(), depth, false);
      if (value instanceof URL) return redactText(value.href);
      const json = "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON() : value;
      if (json !== value) return this.plain(json, depth + 1, isKnownSecret);
      return this.#entries(Object.entries(value), depth, isKnownSecret || isSecret(value));
    } finally {
      this.#open.delete(value);
    }
  }

  #array(values: Iterable<unknown>, depth: number, isKnownSecret: boolean): Plain {
    const plain: Plain[] = [];
    for (const value of values) {
      if (plain.length >= maxEntries) return [...plain, "[…]"];
      plain.push(this.plain(value, depth + 1, isKnownSecret));
    }
    return plain;
  }

  #entries(entries: Iterable<readonly [unknown, unknown]>, depth: number, isKnownSecret: boolean): Plain {
    const plain: [string, Plain][] = [];
    for (const [key, value] of entries) {
      if (plain.length >= maxEntries) {
        plain.push(["…", "[…]"]);
        break;
      }
      const name = String(key);
      plain.push([name, this.#value(name, value, depth, isKnownSecret)]);
    }
    // fromEntries defines properties instead of assigning them, so `__proto__` stays an ordinary key.
    return Object.fromEntries(plain);
  }

  #value(name: string, value: unknown, depth: number, isKnownSecret: boolean): Plain {
    if (isSecretName(name) && value !== undefined && value !== null) return mask;
    if (isKnownSecret && (name === "data" || name === "stringData" || name === "status")) return maskedValues(value);
    return this.plain(value, depth + 1, isKnownSecret && name === "items");
  }
}

/** Keeps the keys of a Secret's data, which are not secret and help the reader. */
function maskedValues(value: unknown): Plain {
  if (typeof value !== "object" || value === null) return mask;
  return Object.fromEntries(Object.keys(value).slice(0, maxEntries).map((key) => [key, mask]));
}

/** True for Secrets, lists of Secrets (whose items have no kind) and the output of exec plugins. */
function isSecret(value: object): boolean {
  const kind = "kind" in value ? value.kind : undefined;
  return kind === "Secret" || kind === "SecretList" || kind === "ExecCredential";
}

/** C0 and C1 controls, DEL, line and paragraph separators, bidirectional controls, zero-width characters, lone surrogates. */
const unsafe =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu;

/** `text` with every unsafe character written as `\uXXXX`, so that a log shows what was there. */
export function escaped(text: string): string {
  return text.replace(unsafe, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Terminal sequences: CSI, OSC and those of two characters, matched with their parameters. */
// deno-lint-ignore no-control-regex
const escapeSequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
// deno-lint-ignore no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/g;

/**
 * `text` on one line and without its unsafe characters and escape sequences, so that it reads well in an error message.
 *
 * @param maxLength The most characters of the result, without the ellipsis.
 */
export function printable(text: string, maxLength = 1024): string {
  const clean = text.slice(0, maxLength * 2).replace(escapeSequences, "").replace(unprintable, " ").trim();
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength)}…`;
}
