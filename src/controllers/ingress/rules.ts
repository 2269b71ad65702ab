/**
 * The rules of the operator: the hosts that Services of a namespace may claim, and the class of their Ingresses. They come
 * from flags, so that no user of the cluster can change them.
 *
 * Caveats: without any host rule, every namespace may claim every host.
 */
import { type Claim, hostProblem, pathProblem } from "./claim.ts";

/** A rule for hosts: `[NAMESPACE=]HOST[/PATH]`. */
export interface HostRule {
  /** Undefined: the rule applies to all namespaces. */
  readonly namespace: string | undefined;
  /** A name; `*.example.com` for all names below it; `*` for all names. */
  readonly host: string;
  /** The allowed path, with all paths below it. */
  readonly path: string;
}

/** A rule for classes: `[NAMESPACE=]CLASS`. */
export interface ClassRule {
  /** Undefined: the rule applies where no other rule does. */
  readonly namespace: string | undefined;
  readonly className: string;
}

/** All rules. */
export interface Rules {
  /** Undefined: every host is allowed. */
  readonly hosts?: readonly HostRule[];
  /** @default the class "ingress" for all */
  readonly classes?: readonly ClassRule[];
}

/** The class without a rule, as in the original. */
const defaultClass = "ingress";

const namespacePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Parses a rule. @throws RangeError that says why the text is invalid */
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

/** Parses a rule. @throws RangeError that says why the text is invalid */
export function parseClassRule(text: string): ClassRule {
  const { namespace, rest } = split(text);
  if (hostProblem(rest) !== undefined) throw new RangeError("the class is not a DNS name in lower case");
  return { namespace, className: rest };
}

/** True when the Services of a namespace may make this claim. */
export function isAllowed(rules: Rules, namespace: string, claim: Claim): boolean {
  if (rules.hosts === undefined) return true;
  return rules.hosts.some((rule) =>
    (rule.namespace === undefined || rule.namespace === namespace) && coversHost(rule.host, claim.host) &&
    coversPath(rule.path, claim.path)
  );
}

/** Returns the class of the Ingresses in a namespace. */
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
  const parent = allowed.replace(/\/$/, "");
  return `${path.replace(/\/$/, "")}/`.startsWith(`${parent}/`);
}

function split(text: string): { readonly namespace: string | undefined; readonly rest: string } {
  const equals = text.indexOf("=");
  if (equals < 0) return { namespace: undefined, rest: text };
  const namespace = text.slice(0, equals);
  if (!namespacePattern.test(namespace)) throw new RangeError(`the text before "=" is not a namespace`);
  return { namespace, rest: text.slice(equals + 1) };
}
