/**
 * The formats that `+k8s:format` names, for declared_checks.ts. The texts are those of the checks that kube-apiserver 1.36
 * answers with: it runs the declared checks of v1 types beside its older ones, and shows only the errors of the older ones.
 */
import { labelKeyErrors, labelValueErrors, regexError, utf8Length } from "../../model/mod.ts";
import { label1035Errors, labelErrors, pathSegmentName, subdomainErrors } from "./formats.ts";
import type { FieldPath, Problems } from "./problems.ts";

/** Checks a text that is not empty. */
type FormatCheck = (value: string, path: FieldPath, problems: Problems) => void;

const maxPoolName = 253;
const maxDriverName = 63;
const maxIdentifier = 32;
const maxUuid = 36;
const quotaPrefix = "requests.";
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const identifier = "[A-Za-z_][A-Za-z0-9_]*";
const identifierPattern = new RegExp(`^${identifier}$`);

const badIdentifier = regexError(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters " +
    "or '_'",
  identifier,
  ["my_name", "MY_NAME", "MyName"],
);

const notNormalUuid =
  "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";

const formats: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ["k8s-short-name", texts(labelErrors)],
  ["k8s-long-name", texts(subdomainErrors)],
  ["k8s-long-name-caseless", texts((value) => subdomainErrors(value.toLowerCase()))],
  ["k8s-label-key", texts(labelKeyErrors)],
  ["k8s-label-value", texts(labelValueErrors)],
  ["k8s-dns-1035-label", texts(label1035Errors)],
  ["k8s-path-segment-name", texts((value) => pathSegmentName(value, false))],
  ["k8s-uuid", texts(uuidErrors)],
  ["k8s-extended-resource-name", texts(extendedResourceErrors)],
  ["k8s-resource-pool-name", checkPoolName],
  ["k8s-resource-qualified-name", checkQualifiedName],
  ["k8s-resource-fully-qualified-name", checkFullyQualifiedName],
]);

/** Checks the format of a text. @throws RangeError for a format that is not known */
export function checkFormat(format: string, value: string, path: FieldPath, problems: Problems): void {
  const check = formats.get(format);
  if (check === undefined) throw new RangeError(`Cannot check the format ${format}: it is not known`);
  check(value, path, problems);
}

function texts(errorsOf: (value: string) => readonly string[]): FormatCheck {
  return (value, path, problems) => problems.invalidAll(path, value, errorsOf(value));
}

function uuidErrors(value: string): readonly string[] {
  if (uuidPattern.test(value)) return value === value.toLowerCase() ? [] : [notNormalUuid];
  const why = uuidProblem(value);
  return [why === undefined ? notNormalUuid : `error validating uid: ${why}`];
}

/** As the UUID library of the server says it; it reads the forms `urn:uuid:…`, `{…}` and 32 digits as well. */
function uuidProblem(value: string): string | undefined {
  const hex = /^[0-9a-f]{32}$/i;
  switch (utf8Length(value)) {
    case 32:
      return hex.test(value) ? undefined : "invalid UUID format";
    case maxUuid:
      return "invalid UUID format";
    case maxUuid + 2:
      if (!/^\{.*\}$/.test(value)) return "invalid bracketed UUID format";
      return uuidPattern.test(value.slice(1, -1)) ? undefined : "invalid UUID format";
    case maxUuid + 9:
      if (!/^urn:uuid:/i.test(value)) return `invalid urn prefix: ${JSON.stringify(value.slice(0, 9))}`;
      return uuidPattern.test(value.slice(9)) ? undefined : "invalid UUID format";
    default:
      return `invalid UUID length: ${utf8Length(value)}`;
  }
}

function extendedResourceErrors(value: string): readonly string[] {
  const isExtended = value.includes("/") && !value.includes("kubernetes.io/") && !value.startsWith(quotaPrefix) &&
    labelKeyErrors(quotaPrefix + value).length === 0;
  return isExtended ? [] : ["must be a valid extended resource name"];
}

function checkDriverName(value: string, path: FieldPath, problems: Problems): void {
  if (utf8Length(value) > maxDriverName) problems.tooLong(path, maxDriverName);
  problems.invalidAll(path, value, subdomainErrors(value.toLowerCase()));
}

function checkPoolName(value: string, path: FieldPath, problems: Problems): void {
  if (utf8Length(value) > maxPoolName) problems.tooLong(path, maxPoolName);
  for (const part of value.split("/")) problems.invalidAll(path, part, subdomainErrors(part));
}

/** `name` or `domain/name`. A name with more slashes is accepted, as by the real server. */
function checkQualifiedName(value: string, path: FieldPath, problems: Problems): void {
  const parts = value.split("/");
  const [first = "", second = ""] = parts;
  if (parts.length === 1) return checkIdentifier(first, path, problems);
  if (parts.length > 2) return;
  if (first === "") problems.invalid(path, "", "the domain must not be empty");
  else checkDriverName(first, path, problems);
  if (second === "") problems.invalid(path, "", "the name must not be empty");
  else checkIdentifier(second, path, problems);
}

function checkFullyQualifiedName(value: string, path: FieldPath, problems: Problems): void {
  checkQualifiedName(value, path, problems);
  if (value.includes("/")) return;
  problems.invalid(path, value, "a fully qualified name must be a domain and a name separated by a slash");
}

function checkIdentifier(value: string, path: FieldPath, problems: Problems): void {
  if (utf8Length(value) > maxIdentifier) problems.tooLong(path, maxIdentifier);
  if (!identifierPattern.test(value)) problems.invalid(path, value, badIdentifier);
}
