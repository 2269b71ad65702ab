/**
 * redact(): the one place where secrets are taken out of what is shown (behaviours.md, security 5).
 *
 * Every field of every log record goes through it. Taken out are: values under names such as Authorization, token,
 * password or client-key-data, at any depth; `data` and `stringData` of Secrets; the status of ExecCredentials and the
 * output of exec plugins; the last-applied annotation; and, inside any text, bearer tokens, private keys, passwords in
 * URLs and the secret lines of a kubeconfig. The result is plain, finite data whatever went in: cycles, getters that
 * throw and endless structures included. The patterns take linear time: their repetitions are bounded, or cannot begin again inside what they scanned.
 */

/** What stands in place of a secret. */
export const mask = "[masked]";

/** Plain data: what JSON can say. */
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

/** Longer texts are cut before they are searched; nothing that long is shown whole. */
const longestText = 16_384;
const deepest = 8;
const mostEntries = 200;
const mostValues = 2_000;

/** A text without its secrets. */
export function redactText(text: string): string {
  // A Secret as JSON or YAML inside a text: where its data ends cannot be told, so all of it goes.
  if (/\bkind["']?\s{0,8}[:=]\s{0,8}["']?(?:Secret|ExecCredential)(?:List)?\b/.test(text)) return mask;
  return text.slice(0, longestText)
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

/** What an error says, with its causes. */
export function errorText(error: unknown): string {
  const parts: string[] = [];
  for (let at = error, depth = 0; at !== undefined && depth < deepest; depth++) {
    parts.push(ownText(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return redactText(parts.join(": caused by: "));
}

function ownText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.message === "" ? error.name : error.message;
  if (!(error instanceof AggregateError) || error.errors.length === 0) return text;
  return `${text} (${error.errors.slice(0, deepest).map(ownText).join("; ")})`;
}

/** A plain copy of `value` without its secrets. Errors become their text. */
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

/** One walk through one value, with a bound on how much it copies. */
class Redaction {
  readonly #open = new Set<object>();
  #values = 0;

  plain(value: unknown, depth: number, secretItems: boolean): Plain {
    if (++this.#values > mostValues) return "[…]";
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
        return value === null ? null : this.#object(value, depth, secretItems);
      default:
        return "[unknown]";
    }
  }

  #object(value: object, depth: number, secretItems: boolean): Plain {
    if (value instanceof Error) return errorText(value);
    if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (depth >= deepest || this.#open.has(value)) return "[…]";
    this.#open.add(value);
    try {
      if (Array.isArray(value) || value instanceof Set) return this.#array(value, depth, secretItems);
      if (value instanceof Map || value instanceof Headers) return this.#entries(value.entries(), depth, false);
      if (value instanceof URL) return redactText(value.href);
      const json = "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON() : value;
      if (json !== value) return this.plain(json, depth + 1, secretItems);
      return this.#entries(Object.entries(value), depth, secretItems || isSecret(value));
    } finally {
      this.#open.delete(value);
    }
  }

  #array(values: Iterable<unknown>, depth: number, secretItems: boolean): Plain {
    const plain: Plain[] = [];
    for (const value of values) {
      if (plain.length >= mostEntries) return [...plain, "[…]"];
      plain.push(this.plain(value, depth + 1, secretItems));
    }
    return plain;
  }

  #entries(entries: Iterable<readonly [unknown, unknown]>, depth: number, secretItems: boolean): Plain {
    const plain: [string, Plain][] = [];
    for (const [key, value] of entries) {
      if (plain.length >= mostEntries) {
        plain.push(["…", "[…]"]);
        break;
      }
      const name = String(key);
      plain.push([name, this.#value(name, value, depth, secretItems)]);
    }
    // Defines properties instead of assigning them, so that a key `__proto__` is a key.
    return Object.fromEntries(plain);
  }

  #value(name: string, value: unknown, depth: number, secretItems: boolean): Plain {
    if (isSecretName(name) && value !== undefined && value !== null) return mask;
    if (secretItems && (name === "data" || name === "stringData" || name === "status")) return maskedValues(value);
    return this.plain(value, depth + 1, secretItems && name === "items");
  }
}

/** The names of a Secret's data are no secret, and help. */
function maskedValues(value: unknown): Plain {
  if (typeof value !== "object" || value === null) return mask;
  return Object.fromEntries(Object.keys(value).slice(0, mostEntries).map((key) => [key, mask]));
}

/** Secrets, lists of them (whose items carry no kind) and what exec plugins answer. */
function isSecret(value: object): boolean {
  const kind = "kind" in value ? value.kind : undefined;
  return kind === "Secret" || kind === "SecretList" || kind === "ExecCredential";
}
