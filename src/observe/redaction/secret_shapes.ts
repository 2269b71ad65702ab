/**
 * maskShapes() masks the secrets of a text that their surroundings or their own shape show: values after secret names
 * (`access_token="…"`, `password: …`, `--token …`), headers of authentication and cookies, credentials in URLs, private
 * keys, JSON Web Tokens, tokens with the prefix of a provider, and Secrets as JSON or YAML.
 *
 * Guarantees: one pass. Each character is looked at a bounded number of times, which `work` counts, so the time is linear
 * in the length of the text, whatever its author wants. What follows a quotation mark that is never closed is masked.
 */
import { mask, type Work } from "./live_secrets.ts";
import { isSecretName } from "./secret_names.ts";

/** `text` without the secrets that can be recognized. */
export function maskShapes(text: string, work: Work = { steps: 0 }): string {
  // The end of a Secret's data is unknown, so the whole text is masked.
  if (secretObject.test(text)) return mask;
  return new Scanner(text, work).run();
}

const secretObject = /\bkind\\{0,8}["']?\s{0,8}[:=]\s{0,8}\\{0,8}["']?(?:Secret|ExecCredential)(?:List)?\b/;

/** Names of headers whose whole line is secret. */
const headerName = /^(?:proxy-)?authorization$|^(?:set-)?cookie2?$/i;
/** Schemes of the Authorization header, in lower case. */
const schemes: ReadonlySet<string> = new Set(["basic", "bearer", "digest", "dpop", "hawk", "negotiate", "ntlm"]);
/** What follows the name of a scheme in a sentence. */
const prose = /^(?:auth|authentication|authorization|credentials?|error|headers?|realm|scheme|tokens?)\b/i;

/** Tokens that their beginning shows. Each expression ends where a text can no longer be such a token. */
const providerToken = new RegExp(
  "(?:" + [
    "(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])",
    "gh[oprsu]_[0-9A-Za-z]{16,}",
    "github_pat_\\w{16,}",
    "gl(?:pat|dt|rt|ptt|ft|soat|cbt)-[\\w-]{16,}",
    "(?:sk|rk|pk)(?:-|_live_|_test_)[\\w-]{16,}",
    "xox[abeoprs]-[\\w-]{10,}",
    "xapp-[\\w-]{10,}",
    "AIza[\\w-]{30,}",
    "ya29\\.[\\w-]{10,}",
    "GOCSPX-[\\w-]{16,}",
    "npm_[0-9A-Za-z]{16,}",
    "pypi-[\\w-]{16,}",
    "dckr_pat_[\\w-]{16,}",
    "dop_v1_[0-9a-f]{16,}",
    "hv[bs]\\.[\\w-]{16,}",
    "SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
    "sha256~[\\w-]{16,}",
    "k8s-aws-v1\\.[\\w-]+",
    "kubeconfig-(?:u|user)-\\w+(?:\\.\\w+)?:\\w{16,}",
    "hf_[0-9A-Za-z]{16,}",
    "AGE-SECRET-KEY-1[0-9A-Z]{16,}",
    // The bootstrap token of a cluster.
    "(?=[a-z]{0,5}\\d)[0-9a-z]{6}\\.(?=[a-z]{0,15}\\d)[0-9a-z]{16}(?![\\w.-])",
  ].join("|") + ")",
  "y",
);
/** Characters of the shortest token. */
const minToken = 14;
const jwt = /eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*){0,3}/y;
/** The Base64 of a PEM block. */
const encodedPem = /LS0tLS1CRUdJTi[\w+/-]*={0,2}/y;

/** What stands between the value of `name` and that of `value`. */
const namedValue = /\\{0,8}["']?[\s,;]{1,16}\\{0,8}["']?value\\{0,8}["']?\s{0,8}[:=]\s{0,8}/iy;
/** What stands between two texts of an array without spaces. */
const pair = /\\{0,8}["'],(?=\\{0,8}["'])/y;

/** Spaces between a name and its value. */
const maxSpaces = 16;

class Scanner {
  readonly #text: string;
  readonly #work: Work;
  #shown = "";
  /** No JSON Web Token begins before this. */
  #jwtFrom = 0;
  /** What was not copied yet begins here. */
  #from = 0;
  #at = 0;

  constructor(text: string, work: Work) {
    this.#text = text;
    this.#work = work;
  }

  run(): string {
    while (this.#at < this.#text.length) {
      const before = this.#at;
      if (isNamePart(this.#text.charCodeAt(before))) this.#name();
      else this.#at += 1;
      this.#work.steps += this.#at - before;
    }
    return this.#shown + this.#text.slice(this.#from);
  }

  /** Masks the text from `start` to `end` and continues there. */
  #mask(start: number, end: number): void {
    this.#shown += this.#text.slice(this.#from, start) + mask;
    this.#from = this.#at = end;
  }

  /** Reads a run of letters, digits, `_`, `-` and `.`: a name, a token, a scheme, or another word. */
  #name(): void {
    const text = this.#text, start = this.#at;
    let end = start + 1;
    while (end < text.length && isNamePart(text.charCodeAt(end))) end += 1;
    // Behind `%26` in a text that is URL-encoded.
    const name = text.slice(text[start - 1] === "%" ? Math.min(start + 2, end) : start, end);
    this.#at = end;
    if (name.endsWith("-----BEGIN")) return this.#pem(end - 10, end);
    if (text.startsWith("://", end)) return this.#url(end + 3);
    const value = this.#isPathEnd(start, name) ? undefined : this.#valueAfter(end, name);
    if (value !== undefined && this.#isSecretBefore(name, end)) return this.#value(start, name, value);
    const other = value ?? this.#otherValueAfter(start, end);
    if (value === undefined && other !== undefined && isSecretName(name)) return this.#value(start, name, other);
    if (name.length <= 9 && schemes.has(name.toLowerCase()) && this.#scheme(end)) return;
    this.#tokens(start, end);
  }

  /** A sentence goes on after `token-abc` in `"default/token-abc": not found`; an annotation has a value there. */
  #isPathEnd(start: number, name: string): boolean {
    return this.#text[start - 1] === "/" && this.#text[start + name.length] !== "=" && !name.startsWith("last-applied");
  }

  /** `secret` is the name of a value only where it is no word of a sentence. */
  #isSecretBefore(name: string, end: number): boolean {
    if (isSecretName(name)) return true;
    return name.toLowerCase() === "secret" && /^[\\"'=]/.test(this.#text.charAt(end));
  }

  /** Where the value of a name begins that ends at `end`; undefined without `:` or `=`. */
  #valueAfter(end: number, name: string): number | undefined {
    const text = this.#text;
    if (text[end] === "%" && /^%3[ad]/i.test(text.slice(end, end + 3))) return end + 3;
    let at = this.#quotesFrom(end);
    at = this.#spacesFrom(at);
    if (text[at] !== ":" && text[at] !== "=") return undefined;
    at += text[at + 1] === "=" || text[at + 1] === ">" ? 2 : 1;
    const from = this.#spacesFrom(at);
    // A value on the next line is indented, and a header has none there.
    const isOther = this.#isOnNextLine(from) && (text[from - 1] === "\n" || headerName.test(name));
    return isOther ? undefined : from;
  }

  /** True if a line ends between the separator and the value that begins at `at`. */
  #isOnNextLine(at: number): boolean {
    let space = at - 1;
    while (isSpace(this.#text.charCodeAt(space)) && this.#text[space] !== "\n") space -= 1;
    return this.#text[space] === "\n";
  }

  /** Where the value begins of a flag, an element of XML, a variable such as `name: X, value: …`, or a pair of texts. */
  #otherValueAfter(start: number, end: number): number | undefined {
    const text = this.#text, before = text[start - 1];
    if (text[start] === "-" && text[end] === " " && text[end + 1] !== "-") return end + 1;
    if (before === "<" && text[end] === ">") return end + 1;
    if (!isAfterValue(text.charCodeAt(end))) return undefined;
    this.#work.steps += 64;
    const value = Math.max(endOf(namedValue, text, end), isQuote(before) ? endOf(pair, text, end) : end);
    return value > end ? value : undefined;
  }

  #spacesFrom(at: number): number {
    let end = at;
    while (end - at < maxSpaces && isSpace(this.#text.charCodeAt(end))) end += 1;
    this.#work.steps += end - at;
    return end;
  }

  /** Behind a quotation mark and its backslashes, if there is one. */
  #quotesFrom(at: number): number {
    let end = at;
    while (end - at < maxSpaces && this.#text[end] === "\\") end += 1;
    this.#work.steps += end - at;
    return isQuote(this.#text[end]) ? end + 1 : at;
  }

  /** Masks the value that begins at `at`. */
  #value(start: number, name: string, at: number): void {
    const text = this.#text;
    if (this.#isOnNextLine(at)) return this.#mask(at, this.#blockEnd(at));
    if (text.startsWith("-----BEGIN ", at)) return;
    const opened = this.#quotesFrom(at);
    if (opened > at) return this.#mask(opened, this.#closingQuote(opened, text.slice(at, opened)));
    const first = text[at];
    if (first === "{" || first === "[") return this.#mask(at, this.#closingBracket(at));
    if ((first === "|" || first === ">") && /^[|>][+-]?\d?\r?\n/.test(text.slice(at, at + 5))) {
      return this.#mask(at, this.#blockEnd(at));
    }
    if (text[start - 1] === "<" && text[at - 1] === ">") return this.#mask(at, this.#elementEnd(at));
    if (headerName.test(name)) return this.#mask(at, this.#lineEnd(at, start));
    let scheme = at;
    while (scheme - at < 12 && isNamePart(text.charCodeAt(scheme))) scheme += 1;
    // `token: Bearer abc`: the value is the second word.
    if (schemes.has(text.slice(at, scheme).toLowerCase()) && text[scheme] === " ") {
      if (this.#scheme(scheme)) return;
    }
    // `invalid token: password=abc`: the secret is that of the second name.
    const inner = text.slice(at, Math.min(at + 64, text.length)).match(/^([\w.-]+)\\*["']?\s?[:=]/)?.[1];
    this.#work.steps += 64;
    if (inner !== undefined && isSecretName(inner)) return;
    const end = this.#bareEnd(at);
    if (end > at) this.#mask(at, end);
  }

  /** The end of a value without quotation marks. */
  #bareEnd(at: number): number {
    const text = this.#text;
    let end = at;
    for (; end < text.length; end++) {
      const char = text[end];
      if (isSpace(text.charCodeAt(end)) || char === "&" || char === "`" || isQuote(char)) break;
      if (char === "\\" && isQuote(text[this.#backslashesFrom(end)])) break;
      if (isListEnd(char) && !isNamePart(text.charCodeAt(end + 1))) break;
      if ((char === "," || char === ";") && this.#isNameNext(end + 1)) break;
    }
    this.#work.steps += end - at;
    return end;
  }

  #backslashesFrom(at: number): number {
    let end = at;
    while (end - at < 8 && this.#text[end] === "\\") end += 1;
    return end;
  }

  /** True where a list continues with another name, or with nothing. */
  #isNameNext(at: number): boolean {
    this.#work.steps += 64;
    return /^(?:\s|$|\\*["']|[\w.-]{1,48}\\*["']?\s?[:=])/.test(this.#text.slice(at, at + 64));
  }

  /** @param opening The quotation mark with its backslashes, which the closing one has as well. */
  #closingQuote(from: number, opening: string): number {
    const text = this.#text;
    let end = from;
    for (; end < text.length; end++) {
      if (!text.startsWith(opening, end) || isNamePart(text.charCodeAt(end + opening.length))) continue;
      // One more backslash escapes a quotation mark of the value.
      if (text[end - 1] !== "\\" || end === from) break;
      if (opening.length === 1 && isEven(this.#backslashesBefore(end))) break;
    }
    this.#work.steps += end - from;
    return end;
  }

  #backslashesBefore(end: number): number {
    let start = end;
    while (end - start < 64 && this.#text[start - 1] === "\\") start -= 1;
    return end - start;
  }

  /** The end of a header's line, or of the quotation that the header is in. */
  #lineEnd(at: number, nameStart: number): number {
    const text = this.#text, before = text[nameStart - 1];
    let end = at;
    while (
      end < text.length && text[end] !== "\n" && text[end] !== "\r" && !(isQuote(before) && text[end] === before)
    ) {
      end += 1;
    }
    this.#work.steps += end - at;
    return end;
  }

  #elementEnd(at: number): number {
    const end = this.#text.indexOf("<", at);
    this.#work.steps += (end === -1 ? this.#text.length : end) - at;
    return end === -1 ? this.#text.length : end;
  }

  #closingBracket(at: number): number {
    const text = this.#text;
    let end = at, depth = 0;
    for (; end < text.length; end++) {
      if (text[end] === "{" || text[end] === "[") depth += 1;
      if ((text[end] === "}" || text[end] === "]") && --depth === 0) return end + 1;
    }
    this.#work.steps += end - at;
    return end;
  }

  /** The end of a block of YAML: the line before the first one that is not indented. */
  #blockEnd(at: number): number {
    const text = this.#text;
    let end = text.indexOf("\n", at);
    while (end !== -1 && (text[end + 1] === " " || text[end + 1] === "\n")) end = text.indexOf("\n", end + 1);
    const last = end === -1 ? text.length : end;
    this.#work.steps += last - at;
    return last;
  }

  /** Masks the credentials after the name of a scheme. @returns false if a sentence follows */
  #scheme(end: number): boolean {
    const at = this.#text.startsWith("%20", end) ? end + 3 : this.#spacesFrom(end);
    if (at === end || prose.test(this.#text.slice(at, at + 20))) return false;
    let last = at;
    while (last < this.#text.length && isTokenPart(this.#text.charCodeAt(last))) last += 1;
    this.#work.steps += last - at;
    if (last === at) return false;
    // The parameters of Digest: `username="a", response="b"`.
    if (this.#text[last] === '"') last = this.#lineEnd(last, 0);
    this.#mask(at, last);
    return true;
  }

  #pem(start: number, end: number): void {
    const text = this.#text;
    if (!/^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/.test(text.slice(start, start + 80))) {
      this.#at = end;
      return;
    }
    const closing = text.indexOf("-----END ", end);
    const last = closing === -1 ? -1 : text.indexOf("-----", closing + 9);
    const until = last === -1 ? text.length : last + 5;
    this.#work.steps += until - end;
    this.#mask(start, until);
  }

  /** Masks the user information of a URL whose host begins at `at`. */
  #url(at: number): void {
    const text = this.#text;
    let end = at, authority = -1, last = -1, colon = -1;
    for (; end < text.length && !isUrlEnd(text.charCodeAt(end)); end++) {
      const char = text[end];
      if (end > at && text.startsWith("://", end)) break;
      if (char === "@" && (authority === -1 || !isPort(text, colon, authority))) last = end;
      if (char === ":" && colon === -1) colon = end;
      if (authority === -1 && (char === "/" || char === "?" || char === "#")) authority = end;
    }
    this.#work.steps += end - at;
    if (last === -1) {
      this.#at = at;
      return;
    }
    // A user name helps the reader; without a password it may be a token.
    this.#mask(colon !== -1 && colon < last ? colon + 1 : at, last);
  }

  /** Masks the tokens in a word. */
  #tokens(start: number, end: number): void {
    // Shorter words are no tokens, and most words are shorter.
    if (end - start < minToken && this.#text[end] !== "~") return;
    for (let at = start; at < end;) {
      const found = this.#tokenAt(at, start);
      if (found > at) this.#mask(at, found);
      at = found > at ? found : this.#nextPart(at, end);
    }
    this.#at = Math.max(this.#at, end);
  }

  /** The end of the token that begins at `at`; `at` for none. */
  #tokenAt(at: number, start: number): number {
    const text = this.#text;
    if (text.startsWith("eyJ", at)) return this.#jwtAt(at);
    if (text.startsWith("LS0tLS1CRUdJTi", at)) {
      return isPrivateKey(text.slice(at, at + 64)) ? endOf(encodedPem, text, at) : at;
    }
    return at === start || text[at - 1] !== "-" ? endOf(providerToken, text, at) : at;
  }

  /** The header of a JSON Web Token ends with a dot; a word without one is read once. */
  #jwtAt(at: number): number {
    if (at < this.#jwtFrom) return at;
    const found = endOf(jwt, this.#text, at);
    if (found === at) {
      let end = at;
      while (end < this.#text.length && isNamePart(this.#text.charCodeAt(end)) && this.#text[end] !== ".") end += 1;
      this.#work.steps += end - at;
      this.#jwtFrom = end - at < 11 ? at + 1 : end;
    }
    return found;
  }

  /** The next place of a word where a token can begin: behind a separator, or `eyJ`. */
  #nextPart(at: number, end: number): number {
    const text = this.#text;
    let next = at + 1;
    while (next < end && !isSeparator(text[next - 1]) && !text.startsWith("eyJ", next)) next += 1;
    this.#work.steps += next - at;
    return next;
  }
}

/** Where a sticky expression ends that matches at `at`; `at` if it does not match. */
function endOf(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
}

/** True for the Base64 of a text that says PRIVATE KEY. */
function isPrivateKey(base64: string): boolean {
  try {
    return atob(base64.slice(0, base64.length - base64.length % 4)).includes("PRIVATE");
  } catch {
    return true;
  }
}

function isNamePart(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f || code === 0x2d || code === 0x2e;
}

function isTokenPart(code: number): boolean {
  return isNamePart(code) || code === 0x7e || code === 0x2b || code === 0x2f || code === 0x3d || code === 0x3a;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function isQuote(char: string | undefined): boolean {
  return char === '"' || char === "'";
}

/** True for what can stand between a value and the next name. */
function isAfterValue(code: number): boolean {
  return isSpace(code) || code === 0x22 || code === 0x27 || code === 0x5c || code === 0x2c || code === 0x3b;
}

function isListEnd(char: string | undefined): boolean {
  return char === "}" || char === "]" || char === ")";
}

function isSeparator(char: string | undefined): boolean {
  return char === "_" || char === "-" || char === ".";
}

function isEven(number: number): boolean {
  return number % 2 === 0;
}

/** True for what ends a URL in a text: a space, a quotation mark, `<`, `>` and controls. */
function isUrlEnd(code: number): boolean {
  return code <= 0x20 || code === 0x22 || code === 0x27 || code === 0x60 || code === 0x3c || code === 0x3e;
}

/** True where a host ends with a port, or has none: an `@` behind it is not that of a password with a slash. */
function isPort(text: string, colon: number, authority: number): boolean {
  return colon === -1 || colon > authority || /^:\d{0,5}$/.test(text.slice(colon, Math.min(authority, colon + 8)));
}
