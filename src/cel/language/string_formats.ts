/**
 * The string formats of a schema's `format` (kube-openapi's `strfmt`) and the named formats of expressions
 * (`format.dns1123Label()`, `format.named("uuid")`). A format without a check accepts every string.
 */
import { parseIp, parseNetwork, parseRequestUri } from "./net.ts";
import { parseGoDuration, secondsOf } from "./_time.ts";
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
  maskTrailingDash,
  regexError,
  utf8Length,
} from "../model/mod.ts";
import { binary, type FunctionDecl, type Guard, isText, method, overload, unary } from "./functions.ts";
import { type CelType, listOf, optionalOf, stringType } from "./types.ts";
import { CelOpaque, CelOptional, noneOptional, type Value, ValueList } from "./values.ts";

/** The check of a format, by its name without dashes; undefined for a format that is not checked. */
export function formatCheck(name: string): ((text: string) => boolean) | undefined {
  return checks.get(name.replaceAll("-", ""));
}

const hostname =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const creditCard =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const byte = "(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])";
const rgb = new RegExp(`^rgb\\(\\s*${byte}\\s*,\\s*${byte}\\s*,\\s*${byte}\\s*\\)$`);
const shortName = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const shortNamePattern = new RegExp(`^${shortName}$`);
const longNamePattern = new RegExp(`^${shortName}(\\.${shortName})*$`);
const base64 = /^[A-Za-z0-9+/]*(==?)?$/;

const checks: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", (text) => reads(() => parseRequestUri(text))],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["cidr", isCidr],
  ["mac", isMac],
  ["uuid", (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)],
  ["uuid3", (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)],
  ["uuid4", (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text)],
  ["uuid5", (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i.test(text)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["rgbcolor", (text) => rgb.test(text)],
  ["byte", (text) => text !== "" && text.length % 4 === 0 && base64.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["duration", (text) => parseLooseDuration(text) !== undefined],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && shortNamePattern.test(text)],
  ["k8slongname", (text) => text.length <= 253 && longNamePattern.test(text)],
]);

function reads(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** `a@b`, or a name with an address in angle brackets, as Go's `net/mail` parses it. */
function isEmail(text: string): boolean {
  const trimmed = text.trim();
  const bracketed = /^(?:"(?:[^"\\]|\\.)*"\s*|[^<>"@,;:]*)<([^<>]+)>$/.exec(trimmed);
  const address = bracketed?.[1] ?? trimmed;
  const atom = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\\u0080-\\uffff]+";
  const local = `(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\\\r\\n]|\\\\.)+")`;
  const domain = `(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]]*\\])`;
  return new RegExp(`^${local}@${domain}$`).test(address);
}

function isHostname(text: string): boolean {
  if (text.length > 255) return false;
  return text.split(".").every((part) => part.length <= 63) && hostname.test(text);
}

/** Leading zeros are accepted, as in Go before 1.17. */
function withoutLeadingZeros(text: string): string {
  return text.replace(/(^|[.:/])0+(?=[0-9]+(?:\.|$|\/))/g, "$1");
}

/** Largest length of an address. */
const maxAddressLength = 100;

function isIpv4(text: string): boolean {
  if (text.length > maxAddressLength) return false;
  return text.includes(".") && !text.includes("%") && reads(() => parseIp(withoutLeadingZeros(text)));
}

function isIpv6(text: string): boolean {
  if (text.length > maxAddressLength) return false;
  return text.includes(":") && !text.includes("%") && reads(() => parseIp(text));
}

function isCidr(text: string): boolean {
  return text.length <= maxAddressLength && reads(() => parseNetwork(withoutLeadingZeros(text)));
}

function isMac(text: string): boolean {
  if (/^(?:[0-9a-fA-F]{2})+$/.test(text)) return [12, 16, 40].includes(text.length);
  if (/^[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4})+$/.test(text)) return [3, 4, 10].includes(text.split(".").length);
  const separator = text[2] === "-" ? "-" : ":";
  const parts = text.split(separator);
  return [6, 8, 20].includes(parts.length) && parts.every((part) => /^[0-9a-fA-F]{2}$/.test(part));
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 9; index++) sum += (index + 1) * Number(digits[index]);
  sum += 10 * (digits[9] === "X" ? 10 : Number(digits[9]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 12; index++) sum += (index % 2 === 0 ? 1 : 3) * Number(digits[index]);
  return Number(digits[12]) === (10 - sum % 10) % 10;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!creditCard.test(digits)) return false;
  let sum = 0;
  for (let index = digits.length - 1, isDoubled = false; index >= 0; index--, isDoubled = !isDoubled) {
    const digit = Number(digits[index]) * (isDoubled ? 2 : 1);
    sum += digit >= 10 ? digit % 10 + 1 : digit;
  }
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return found !== null && secondsOf(Number(found[1]), Number(found[2]), Number(found[3])) !== undefined;
}

function isDateTime(text: string): boolean {
  const [date = "", time = ""] = text.toLowerCase().split("t");
  if (!isDate(date)) return false;
  const found = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time);
  return found !== null && Number(found[1]) <= 23 && Number(found[2]) <= 59 && Number(found[3]) <= 59;
}

const units: readonly (readonly [names: readonly string[], ns: bigint])[] = [
  [["ns", "nano"], 1n],
  [["us", "µs", "micro"], 1_000n],
  [["ms", "milli"], 1_000_000n],
  [["s", "sec"], 1_000_000_000n],
  [["m", "min"], 60_000_000_000n],
  [["h", "hr", "hour"], 3_600_000_000_000n],
  [["d", "day"], 86_400_000_000_000n],
  [["w", "wk", "week"], 604_800_000_000_000n],
];

/** Largest length of a duration in UTF-16 units. */
const maxDurationLength = 1_000;

/** Nanoseconds of `1h30m` in Go's syntax or of `2 days` in Scala's; undefined for other texts. */
export function parseLooseDuration(text: string): bigint | undefined {
  if (text.length > maxDurationLength) return undefined;
  const exact = parseGoDuration(text);
  if (exact !== undefined) return exact;
  let total: bigint | undefined;
  for (const [, factor = "", unit = ""] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const lower = unit.toLowerCase();
    for (const [names, ns] of units) {
      const longest = names[names.length - 1] ?? "";
      const times = names.filter((name) => name === lower || name === longest && lower.startsWith(name)).length;
      if (times > 0) total = (total ?? 0n) + BigInt(factor) * ns * BigInt(times);
    }
  }
  return total;
}

/** `kubernetes.NamedFormat`. */
const formatType: CelType = { kind: "opaque", name: "kubernetes.NamedFormat", of: [], isObject: true };

/** A named format, such as `format.dns1123Label()` or `format.named("uuid")`: validates a string and returns its errors. */
export class CelFormat extends CelOpaque {
  override readonly type = formatType;
  readonly name: string;
  /** The cost of a validation depends on this. */
  readonly patternLength: number;
  readonly errorsOf: (text: string) => readonly string[];

  constructor(name: string, patternLength: number, errorsOf: (text: string) => readonly string[]) {
    super();
    this.name = name;
    this.patternLength = patternLength;
    this.errorsOf = errorsOf;
  }

  override equals(other: CelOpaque): boolean {
    return other instanceof CelFormat && other.name === this.name;
  }

  override toText(): string {
    return this.name;
  }
}

const dns1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const dns1035Why =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic " +
  "character, and end with an alphanumeric character";

/** The errors of a DNS label of RFC 1035: names of Services, CustomResourceDefinitions and versions. */
export function dns1035LabelErrors(text: string): readonly string[] {
  const errors: string[] = [];
  if (utf8Length(text) > 63) errors.push("must be no more than 63 bytes");
  if (!new RegExp(`^${dns1035}$`).test(text)) errors.push(regexError(dns1035Why, dns1035, ["my-name", "abc-123"]));
  return errors;
}

const formats: ReadonlyMap<string, CelFormat> = new Map([
  ["dns1123Label", new CelFormat("DNS1123Label", 30, dnsLabelErrors)],
  ["dns1123Subdomain", new CelFormat("DNS1123Subdomain", 60, dnsSubdomainErrors)],
  ["dns1035Label", new CelFormat("DNS1035Label", 30, dns1035LabelErrors)],
  ["qualifiedName", new CelFormat("QualifiedName", 60, labelKeyErrors)],
  ["dns1123LabelPrefix", new CelFormat("DNS1123LabelPrefix", 30, (text) => dnsLabelErrors(maskTrailingDash(text)))],
  [
    "dns1123SubdomainPrefix",
    new CelFormat("DNS1123SubdomainPrefix", 60, (text) => dnsSubdomainErrors(maskTrailingDash(text))),
  ],
  ["dns1035LabelPrefix", new CelFormat("DNS1035LabelPrefix", 30, (text) => dns1035LabelErrors(maskTrailingDash(text)))],
  ["labelValue", new CelFormat("LabelValue", 40, labelValueErrors)],
  ["uri", new CelFormat("URI", 500, uriErrors)],
  ["uuid", new CelFormat("uuid", 82, checked("uuid", "does not match the UUID format"))],
  ["byte", new CelFormat("byte", 84, checked("byte", "invalid base64"))],
  ["date", new CelFormat("date", 75, checked("date", "invalid date"))],
  ["datetime", new CelFormat("datetime", 75, checked("datetime", "invalid datetime"))],
]);

const isFormat: Guard<CelFormat> = (value) => value instanceof CelFormat;

/** The functions of named formats. */
export const formatFunctions: readonly FunctionDecl[] = [
  ...Array.from(formats, ([name, format]): FunctionDecl => ({
    name: `format.${name}`,
    overloads: [overload(`format.${name}`, [], formatType, () => format)],
  })),
  {
    name: "format.named",
    overloads: [overload("format-named", [stringType], optionalOf(formatType), unary(isText, named))],
  },
  {
    name: "validate",
    overloads: [
      method(
        "format-validate",
        [formatType, stringType],
        optionalOf(listOf(stringType)),
        binary(isFormat, isText, validate),
      ),
    ],
  },
];

function named(name: string): Value {
  const format = formats.get(name);
  return format === undefined ? noneOptional : new CelOptional(format);
}

function validate(format: CelFormat, text: string): Value {
  const errors = format.errorsOf(text);
  return errors.length === 0 ? noneOptional : new CelOptional(new ValueList(errors));
}

function checked(name: string, why: string): (text: string) => readonly string[] {
  const check = formatCheck(name);
  return (text) => check?.(text) === false ? [why] : [];
}

function uriErrors(text: string): readonly string[] {
  try {
    parseRequestUri(text);
    return [];
  } catch (error) {
    if (error instanceof RangeError) return [error.message];
    throw error;
  }
}
