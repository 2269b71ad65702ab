/**
 * The rules of HTTPS_PROXY, HTTP_PROXY and NO_PROXY (behaviour 79). Source: golang.org/x/net/http/httpproxy, which
 * kubectl uses. The `proxy-url` of a cluster has precedence over them.
 */
import type { Environment } from "../../runtime/mod.ts";

/** The proxy that the environment names for `url`; undefined for none. Loopback has no proxy. */
export function proxyFromEnvironment(url: URL, environment: Environment): string | undefined {
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = environment[name] || environment[name.toLowerCase()] || undefined;
  if (proxy === undefined) return undefined;
  const host = bareHost(url);
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  if (isLoopback(host)) return undefined;
  const exceptions = environment.NO_PROXY || environment.no_proxy || "";
  if (exceptions.split(",").some((rule) => matches(rule.trim().toLowerCase(), host, port))) return undefined;
  // Go reads `proxy:3128` as http://proxy:3128.
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** True for names and addresses of the local machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** True for a URL that secrets may be sent to: https://, or http:// on this machine. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "" &&
    (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(bareHost(url))));
}

/** The host of a URL without the brackets of IPv6, in lower case. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

/** One rule of NO_PROXY: `*`, a CIDR, an address, `.suffix`, or a name (also a suffix), each with an optional port. */
function matches(rule: string, host: string, port: string): boolean {
  if (rule === "") return false;
  if (rule === "*") return true;
  const slash = rule.indexOf("/");
  if (slash >= 0) return isInNetwork(host, rule.slice(0, slash), rule.slice(slash + 1));
  const { name, rulePort } = splitPort(rule);
  if (rulePort !== undefined && rulePort !== port) return false;
  const address = addressBits(name);
  if (address !== undefined) {
    const own = addressBits(host);
    return own !== undefined && own.length === address.length && own === address;
  }
  const suffix = name.startsWith("*.") ? name.slice(1) : name;
  return suffix.startsWith(".") ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

function splitPort(rule: string): { readonly name: string; readonly rulePort: string | undefined } {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(rule);
  if (bracketed !== null) return { name: bracketed[1] ?? "", rulePort: bracketed[2] };
  const colon = rule.indexOf(":");
  if (colon < 0 || rule.indexOf(":", colon + 1) >= 0) return { name: rule, rulePort: undefined };
  return { name: rule.slice(0, colon), rulePort: rule.slice(colon + 1) };
}

/** A rule that is not a network matches nothing: `10.0.0.0/` would otherwise be every address. */
function isInNetwork(host: string, network: string, prefixText: string): boolean {
  const own = addressBits(host);
  const base = addressBits(network);
  if (own === undefined || base === undefined || own.length !== base.length) return false;
  const prefix = /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : Infinity;
  return prefix <= base.length && own.slice(0, prefix) === base.slice(0, prefix);
}

/** The bits of an address as 32 or 128 characters `0` and `1`; undefined if `text` is not an address. */
function addressBits(text: string): string | undefined {
  if (/^\d+(\.\d+){3}$/.test(text)) {
    // Go refuses leading zeros, which some programs read as octal numbers.
    const parts = text.split(".");
    const isValid = parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
    return isValid ? parts.map((part) => bits(Number(part), 8)).join("") : undefined;
  }
  if (!/^[\da-f.]*:[\da-f:.]*$/.test(text)) return undefined;
  // The URL parser accepts every notation of IPv6 and writes one of them.
  const url = URL.parse(`http://[${text}]/`);
  if (url === null) return undefined;
  const [head = "", tail] = bareHost(url).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].map((group) => bits(parseInt(group, 16), 16)).join("");
}

function bits(value: number, width: number): string {
  return value.toString(2).padStart(width, "0");
}
