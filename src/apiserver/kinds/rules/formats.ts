/**
 * The formats of texts and numbers in the fields of built-in kinds. The error texts are those of apimachinery
 * `util/validation` of Kubernetes 1.36, which counts characters where `model/formats.ts` counts bytes.
 *
 * Each function returns a list of errors, which is empty for a valid value.
 */
import { maskTrailingDash, regexError, utf8Length } from "../../model/mod.ts";

const none: readonly string[] = [];
const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const labelPattern = new RegExp(`^${label}$`);

const badLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  "an alphanumeric character";

const subdomain = `${label}(\\.${label})*`;
const subdomainPattern = new RegExp(`^${subdomain}$`);

const badSubdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character";

const label1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const label1035Pattern = new RegExp(`^${label1035}$`);

const badLabel1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  "end with an alphanumeric character";

const wildcard = `\\*\\.${subdomain}`;
const wildcardPattern = new RegExp(`^${wildcard}$`);

const badWildcard =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower " +
  "case alphanumeric characters, '-' or '.' and end with an alphanumeric character";

const configKey = "[-._a-zA-Z0-9]+";
const configKeyPattern = new RegExp(`^${configKey}$`);
const badConfigKey = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
const percent = "[0-9]+%";
const percentPattern = new RegExp(`^${percent}$`);
const headerName = "[-A-Za-z0-9]+";
const headerNamePattern = new RegExp(`^${headerName}$`);

/** Returns the errors of a name. @param isPrefix true for a `generateName` */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

/** Names that are RFC 1123 subdomains, as for most kinds. */
export const subdomainName: NameRule = (name, isPrefix) => subdomainErrors(isPrefix ? maskTrailingDash(name) : name);

/** Names that are RFC 1123 labels, e.g. of Namespaces. */
export const labelName: NameRule = (name, isPrefix) => labelErrors(isPrefix ? maskTrailingDash(name) : name);

/** Names that are segments of a path, e.g. of Roles. */
export const pathSegmentName: NameRule = (name, isPrefix) => {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  return ["/", "%"].filter((character) => name.includes(character)).map((character) =>
    `may not contain '${character}'`
  );
};

/** Returns the errors of an RFC 1123 label. */
export function labelErrors(value: string): readonly string[] {
  const isWellFormed = labelPattern.test(value);
  if (isWellFormed && value.length <= 63) return none;
  const errors = tooLong(value, 63);
  if (isWellFormed) return errors;
  if (subdomainPattern.test(value)) return [...errors, "must not contain dots"];
  return [...errors, regexError(badLabel, label, ["my-name", "123-abc"])];
}

/** Returns the errors of an RFC 1123 subdomain. */
export function subdomainErrors(value: string): readonly string[] {
  return checked(value, 253, subdomainPattern, () => regexError(badSubdomain, subdomain, ["example.com"]));
}

/** Returns the errors of an RFC 1035 label. */
export function label1035Errors(value: string): readonly string[] {
  return checked(value, 63, label1035Pattern, () => regexError(badLabel1035, label1035, ["my-name", "abc-123"]));
}

/** Returns the errors of a host like `*.example.com`. */
export function wildcardErrors(value: string): readonly string[] {
  return checked(value, 253, wildcardPattern, () => regexError(badWildcard, wildcard, ["*.example.com"]));
}

/** Returns the errors of a key of a ConfigMap or a Secret. */
export function configKeyErrors(value: string): readonly string[] {
  const examples = ["key.name", "KEY_NAME", "key-name"];
  const errors = checked(value, 253, configKeyPattern, () => regexError(badConfigKey, configKey, examples));
  return [...errors, ...dotErrors(value)];
}

/** Returns the errors of the name of an environment variable. */
export function envNameErrors(value: string): readonly string[] {
  const errors: string[] = [];
  if (value === "") errors.push("environment variable name must be non-empty");
  if (!/^[ -<>-~]*$/.test(value)) {
    errors.push("a valid environment variable name must consist only of printable ASCII characters other than '='");
  }
  return errors;
}

/** Returns the errors of the name of a port (IANA_SVC_NAME). */
export function portNameErrors(value: string): readonly string[] {
  if (/^[a-z]([a-z0-9]*(-[a-z0-9])?)*$/.test(value) && value.length <= 15) return none;
  const errors = tooLong(value, 15);
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!/[a-z]/.test(value)) errors.push("must contain at least one letter (a-z)");
  if (value.includes("--")) errors.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) errors.push("must not begin or end with a hyphen");
  return errors;
}

/** Returns the errors of a port number. */
export function portErrors(value: number): readonly string[] {
  return rangeErrors(value, 1, 65_535);
}

/** Returns the error of a number outside a range. */
export function rangeErrors(value: number, min: number, max: number): readonly string[] {
  return value >= min && value <= max ? none : [`must be between ${min} and ${max}, inclusive`];
}

/** The largest number of 32 bits. */
export const maxInt32 = 2_147_483_647;

/** Returns the error of the id of a user or a group. */
export function idErrors(value: number): readonly string[] {
  return rangeErrors(value, 0, maxInt32);
}

/** Returns the error of a percentage like `25%`. */
export function percentErrors(value: string): readonly string[] {
  const why = "a valid percent string must be a numeric string followed by an ending '%'";
  return percentPattern.test(value) ? none : [regexError(why, percent, ["1%", "93%"])];
}

/** Returns the error of the name of an HTTP header. */
export function headerNameErrors(value: string): readonly string[] {
  const why = "a valid HTTP header must consist of alphanumeric characters or '-'";
  return headerNamePattern.test(value) ? none : [regexError(why, headerName, ["X-Header-Name"])];
}

/** The error of a negative number. */
export const mustNotBeNegative = "must be greater than or equal to 0";

/** The error of a change of an immutable field. */
export const fieldIsImmutable = "field is immutable";

function checked(value: string, longest: number, pattern: RegExp, why: () => string): readonly string[] {
  const isWellFormed = pattern.test(value);
  if (isWellFormed && value.length <= longest) return none;
  const errors = tooLong(value, longest);
  if (!isWellFormed) errors.push(why());
  return errors;
}

function tooLong(value: string, longest: number): string[] {
  return utf8Length(value) > longest ? [`must be no more than ${longest} characters`] : [];
}

function dotErrors(value: string): readonly string[] {
  if (value === "." || value === "..") return [`must not be '${value}'`];
  return value.startsWith("..") ? ["must not start with '..'"] : none;
}
