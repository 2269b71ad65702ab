/** Kubernetes' functions of IP addresses, networks and URLs. */
import { goQuote } from "../model/mod.ts";
import {
  attempt,
  binary,
  type FunctionDecl,
  type Guard,
  isText,
  method,
  type Overload,
  overload,
  unary,
} from "./functions.ts";
import {
  formatIp,
  type GoUrl,
  type IpAddress,
  type IpNetwork,
  isMapped,
  maskedIp,
  networkHolds,
  parseIp,
  parseNetwork,
  parseRequestUri,
} from "./net.ts";
import { boolType, type CelType, intType, listOf, mapOf, stringType } from "./types.ts";
import { CelError, CelOpaque, mapKeyOf, type Value, ValueList, ValueMap } from "./values.ts";

export const ipType: CelType = { kind: "opaque", name: "net.IP", of: [] };
export const cidrType: CelType = { kind: "opaque", name: "net.CIDR", of: [] };
/** `kubernetes.URL`. */
export const urlType: CelType = { kind: "opaque", name: "kubernetes.URL", of: [], isObject: true };

/** An IP address. */
export class CelIp extends CelOpaque {
  override readonly type = ipType;
  readonly ip: IpAddress;

  constructor(ip: IpAddress) {
    super();
    this.ip = ip;
  }

  override equals(other: CelOpaque): boolean {
    return other instanceof CelIp && other.ip.bits === this.ip.bits && other.ip.value === this.ip.value;
  }

  override toText(): string {
    return formatIp(this.ip);
  }
}

/** A network. */
export class CelCidr extends CelOpaque {
  override readonly type = cidrType;
  readonly network: IpNetwork;

  constructor(network: IpNetwork) {
    super();
    this.network = network;
  }

  override equals(other: CelOpaque): boolean {
    return other instanceof CelCidr && other.toText() === this.toText();
  }

  override toText(): string {
    return `${formatIp(this.network.ip)}/${this.network.length}`;
  }
}

/** A URL. */
export class CelUrl extends CelOpaque {
  override readonly type = urlType;
  readonly url: GoUrl;
  readonly #text: string;

  constructor(url: GoUrl, text: string) {
    super();
    this.url = url;
    this.#text = text;
  }

  override equals(other: CelOpaque): boolean {
    return other instanceof CelUrl && other.toText() === this.#text;
  }

  override toText(): string {
    return this.#text;
  }
}

const isIp: Guard<CelIp> = (value) => value instanceof CelIp;
const isCidr: Guard<CelCidr> = (value) => value instanceof CelCidr;
const isUrl: Guard<CelUrl> = (value) => value instanceof CelUrl;

/** The functions. */
export const netFunctions: readonly FunctionDecl[] = [
  {
    name: "ip",
    overloads: [
      overload("string_to_ip", [stringType], ipType, unary(isText, ipOf)),
      method("cidr_ip", [cidrType], ipType, unary(isCidr, (cidr) => new CelIp(cidr.network.ip))),
    ],
  },
  one("isIP", overload("is_ip", [stringType], boolType, unary(isText, (text) => !(ipOf(text) instanceof CelError)))),
  one("ip.isCanonical", overload("ip_is_canonical", [stringType], boolType, unary(isText, isCanonical))),
  one("family", method("ip_family", [ipType], intType, unary(isIp, ({ ip }) => ip.bits === 32 ? 4n : 6n))),
  test("isUnspecified", "ip_is_unspecified", (ip) => ip.value === 0n),
  test("isLoopback", "ip_is_loopback", isLoopback),
  test("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
  test("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
  test("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
  one("cidr", overload("string_to_cidr", [stringType], cidrType, unary(isText, cidrOf))),
  one(
    "isCIDR",
    overload("is_cidr", [stringType], boolType, unary(isText, (text) => !(cidrOf(text) instanceof CelError))),
  ),
  {
    name: "containsIP",
    overloads: [
      method("cidr_contains_ip_string", [cidrType, stringType], boolType, binary(isCidr, isText, holdsIpText)),
      method(
        "cidr_contains_ip_ip",
        [cidrType, ipType],
        boolType,
        binary(isCidr, isIp, (cidr, { ip }) => networkHolds(cidr.network, ip)),
      ),
    ],
  },
  {
    name: "containsCIDR",
    overloads: [
      method("cidr_contains_cidr_string", [cidrType, stringType], boolType, binary(isCidr, isText, holdsCidrText)),
      method("cidr_contains_cidr", [cidrType, cidrType], boolType, binary(isCidr, isCidr, holdsCidr)),
    ],
  },
  one(
    "prefixLength",
    method("cidr_prefix_length", [cidrType], intType, unary(isCidr, (c) => BigInt(c.network.length))),
  ),
  one("masked", method("cidr_masked", [cidrType], cidrType, unary(isCidr, masked))),
  {
    name: "string",
    overloads: [
      overload("ip_to_string", [ipType], stringType, unary(isIp, (ip) => ip.toText())),
      overload("cidr_to_string", [cidrType], stringType, unary(isCidr, (cidr) => cidr.toText())),
    ],
  },
  one("url", overload("string_to_url", [stringType], urlType, unary(isText, urlOf))),
  one(
    "isURL",
    overload("is_url_string", [stringType], boolType, unary(isText, (t) => !(urlOf(t) instanceof CelError))),
  ),
  part("getScheme", "url_get_scheme", (url) => url.scheme),
  part("getHost", "url_get_host", (url) => url.host),
  part("getHostname", "url_get_hostname", hostname),
  part("getPort", "url_get_port", (url) => /:([0-9]*)$/.exec(withoutBrackets(url.host))?.[1] ?? ""),
  part("getEscapedPath", "url_get_escaped_path", escapedPath),
  one("getQuery", method("url_get_query", [urlType], mapOf(stringType, listOf(stringType)), unary(isUrl, queryOf))),
];

function one(name: string, only: Overload): FunctionDecl {
  return { name, overloads: [only] };
}

function test(name: string, id: string, run: (ip: IpAddress) => boolean): FunctionDecl {
  return one(name, method(id, [ipType], boolType, unary(isIp, ({ ip }) => run(ip))));
}

function part(name: string, id: string, run: (url: GoUrl) => string): FunctionDecl {
  return one(name, method(id, [urlType], stringType, unary(isUrl, ({ url }) => run(url))));
}

function ipOf(text: string): Value {
  return attempt(() => {
    let ip: IpAddress;
    try {
      ip = parseIp(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return new CelError(`IP Address ${goQuote(text)} parse error during conversion from string: ${error.message}`);
    }
    if (ip.zone !== "") return new CelError(`IP address ${goQuote(text)} with zone value is not allowed`);
    if (isMapped(ip)) return new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
    return new CelIp(ip);
  });
}

function isCanonical(text: string): Value {
  const ip = ipOf(text);
  return ip instanceof CelIp ? ip.toText() === text : ip;
}

function isLoopback(ip: IpAddress): boolean {
  return ip.bits === 32 ? ip.value >> 24n === 127n : ip.value === 1n;
}

function isLinkLocalMulticast(ip: IpAddress): boolean {
  return ip.bits === 32 ? ip.value >> 8n === 0xe00000n : (ip.value >> 112n & 0xff0fn) === 0xff02n;
}

function isLinkLocalUnicast(ip: IpAddress): boolean {
  return ip.bits === 32 ? ip.value >> 16n === 0xa9fen : ip.value >> 118n === 0xfe80n >> 6n;
}

function isGlobalUnicast(ip: IpAddress): boolean {
  if (ip.bits === 32 && (ip.value === 0n || ip.value === 0xffffffffn)) return false;
  const isMulticast = ip.bits === 32 ? ip.value >> 28n === 0xen : ip.value >> 120n === 0xffn;
  return ip.value !== 0n && !isLoopback(ip) && !isMulticast && !isLinkLocalUnicast(ip);
}

function cidrOf(text: string): Value {
  const prefix = "network address parse error during conversion from string: ";
  let network: IpNetwork;
  try {
    network = parseNetwork(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new CelError(`${prefix}${prefix}${error.message}`);
  }
  if (isMapped(network.ip)) return new CelError(`${prefix}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new CelCidr(network);
}

function holdsIpText(cidr: CelCidr, text: string): Value {
  const ip = ipOf(text);
  return ip instanceof CelIp ? networkHolds(cidr.network, ip.ip) : ip;
}

function holdsCidrText(cidr: CelCidr, text: string): Value {
  const other = cidrOf(text);
  return other instanceof CelCidr ? holdsCidr(cidr, other) : other;
}

function holdsCidr(cidr: CelCidr, other: CelCidr): Value {
  return cidr.network.length <= other.network.length && networkHolds(cidr.network, other.network.ip);
}

function masked(cidr: CelCidr): Value {
  return new CelCidr({ ip: maskedIp(cidr.network), length: cidr.network.length });
}

function urlOf(text: string): Value {
  try {
    parseRequestUri(text);
    const hash = text.indexOf("#");
    return new CelUrl(parseRequestUri(hash < 0 ? text : text.slice(0, hash)), text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new CelError(`URL parse error during conversion from string: ${error.message}`);
  }
}

function withoutBrackets(host: string): string {
  return host.startsWith("[") ? host.slice(host.lastIndexOf("]") + 1) : host;
}

function hostname(url: GoUrl): string {
  if (!url.host.startsWith("[")) return url.host.replace(/:[0-9]*$/, "");
  return url.host.slice(1, url.host.lastIndexOf("]"));
}

function escapedPath(url: GoUrl): string {
  return url.path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/[\]%]+/g, (part) => encodeURIComponent(part));
}

function queryOf(value: CelUrl): Value {
  const entries = new Map<string, readonly [Value, Value]>();
  const lists = new Map<string, string[]>();
  for (const pair of value.url.query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const at = pair.indexOf("=");
    const [key, item] = [unescaped(at < 0 ? pair : pair.slice(0, at)), unescaped(at < 0 ? "" : pair.slice(at + 1))];
    if (key === undefined || item === undefined) continue;
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [item]);
    else list.push(item);
  }
  for (const [key, list] of lists) entries.set(mapKeyOf(key) ?? "", [key, new ValueList(list)]);
  return new ValueMap(entries);
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
