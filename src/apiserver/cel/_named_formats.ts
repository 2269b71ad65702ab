/** `format.dns1123Label()` and `format.named("uuid")`: checks with names, that answer what is wrong. */
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
import { parseRequestUri } from "./net.ts";
import { formatCheck } from "./string_formats.ts";
import { type CelType, listOf, optionalOf, stringType } from "./types.ts";
import { CelOpaque, CelOptional, noneOptional, type Value, ValueList } from "./values.ts";

/** `kubernetes.NamedFormat`. */
export const formatType: CelType = { kind: "opaque", name: "kubernetes.NamedFormat", of: [], isObject: true };

/** A check with a name. */
export class CelFormat extends CelOpaque {
  override readonly type = formatType;
  readonly name: string;
  /** What the cost of a check is reckoned from. */
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

/** What is wrong with a DNS label of RFC 1035: names of Services, CustomResourceDefinitions and versions. */
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

/** The functions. */
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
