/**
 * The formats of names and labels. The messages are those of apimachinery `api/validate/content` of Kubernetes 1.36,
 * because users and programs read them.
 *
 * Each function returns a list of errors, empty for a valid value. Lengths are bytes of UTF-8.
 */

const none: readonly string[] = [];

const dnsLabel = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const dnsLabelWhy =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
  "with an alphanumeric character";
const dnsSubdomain = `${dnsLabel}(\\.${dnsLabel})*`;
const dnsSubdomainWhy =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character";
const labelKey = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const labelKeyWhy =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const labelValue = `(${labelKey})?`;
const labelValueWhy =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character";

const dnsLabelPattern = new RegExp(`^${dnsLabel}$`);
const dnsSubdomainPattern = new RegExp(`^${dnsSubdomain}$`);
const labelKeyPattern = new RegExp(`^${labelKey}$`);
const labelValuePattern = new RegExp(`^${labelValue}$`);

/** Errors of an RFC 1123 label, such as the name of a namespace. */
export function dnsLabelErrors(value: string): readonly string[] {
  if (value.length <= 63 && dnsLabelPattern.test(value)) return none;
  if (utf8Length(value) > 63) {
    return dnsLabelPattern.test(value)
      ? [tooLong(63)]
      : [tooLong(63), regexError(dnsLabelWhy, dnsLabel, ["my-name", "123-abc"])];
  }
  return [regexError(dnsLabelWhy, dnsLabel, ["my-name", "123-abc"])];
}

/** Errors of an RFC 1123 subdomain, the format of most names. */
export function dnsSubdomainErrors(value: string): readonly string[] {
  const isWellFormed = dnsSubdomainPattern.test(value);
  if (isWellFormed && value.length <= 253) return none;
  const errors: string[] = [];
  if (utf8Length(value) > 253) errors.push(tooLong(253));
  if (!isWellFormed) errors.push(regexError(dnsSubdomainWhy, dnsSubdomain, ["example.com"]));
  return errors;
}

/** Errors of a qualified name: a label key, an annotation key in lower case, or a finalizer. */
export function labelKeyErrors(value: string): readonly string[] {
  const parts = value.split("/");
  if (parts.length > 2) {
    const text = regexError(labelKeyWhy, labelKey, ["MyName", "my.name", "123-abc"]);
    return [`a valid label key ${text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const [prefix, name] = parts.length === 2 ? [parts[0] ?? "", parts[1] ?? ""] : [undefined, value];
  const errors: string[] = [];
  if (prefix === "") errors.push("prefix part must be non-empty");
  else if (prefix !== undefined) errors.push(...dnsSubdomainErrors(prefix).map((text) => `prefix part ${text}`));
  if (name === "") errors.push("name part must be non-empty");
  else if (utf8Length(name) > 63) errors.push(`name part ${tooLong(63)}`);
  if (!labelKeyPattern.test(name)) {
    errors.push(`name part ${regexError(labelKeyWhy, labelKey, ["MyName", "my.name", "123-abc"])}`);
  }
  return errors;
}

/** Errors of a label value. */
export function labelValueErrors(value: string): readonly string[] {
  const isWellFormed = labelValuePattern.test(value);
  if (isWellFormed && value.length <= 63) return none;
  const errors: string[] = [];
  if (utf8Length(value) > 63) errors.push(tooLong(63));
  if (!isWellFormed) errors.push(regexError(labelValueWhy, labelValue, ["MyValue", "my_value", "12345"]));
  return errors;
}

/** Errors of a name as a part of a URL: the minimum for every name. */
export function pathSegmentErrors(name: string, isPrefix = false): readonly string[] {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  const errors: string[] = [];
  if (name.includes("/")) errors.push("may not contain '/'");
  if (name.includes("%")) errors.push("may not contain '%'");
  return errors;
}

/** Replaces a dash at the end of a generateName prefix for validation, because the generated name continues after it. */
export function maskTrailingDash(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix;
}

/** The error of a value that does not match. @param examples values that match */
export function regexError(why: string, pattern: string, examples: readonly string[]): string {
  if (examples.length === 0) return `${why} (regex used for validation is '${pattern}')`;
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${why} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

/** The number of bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    if (code < 0x800) bytes++;
    else if (code >= 0xd800 && code < 0xdc00 && index + 1 < text.length) {
      bytes += 2;
      index++;
    } else bytes += 2;
  }
  return bytes;
}

function tooLong(bytes: number): string {
  return `must be no more than ${bytes} bytes`;
}
