/**
 * The rules of HTTPS_PROXY, HTTP_PROXY and NO_PROXY (behaviour 79). Source: golang.org/x/net/http/httpproxy, which
 * kubectl uses. The `proxy-url` of a cluster has precedence over them.
 */
import type { Environment } from "../../runtime/mod.ts";

/** The proxy that the environment names for `url`; undefined for none. Loopback has no proxy. */
export function proxyFromEnvironment(url: URL, environment: Environment): string | undefined {
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = environment[name] || environment[name.toLowerCase()] || undefined;
  if (proxy === undefined || !usesProxy(url, environment.NO_PROXY || environment.no_proxy || "")) return undefined;
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

/** False for loopback, and for a host that a rule of NO_PROXY names. A rule that cannot be parsed names no host. */
function usesProxy(url: URL, noProxy: string): boolean {
  const host = bareHost(url);
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  const address = addressOf(host);
  if (host === "localhost" || (address !== undefined && isLoopbackAddress(address))) return false;
  const rules = noProxy.split(",").map((rule) => rule.trim().toLowerCase()).filter((rule) => rule !== "");
  return !rules.some((rule) => rule === "*" || matches(rule, { host, port, address }));
}

/** The host and port of a request. */
interface Target {
  readonly host: string;
  readonly port: string;
  /** The bits of `host`, if it is an address. */
  readonly address: string | undefined;
}

/** One rule: a network, an address, `.suffix`, or a name (also a suffix); the last three with an optional port. */
function matches(rule: string, target: Target): boolean {
  const network = networkOf(rule);
  if (network !== undefined) return target.address?.length === network.length && isInNetwork(target.address, network);
  const { name, port = "" } = splitPort(rule) ?? { name: rule };
  if (name === "" || (port !== "" && port !== target.port)) return false;
  const address = addressOf(name);
  if (address !== undefined || target.address !== undefined) return address === target.address;
  const suffix = asciiName(name.startsWith("*.") ? name.slice(1) : name);
  if (suffix.startsWith(".")) return target.host.endsWith(suffix);
  return target.host === suffix || target.host.endsWith(`.${suffix}`);
}

/** As SplitHostPort of Go: undefined for a rule without a port, and for one whose colons or brackets are ambiguous. */
function splitPort(rule: string): { readonly name: string; readonly port: string } | undefined {
  const [, bracketed, bare, port = ""] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(rule) ?? [];
  const name = bracketed ?? bare;
  return name === undefined ? undefined : { name, port };
}

/** The bits of a network, and how many of them count. */
interface Network {
  readonly bits: string;
  readonly length: number;
  readonly prefix: number;
}

/** As ParseCIDR of Go. A network of IPv4 that is written as IPv6 is one of IPv4. */
function networkOf(rule: string): Network | undefined {
  const [, text = "", prefixText = ""] = /^([^/]*)\/(\d{1,8})$/.exec(rule) ?? [];
  const bits = wholeAddress(text);
  const prefix = Number(prefixText);
  if (bits === undefined || prefixText === "" || prefix > bits.length) return undefined;
  const isMapped = bits.length === 128 && bits.startsWith(mappedPrefix) && prefix >= mappedPrefix.length;
  return isMapped
    ? { bits: bits.slice(mappedPrefix.length), length: 32, prefix: prefix - mappedPrefix.length }
    : { bits, length: bits.length, prefix };
}

function isInNetwork(address: string, { bits, prefix }: Network): boolean {
  return address.slice(0, prefix) === bits.slice(0, prefix);
}

/** The first bits of the addresses of IPv4 that are written as IPv6: `::ffff:10.0.0.1`. */
const mappedPrefix = "0".repeat(80) + "1".repeat(16);

function isLoopbackAddress(bits: string): boolean {
  return bits.length === 32 ? bits.startsWith("01111111") : bits === "1".padStart(128, "0");
}

/** The bits of an address; those of IPv4 for one that is written as IPv6. */
function addressOf(text: string): string | undefined {
  const bits = wholeAddress(text);
  return bits?.length === 128 && bits.startsWith(mappedPrefix) ? bits.slice(mappedPrefix.length) : bits;
}

/** The bits of an address as 32 or 128 characters `0` and `1`; undefined if `text` is not an address. */
function wholeAddress(text: string): string | undefined {
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

/** A name with letters outside of ASCII in the form that URLs have; as it is, if it has none. */
function asciiName(name: string): string {
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$|[/?#@\\]/.test(name)) return name;
  const isSuffix = name.startsWith(".");
  const url = URL.parse(`http://${isSuffix ? `a${name}` : name}/`);
  return url === null ? name : isSuffix ? url.hostname.slice(1) : url.hostname;
}

function bits(value: number, width: number): string {
  return value.toString(2).padStart(width, "0");
}
