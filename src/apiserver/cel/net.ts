/** IP addresses, networks and URLs as Go's `net/netip` and `net/url` read them. */
import { goQuote } from "../model/mod.ts";

/** An IP address. */
export interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
  /** What stands behind `%`. */
  readonly zone: string;
}

/** Reads an address. @throws {RangeError} that says what is wrong, as `netip.ParseAddr` */
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
export function formatIp(ip: IpAddress): string {
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
export function isMapped(ip: IpAddress): boolean {
  return ip.bits === 128 && ip.value >> 32n === 0xffffn;
}

/** A network. */
export interface IpNetwork {
  readonly ip: IpAddress;
  readonly length: number;
}

/** Reads a network. @throws {RangeError} that says what is wrong, as `netip.ParsePrefix` */
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

/** The address with all bits behind the prefix cleared. */
export function maskedIp({ ip, length }: IpNetwork): IpAddress {
  const shift = BigInt(ip.bits - length);
  return { ...ip, value: ip.value >> shift << shift };
}

/** True when an address lies in a network. */
export function networkHolds(network: IpNetwork, ip: IpAddress): boolean {
  if (ip.zone !== "" || ip.bits !== network.ip.bits) return false;
  const shift = BigInt(ip.bits - network.length);
  return ip.value >> shift === network.ip.value >> shift;
}

/** The parts of a URL. */
export interface GoUrl {
  readonly scheme: string;
  /** Host and port. */
  readonly host: string;
  /** As it was written. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

/** Reads an absolute URI or path. @throws {RangeError} that says what is wrong, as `url.ParseRequestURI` */
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
