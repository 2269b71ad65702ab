/**
 * What the annotation of a Service claims: a host and a path. Whoever may write the annotation may not be allowed to
 * write Ingresses, so nothing of its text goes anywhere but through this grammar (behaviours.md, security 9).
 *
 * Guarantees: a host is a DNS-1123 name in lower case that no program takes for an address; a path has segments of
 * letters, digits, dots, hyphens, underscores and tildes and nothing else. No pattern backtracks. What is wrong is
 * said without quoting the text.
 */

/** The annotation that asks for an Ingress. */
export const annotation = "ingress/http";

/** Where a Service is reachable from outside. */
export interface Claim {
  readonly host: string;
  /** Begins with a slash. */
  readonly path: string;
}

/** What became of reading an annotation. */
export type ClaimReading =
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "refused"; readonly why: string };

/** What an annotation without a host claims, as the original does. */
export const defaultClaim: Claim = { host: "example.com", path: "/" };

const longestHost = 253;
const longestPath = 512;
const label = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
const hostPattern = new RegExp(`^${label}(?:\\.${label})*$`);
const pathPattern = /^\/(?:[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*\/?)?$/;

/** URL parsers take a name whose last label looks like a number for an IPv4 address. */
const addressPattern = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;

/** Words that YAML and people write for yes and no; as the names of hosts they are never meant. */
const notHosts: ReadonlySet<string> = new Set(["false", "yes", "no", "on", "off"]);

/** Reads the annotation: empty or `true`, or `host[/path]`. */
export function readClaim(value: string): ClaimReading {
  if (value === "" || value === "true") return { kind: "claim", claim: defaultClaim };
  const slash = value.indexOf("/");
  const claim = slash < 0 ? { host: value, path: "/" } : { host: value.slice(0, slash), path: value.slice(slash) };
  const why = notHosts.has(value)
    ? "to have no Ingress, remove the annotation"
    : hostProblem(claim.host) ?? pathProblem(claim.path);
  return why === undefined ? { kind: "claim", claim } : { kind: "refused", why };
}

/** Why a text is no host; undefined when it is one. */
export function hostProblem(host: string): string | undefined {
  if (host === "") return "the host is missing";
  if (host.length > longestHost) return `the host has more than ${longestHost} characters`;
  if (!hostPattern.test(host)) return "the host is no DNS name in lower case";
  return addressPattern.test(host) ? "the host looks like an address, not like a name" : undefined;
}

/** Why a text is no path; undefined when it is one. */
export function pathProblem(path: string): string | undefined {
  if (path.length > longestPath) return `the path has more than ${longestPath} characters`;
  if (!pathPattern.test(path)) return "the path has an empty segment, or other characters than A-Z a-z 0-9 . _ ~ -";
  const isRelative = path.split("/").some((segment) => segment === "." || segment === "..");
  return isRelative ? 'the path has a segment "." or ".."' : undefined;
}
