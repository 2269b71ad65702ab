/**
 * What the owner of the operator allows: which hosts the Services of a namespace may claim, and the class their
 * Ingresses get. Both are said with flags; nothing in the cluster can change them.
 *
 * Caveats: where no host rule is given at all, every namespace may claim every host.
 */
import { type Claim, hostProblem, pathProblem } from "./claim.ts";

/** One rule about hosts, `[NAMESPACE=]HOST[/PATH]`. */
export interface HostRule {
  /** Undefined: it holds for all namespaces. */
  readonly namespace: string | undefined;
  /** A name; `*.example.com` for all names below one; `*` for all. */
  readonly host: string;
  /** Allowed with all that is below it. */
  readonly path: string;
}

/** One rule about classes, `[NAMESPACE=]CLASS`. */
export interface ClassRule {
  /** Undefined: it holds where no other does. */
  readonly namespace: string | undefined;
  readonly className: string;
}

/** What is allowed. */
export interface Rules {
  /** Undefined: every host is. */
  readonly hosts?: readonly HostRule[];
  /** @default the class "ingress" for all */
  readonly classes?: readonly ClassRule[];
}

/** The class of Ingresses where no rule says another, as in the original. */
export const defaultClass = "ingress";

const namespacePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** @throws RangeError that says what is wrong with the text */
export function parseHostRule(text: string): HostRule {
  const { namespace, rest } = split(text);
  const slash = rest.indexOf("/");
  const host = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? "/" : rest.slice(slash);
  const name = host.startsWith("*.") ? host.slice(2) : host;
  const problem = (host === "*" ? undefined : hostProblem(name)) ?? pathProblem(path);
  if (problem !== undefined) throw new RangeError(problem);
  return { namespace, host, path };
}

/** @throws RangeError that says what is wrong with the text */
export function parseClassRule(text: string): ClassRule {
  const { namespace, rest } = split(text);
  if (hostProblem(rest) !== undefined) throw new RangeError("the class is no DNS name in lower case");
  return { namespace, className: rest };
}

/** Whether a namespace may claim it. */
export function isAllowed(rules: Rules, namespace: string, claim: Claim): boolean {
  if (rules.hosts === undefined) return true;
  return rules.hosts.some((rule) =>
    (rule.namespace === undefined || rule.namespace === namespace) && coversHost(rule.host, claim.host) &&
    coversPath(rule.path, claim.path)
  );
}

/** The class of a namespace's Ingresses. */
export function classOf({ classes = [] }: Rules, namespace: string): string {
  const own = classes.find((rule) => rule.namespace === namespace);
  const general = classes.find((rule) => rule.namespace === undefined);
  return (own ?? general)?.className ?? defaultClass;
}

function coversHost(pattern: string, host: string): boolean {
  if (pattern === "*" || pattern === host) return true;
  return pattern.startsWith("*.") && host.length > pattern.length - 1 && host.endsWith(pattern.slice(1));
}

function coversPath(allowed: string, path: string): boolean {
  const above = allowed.replace(/\/$/, "");
  return `${path.replace(/\/$/, "")}/`.startsWith(`${above}/`);
}

function split(text: string): { readonly namespace: string | undefined; readonly rest: string } {
  const equals = text.indexOf("=");
  if (equals < 0) return { namespace: undefined, rest: text };
  const namespace = text.slice(0, equals);
  if (!namespacePattern.test(namespace)) throw new RangeError(`the namespace before "=" is none`);
  return { namespace, rest: text.slice(equals + 1) };
}
