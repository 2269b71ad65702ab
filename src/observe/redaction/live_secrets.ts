/**
 * LiveSecrets: the credentials that this process uses, as literal texts, so that no log shows one, whatever text it is part
 * of and whatever shape it has. Who loads a credential adds it, again after each rotation (client's Masked does).
 *
 * Guarantees: a credential is found as it is, in Base64 at any offset, URL-encoded, JSON-escaped, and cut off. Memory is
 * bounded: the credential that was used least recently is forgotten first. mask() takes linear time.
 * Caveats: a credential of less than 6 characters is not added, because it would be found inside of ordinary words.
 */
import { Buffer } from "node:buffer";

/** The text that replaces a secret. */
export const mask = "[masked]";

/** Characters of a credential; also of the window that finds one. */
const minLength = 6;
/** Longer texts than any token or key are not credentials. */
const maxLength = 64 * 1024;
/** The beginning of a credential is masked from this length on where a text ends, or was shortened. */
const minCut = 8;
/** The beginning of a credential is masked from this length on wherever it is. */
const minPrefix = 16;
const maxCredentials = 256;
/** All forms of all credentials together, in characters. */
const maxTotalLength = 4 * 1024 * 1024;

/** Counts what a search looks at, for tests of its time. */
export interface Work {
  steps: number;
}

/** One text that stands for a credential. */
interface Form {
  readonly text: string;
  /** The characters around it belong to the same encoded text. */
  readonly isBase64: boolean;
}

export class LiveSecrets {
  /** The least recently used one first. */
  readonly #credentials = new Map<string, readonly Form[]>();
  /** The forms by the hash of their first characters. */
  readonly #byHash = new Map<number, Form[]>();
  #totalLength = 0;

  /** How many credentials are known. */
  get size(): number {
    return this.#credentials.size;
  }

  /** Adds a credential, or keeps it for longer. A certificate is none; an Authorization header is its token. */
  add(credential: string): void {
    const text = credential.trim().replace(/^(?:Bearer|Basic)\s+/i, "");
    if (text.length < minLength || text.length > maxLength) return;
    const known = this.#credentials.get(text);
    if (known !== undefined) {
      this.#credentials.delete(text);
      this.#credentials.set(text, known);
      return;
    }
    if (text.includes("-----BEGIN ") && !text.includes("PRIVATE KEY-----")) return;
    const forms = formsOf(text);
    this.#credentials.set(text, forms);
    for (const form of forms) {
      const hash = hashAt(form.text, 0);
      const same = this.#byHash.get(hash);
      if (same === undefined) this.#byHash.set(hash, [form]);
      else same.push(form);
      this.#totalLength += form.text.length;
    }
    while (this.#credentials.size > maxCredentials || this.#totalLength > maxTotalLength) this.#forgetOldest();
  }

  /** `text` with every known credential masked. */
  mask(text: string, work: Work = { steps: 0 }): string {
    if (this.#byHash.size === 0 || text.length < minLength) return text;
    let shown = "", from = 0, at = 0, hash = hashAt(text, 0);
    work.steps += text.length;
    while (at + minLength <= text.length) {
      const found = this.#longestAt(text, at, this.#byHash.get(hash), work);
      if (found.end === at) {
        if (at + minLength === text.length) break;
        hash = nextHash(hash, text.charCodeAt(at), text.charCodeAt(at + minLength));
        at += 1;
        continue;
      }
      let [start, end] = [at, found.end];
      if (found.isBase64) {
        while (start > from && isBase64(text.charCodeAt(start - 1))) start -= 1;
        while (end < text.length && isBase64(text.charCodeAt(end))) end += 1;
      }
      shown += text.slice(from, start) + mask;
      from = at = end;
      if (at + minLength <= text.length) hash = hashAt(text, at);
    }
    return from === 0 ? text : shown + text.slice(from);
  }

  /** The end of the longest form that begins at `at`; `at` for none. */
  #longestAt(text: string, at: number, forms: readonly Form[] | undefined, work: Work) {
    let longest = { end: at, isBase64: false };
    for (const form of forms ?? []) {
      let length = 0;
      while (length < form.text.length && form.text.charCodeAt(length) === text.charCodeAt(at + length)) length += 1;
      work.steps += length;
      const isShown = length === form.text.length || length >= minPrefix ||
        (length >= minCut && isCutAt(text, at + length));
      if (isShown && at + length > longest.end) longest = { end: at + length, isBase64: form.isBase64 };
    }
    return longest;
  }

  #forgetOldest(): void {
    for (const [credential, forms] of this.#credentials) {
      this.#credentials.delete(credential);
      for (const form of forms) {
        const hash = hashAt(form.text, 0);
        const others = this.#byHash.get(hash)?.filter((other) => other !== form) ?? [];
        if (others.length === 0) this.#byHash.delete(hash);
        else this.#byHash.set(hash, others);
        this.#totalLength -= form.text.length;
      }
      return;
    }
  }
}

/** The credentials of this process. */
export const liveSecrets: LiveSecrets = new LiveSecrets();

/** The texts that stand for a credential; each line of a key is one, because keys are shown line by line. */
function formsOf(credential: string): readonly Form[] {
  const texts = new Set([credential]);
  if (credential.includes("-----BEGIN ")) {
    for (const line of credential.split(/\r?\n/)) {
      if (line.length >= minPrefix && !line.startsWith("-")) texts.add(line);
    }
  }
  for (const text of [...texts]) {
    const json = JSON.stringify(text).slice(1, -1);
    texts.add(json).add(JSON.stringify(json).slice(1, -1));
    const url = encodeURIComponent(text.toWellFormed());
    texts.add(url).add(url.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())).add(
      url.replaceAll("%20", "+"),
    );
  }
  const bytes = new TextEncoder().encode(credential);
  const encoded = [0, 1, 2].flatMap((offset) => base64Forms(bytes, offset));
  return [
    ...[...texts].map((text) => ({ text, isBase64: false })),
    ...[...new Set(encoded)].map((text) => ({ text, isBase64: true })),
  ].filter(({ text }) => text.length >= minLength);
}

/** The Base64 of `bytes` where they begin `offset` bytes after a multiple of three, without characters of their neighbours. */
function base64Forms(bytes: Uint8Array, offset: number): readonly string[] {
  const shifted = new Uint8Array(offset + bytes.length);
  shifted.set(bytes, offset);
  const whole = shifted.length - shifted.length % 3;
  const text = Buffer.from(shifted.buffer, 0, whole).toString("base64").slice(offset === 0 ? 0 : offset + 1);
  return [text, text.replaceAll("+", "-").replaceAll("/", "_")];
}

const base = 257;
/** base to the power of minLength - 1, modulo 2 ** 32. */
const highest = Array.from({ length: minLength - 1 }).reduce((power: number) => Math.imul(power, base), 1);

/** The hash of the first {@link minLength} characters from `at`. */
function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let index = at; index < at + minLength; index++) hash = Math.imul(hash, base) + text.charCodeAt(index) | 0;
  return hash;
}

/** The hash of the window that is one character further (Rabin and Karp). */
function nextHash(hash: number, leaving: number, entering: number): number {
  return Math.imul(hash - Math.imul(leaving, highest), base) + entering | 0;
}

/** True where a text ends, or where a writer has shortened it. */
function isCutAt(text: string, at: number): boolean {
  return at === text.length || text.startsWith("…", at) || text.startsWith("...", at);
}

function isBase64(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) ||
    code === 0x2b || code === 0x2f || code === 0x2d || code === 0x5f || code === 0x3d;
}
