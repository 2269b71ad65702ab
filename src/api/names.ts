/**
 * The rules for names, as apimachinery `util/validation` of Kubernetes 1.36 has them: RFC 1123 labels and subdomains, and
 * the keys and values of labels. A name is checked where a user gives it, before a request is sent.
 *
 * Each function returns what is wrong, as the end of a sentence ("it is ..."), or undefined for a valid text. Guarantees:
 * the time is linear in the length of the text, because a text that is too long is not matched.
 */

const maxLabelLength = 63;
const maxSubdomainLength = 253;

/** Returns what is wrong with the name of a namespace, which is an RFC 1123 label. */
export function namespaceProblem(name: string): string | undefined {
  if (name.length <= maxLabelLength && isLabel(name)) return undefined;
  return "it is not an RFC 1123 label: lower case letters, digits and -, a letter or digit at both ends, at most 63 characters";
}

/** Returns what is wrong with the name of an object of most kinds, which is an RFC 1123 subdomain. */
export function objectNameProblem(name: string): string | undefined {
  if (isSubdomain(name)) return undefined;
  return "it is not an RFC 1123 subdomain: lower case letters, digits, - and ., a letter or digit at both ends of each part, " +
    "at most 253 characters";
}

/** Returns what is wrong with the key of a label: `name` or `example.com/name`. */
export function labelKeyProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  const isKey = isQualifiedName(key.slice(slash + 1)) && (slash < 0 || isSubdomain(key.slice(0, slash)));
  return isKey ? undefined : "it is not a label key: an optional domain and /, then letters, digits, -, _ and .";
}

/** Returns what is wrong with the value of a label. An empty value is valid. */
export function labelValueProblem(value: string): string | undefined {
  if (value === "" || isQualifiedName(value)) return undefined;
  return "it is not a label value: letters, digits, -, _ and ., a letter or digit at both ends, at most 63 characters";
}

function isLabel(text: string): boolean {
  return /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text);
}

function isSubdomain(text: string): boolean {
  return text.length <= maxSubdomainLength && text.split(".").every(isLabel);
}

function isQualifiedName(text: string): boolean {
  return text.length <= maxLabelLength && /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text);
}
