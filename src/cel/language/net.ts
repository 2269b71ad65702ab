/** IP addresses, networks and URLs as Go's `net/netip` and `net/url` parse them, and their CEL functions. */
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
import { boolType, type CelType, intType, listOf, mapOf, stringType } from "./types.ts";
import { CelError, CelOpaque, mapKeyOf, type Value, ValueList, ValueMap } from "./values.ts";

/** An IP address. */
interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
  /** The part after `%`. */
  readonly zone: string;
}

/** Parses an address. @throws {RangeError} with the message of `netip.ParseAddr` */
export function parseIp(text: string): IpAddress {
  const fail = (why: string): RangeError => new RangeError(`ParseAddr(${goQuote(text)}): ${why}`);
  for (const character of text) {
    if (character === ".") return { bits: 32, value: parseIpv4(text, fail), zone: "" };
    if (character === ":") return parseIpv6(text, fail);
    if (character === "%") throw fail("missing IPv6 address");
  }
  throw fail("unable to parse IP");
}

function parseIpv4(text: string, fail: (why: string) => RangeError): bigint {
  let value = 0n;
  const fields = text.split(".");
  for (const [index, field] of fields.entries()) {
    if (/[^0-9]/.test(field)) throw fail(`unexpected character (at ${goQuote(text.slice(text.indexOf(field)))})`);
    if (field === "") {
      throw fail(`IPv4 field must have at least one digit (at ${goQuote(fields.slice(index).join("."))})`);
    }
    if (field.length > 1 && field.startsWith("0")) throw fail("IPv4 field has octet with leading zero");
    if (Number(field) > 255) throw fail("IPv4 field has value >255");
    value = value * 256n + BigInt(field);
  }
  if (fields.length < 4) throw fail("IPv4 address too short");
  if (fields.length > 4) throw fail("IPv4 address too long");
  return value;
}

function parseIpv6(text: string, fail: (why: string) => RangeError): IpAddress {
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent + 1);
  if (percent >= 0 && zone === "") throw fail("zone must be a non-empty string");
  const body = percent < 0 ? text : text.slice(0, percent);
  const halves = body.split("::");
  if (halves.length > 2) throw fail("multiple :: in address");
  const groups = halves.map((half, index) => groupsOf(half, index === halves.length - 1, fail));
  const [head = [], tail = []] = groups;
  const count = head.length + tail.length;
  if (halves.length === 1 && count < 8) throw fail("address string too short");
  if (count > 8 || (halves.length === 2 && count === 8)) throw fail("trailing garbage after address");
  const all = halves.length === 1 ? head : [...head, ...new Array<number>(8 - count).fill(0), ...tail];
  return { bits: 128, value: all.reduce((sum, group) => sum * 65536n + BigInt(group), 0n), zone };
}

function groupsOf(half: string, isLast: boolean, fail: (why: string) => RangeError): number[] {
  if (half === "") return [];
  const groups: number[] = [];
  const fields = half.split(":");
  for (const [index, field] of fields.entries()) {
    if (isLast && index === fields.length - 1 && field.includes(".")) {
      const value = parseIpv4(field, fail);
      groups.push(Number(value / 65536n), Number(value % 65536n));
    } else if (/^[0-9a-fA-F]{1,4}$/.test(field)) groups.push(parseInt(field, 16));
    else if (field === "") throw fail("each colon-separated field must have at least one digit");
    else if (/^[0-9a-fA-F]{5,}$/.test(field)) throw fail("each group must have 4 or less digits");
    else throw fail("unexpected character, want colon");
  }
  return groups;
}

/** An address in its canonical form. */
function formatIp(ip: IpAddress): string {
  if (ip.bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (ip.value >> shift) & 255n).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => Number((ip.value >> BigInt(112 - index * 16)) & 65535n));
  const run = longestZeros(groups);
  const zone = ip.zone === "" ? "" : `%${ip.zone}`;
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":");
  if (run === undefined) return hex(groups) + zone;
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.end))}${zone}`;
}

function longestZeros(groups: readonly number[]): { start: number; end: number } | undefined {
  let best: { start: number; end: number } | undefined;
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (end < groups.length && groups[end] === 0) end++;
    if (end - start >= 2 && (best === undefined || end - start > best.end - best.start)) best = { start, end };
    if (end > start) start = end;
  }
  return best;
}

/** True for `::ffff:1.2.3.4`. */
function isMapped(ip: IpAddress): boolean {
  return ip.bits === 128 && ip.value >> 32n === 0xffffn;
}

/** A network. */
interface IpNetwork {
  readonly ip: IpAddress;
  readonly length: number;
}

/** Parses a network. @throws {RangeError} with the message of `netip.ParsePrefix` */
export function parseNetwork(text: string): IpNetwork {
  const fail = (why: string): RangeError => new RangeError(`netip.ParsePrefix(${goQuote(text)}): ${why}`);
  const slash = text.lastIndexOf("/");
  if (slash < 0) throw fail("no '/'");
  let ip: IpAddress;
  try {
    ip = parseIp(text.slice(0, slash));
  } catch (error) {
    if (error instanceof RangeError) throw fail(error.message);
    throw error;
  }
  if (ip.zone !== "") throw fail("IPv6 zones cannot be present in a prefix");
  const digits = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]*)$/.test(digits)) throw fail(`bad bits after slash: ${goQuote(digits)}`);
  const length = Number(digits);
  if (length > ip.bits) throw fail("prefix length out of range");
  return { ip, length };
}

/** The address with all bits after the prefix cleared. */
function maskedIp({ ip, length }: IpNetwork): IpAddress {
  const shift = BigInt(ip.bits - length);
  return { ...ip, value: ip.value >> shift << shift };
}

/** True when the network contains the address. */
function networkHolds(network: IpNetwork, ip: IpAddress): boolean {
  if (ip.zone !== "" || ip.bits !== network.ip.bits) return false;
  const shift = BigInt(ip.bits - network.length);
  return ip.value >> shift === network.ip.value >> shift;
}

/** The parts of a URL. */
interface GoUrl {
  readonly scheme: string;
  /** Host and port. */
  readonly host: string;
  /** As it was written, still escaped. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

/** Parses an absolute URI or path. @throws {RangeError} with the message of `url.ParseRequestURI` */
export function parseRequestUri(text: string): GoUrl {
  const fail = (why: string): RangeError => new RangeError(`parse ${goQuote(text)}: ${why}`);
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(text)) throw fail("net/url: invalid control character in URL");
  if (text === "") throw fail("empty url");
  if (text === "*") return { scheme: "", host: "", path: "*", query: "" };
  if (text.startsWith(":")) throw fail("missing protocol scheme");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase() ?? "";
  const afterScheme = scheme === "" ? text : text.slice(scheme.length + 1);
  const question = afterScheme.indexOf("?");
  const query = question < 0 ? "" : afterScheme.slice(question + 1);
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { scheme, host: "", path: "", query };
    throw fail("invalid URI for request");
  }
  let [host, path] = ["", rest];
  if (scheme !== "" && rest.startsWith("//")) {
    const slash = rest.indexOf("/", 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    path = slash < 0 ? "" : rest.slice(slash);
    host = hostOf(authority, fail);
  }
  checkEscapes(path, fail);
  return { scheme, host, path, query };
}

function hostOf(authority: string, fail: (why: string) => RangeError): string {
  const at = authority.lastIndexOf("@");
  const [user, host] = at < 0 ? ["", authority] : [authority.slice(0, at), authority.slice(at + 1)];
  if (/[^A-Za-z0-9\-._:~!$&'()*+,;=%@]/.test(user)) throw fail("net/url: invalid userinfo");
  if (host.startsWith("[")) {
    const close = host.lastIndexOf("]");
    if (close < 0) throw fail("missing ']' in host");
    checkPort(host.slice(close + 1), fail);
    return host;
  }
  const colon = host.lastIndexOf(":");
  if (colon >= 0) checkPort(host.slice(colon), fail);
  const wrong = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\x80-\uffff]/.exec(host);
  if (wrong !== null) throw fail(`invalid character ${goQuote(wrong[0])} in host name`);
  checkEscapes(host, fail);
  return host;
}

function checkPort(port: string, fail: (why: string) => RangeError): void {
  if (port !== "" && !/^:[0-9]*$/.test(port)) throw fail(`invalid port ${goQuote(port)} after host`);
}

function checkEscapes(text: string, fail: (why: string) => RangeError): void {
  for (const found of text.matchAll(/%(?![0-9a-fA-F]{2})/g)) {
    throw fail(`invalid URL escape ${goQuote(text.slice(found.index, found.index + 3))}`);
  }
}

const ipType: CelType = { kind: "opaque", name: "net.IP", of: [] };
const cidrType: CelType = { kind: "opaque", name: "net.CIDR", of: [] };
/** `kubernetes.URL`. */
const urlType: CelType = { kind: "opaque", name: "kubernetes.URL", of: [], isObject: true };

/** An IP address. */
class CelIp extends CelOpaque {
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
class CelCidr extends CelOpaque {
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
class CelUrl extends CelOpaque {
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

/** The functions of IP addresses, networks and URLs. */
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
