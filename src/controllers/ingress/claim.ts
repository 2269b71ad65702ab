/**
 * Reads the claim in the annotation of a Service: a host and a path. A user who may write the annotation may have no
 * permission for Ingresses, so that its text is used only after this strict grammar (security 9).
 *
 * Guarantees: a host is a DNS-1123 name in lower case that no program parses as an address; a path has segments of letters,
 * digits, dots, hyphens, underscores and tildes only; no regular expression backtracks; messages do not quote the text.
 */

/** The annotation that requests an Ingress. */
export const annotation = "ingress/http";

/** The address of a Service outside of the cluster. */
export interface Claim {
  readonly host: string;
  /** Starts with a slash. */
  readonly path: string;
}

/** The result of reading an annotation. */
export type ClaimReading =
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "rejected"; readonly problem: string };

/** The claim of an annotation without a host, as in the original. */
const defaultClaim: Claim = { host: "example.com", path: "/" };

const maxHostLength = 253;
const maxPathLength = 512;
const label = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
const hostPattern = new RegExp(`^${label}(?:\\.${label})*$`);
const pathPattern = /^\/(?:[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*\/?)?$/;

/** URL parsers read a name whose last label looks like a number as an IPv4 address. */
const addressPattern = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/** Words for yes and no in YAML: valid names, but never meant as hosts. */
const notHosts: ReadonlySet<string> = new Set(["false", "yes", "no", "on", "off"]);

/** Reads the annotation: empty or `true`, or `host[/path]`. */
export function readClaim(value: string): ClaimReading {
  if (value === "" || value === "true") return { kind: "claim", claim: defaultClaim };
  const slash = value.indexOf("/");
  const claim = slash < 0 ? { host: value, path: "/" } : { host: value.slice(0, slash), path: value.slice(slash) };
  const problem = notHosts.has(value)
    ? "remove the annotation to have no Ingress"
    : hostProblem(claim.host) ?? pathProblem(claim.path);
  return problem === undefined ? { kind: "claim", claim } : { kind: "rejected", problem };
}

/** Returns why a text is not a valid host; undefined when it is valid. */
export function hostProblem(host: string): string | undefined {
  if (host === "") return "the host is missing";
  if (host.length > maxHostLength) return `the host has more than ${maxHostLength} characters`;
  if (!hostPattern.test(host)) return "the host is not a DNS name in lower case";
  return addressPattern.test(host) ? "the host looks like an IP address, not like a name" : undefined;
}

/** Returns why a text is not a valid path; undefined when it is valid. */
export function pathProblem(path: string): string | undefined {
  if (path.length > maxPathLength) return `the path has more than ${maxPathLength} characters`;
  if (!pathPattern.test(path)) return "the path has an empty segment, or other characters than A-Z a-z 0-9 . _ ~ -";
  const isRelative = path.split("/").some((segment) => segment === "." || segment === "..");
  return isRelative ? 'the path has a segment "." or ".."' : undefined;
}
