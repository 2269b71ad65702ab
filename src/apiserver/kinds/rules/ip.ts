/**
 * IP addresses and CIDR ranges in fields: parsing, errors and warnings. Validation is strict since Kubernetes 1.36: no leading
 * zeros, no IPv4-mapped IPv6 addresses.
 */
import type { FieldPath } from "./problems.ts";

/** An IP address. */
interface IpAddress {
  readonly family: "IPv4" | "IPv6";
  readonly value: bigint;
  /** True for an IPv4-mapped IPv6 address, e.g. `::ffff:1.2.3.4`. */
  readonly isMapped: boolean;
  /** True for an address with leading zeros, which some programs read as octal. */
  readonly hasLeadingZeros: boolean;
}

/** A CIDR range. */
export interface IpRange {
  readonly address: IpAddress;
  readonly bits: number;
}

const badAddress = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const badRange = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** Parses an address; undefined when it is invalid. */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(":") ? parseIp6(text) : parseIp4(text);
}

function parseIp4(text: string): IpAddress | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d+$/.test(part) && Number(part) <= 255)) return undefined;
  const value = parts.reduce((sum, part) => (sum << 8n) + BigInt(Number(part)), 0n);
  return { family: "IPv4", value, isMapped: false, hasLeadingZeros: parts.some((part) => /^0\d/.test(part)) };
}

function parseIp6(text: string): IpAddress | undefined {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array.from({ length: missing }, () => 0), ...after];
  const value = groups.reduce((sum, group) => (sum << 16n) + BigInt(group), 0n);
  const isMapped = value >> 32n === 0xffffn;
  if (isMapped) return { family: "IPv4", value: value & 0xffff_ffffn, isMapped, hasLeadingZeros: false };
  return { family: "IPv6", value, isMapped, hasLeadingZeros: false };
}

/** The 16-bit groups of a part of an IPv6 address, whose end may be written as IPv4. */
function groupsOf(text: string): readonly number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const isEnd = index === parts.length - 1 && part.includes(".");
    const ip4 = isEnd ? parseIp4(part) : undefined;
    if (ip4 !== undefined) groups.push(Number(ip4.value >> 16n), Number(ip4.value & 0xffffn));
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

/** Formats an address in canonical form (RFC 5952). */
export function formatIp({ family, value }: Pick<IpAddress, "family" | "value">): string {
  if (family === "IPv4") return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  const run = longestZeroRun(groups);
  const hex = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":");
  if (run.length < 2) return hex(groups);
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.length))}`;
}

function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

/** Parses a range; undefined when it is invalid. */
export function parseCidr(text: string): IpRange | undefined {
  const slash = text.indexOf("/");
  const address = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  if (address === undefined || !/^\d+$/.test(bits)) return undefined;
  const maxBits = address.family === "IPv4" && !address.isMapped ? 32 : 128;
  return Number(bits) <= maxBits ? { address, bits: Number(bits) } : undefined;
}

/** The first address of a range. */
export function networkOf({ address, bits }: IpRange): bigint {
  const width = address.family === "IPv4" ? 32 : 128;
  const rest = BigInt(width - bits);
  return (address.value >> rest) << rest;
}

/** True when the address is in the range. */
export function isInRange(address: IpAddress, range: IpRange): boolean {
  if (address.family !== range.address.family) return false;
  return networkOf({ address, bits: range.bits }) === networkOf(range);
}

/** Formats a range in canonical form. */
export function formatCidr(range: IpRange): string {
  return `${formatIp({ family: range.address.family, value: networkOf(range) })}/${range.bits}`;
}

/** Returns the errors of an address. @param known addresses of the old object, which may stay */
export function ipErrors(value: string, known: readonly string[] = []): readonly string[] {
  if (known.includes(value)) return [];
  const address = parseIp(value);
  if (address === undefined) return [badAddress];
  if (address.hasLeadingZeros) return ["must not have leading 0s"];
  return address.isMapped ? ["must not be an IPv4-mapped IPv6 address"] : [];
}

/** Returns the errors of a range. @param known ranges of the old object, which may stay */
export function cidrErrors(value: string, known: readonly string[] = []): readonly string[] {
  if (known.includes(value)) return [];
  const range = parseCidr(value);
  if (range === undefined) return [badRange];
  if (range.address.hasLeadingZeros || /\/0\d/.test(value)) return ["must not have leading 0s in IP or prefix length"];
  if (range.address.isMapped) return ["must not have an IPv4-mapped IPv6 address"];
  return range.address.value === networkOf(range) ? [] : ["must not have bits set beyond the prefix length"];
}

/** Returns the errors of an address that must be in canonical form, e.g. the name of an IPAddress. */
export function strictIpErrors(value: string): readonly string[] {
  const [errors, address] = [ipErrors(value), parseIp(value)];
  return errors.length > 0 || address === undefined ? errors : canonicalErrors(value, formatIp(address));
}

/** Returns the errors of a range that must be in canonical form, e.g. of a ServiceCIDR. */
export function strictCidrErrors(value: string): readonly string[] {
  const [errors, range] = [cidrErrors(value), parseCidr(value)];
  return errors.length > 0 || range === undefined ? errors : canonicalErrors(value, formatCidr(range));
}

/** Returns the errors of the address of an interface with the length of its prefix. */
export function interfaceAddressErrors(value: string): readonly string[] {
  const range = parseCidr(value);
  if (range === undefined) return ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"];
  const bits = range.address.isMapped && range.bits > 32 ? range.bits - 96 : range.bits;
  return canonicalErrors(value, `${formatIp(range.address)}/${bits}`);
}

function canonicalErrors(value: string, canonical: string): readonly string[] {
  return value === canonical ? [] : [`must be in canonical form (${quoted(canonical)})`];
}

/** Returns the warnings about an address that is not in canonical form. */
export function ipWarnings(path: FieldPath, value: string): readonly string[] {
  const address = parseIp(value);
  if (address === undefined) return [];
  const canonical = formatIp(address);
  if (address.hasLeadingZeros || address.isMapped) {
    return [`${path}: non-standard IP address ${quoted(value)} is invalid: use ${quoted(canonical)}`];
  }
  if (address.family === "IPv4" || canonical === value) return [];
  return [`${path}: IPv6 address ${quoted(value)} should be in RFC 5952 canonical format (${quoted(canonical)})`];
}

/** Returns the warnings about a range that is not in canonical form. */
export function cidrWarnings(path: FieldPath, value: string): readonly string[] {
  const range = parseCidr(value);
  if (range === undefined) return [];
  const canonical = formatCidr(range);
  const warnings: string[] = [];
  if (range.address.value !== networkOf(range)) {
    const single = `${formatIp(range.address)}/${range.address.family === "IPv4" ? 32 : 128}`;
    const could = `should be ${quoted(canonical)} or ${quoted(single)}?`;
    warnings.push(`${path}: CIDR value ${quoted(value)} is ambiguous in this context (${could})`);
  }
  if (range.address.hasLeadingZeros || range.address.isMapped) {
    warnings.push(`${path}: non-standard CIDR value ${quoted(value)} is invalid: use ${quoted(canonical)}`);
  }
  const shown = `${formatIp(range.address)}/${range.bits}`;
  if (warnings.length === 0 && range.address.family === "IPv6" && shown !== value) {
    warnings.push(
      `${path}: IPv6 CIDR value ${quoted(value)} should be in RFC 5952 canonical format (${quoted(shown)})`,
    );
  }
  return warnings;
}

/** Returns the errors of the address of an endpoint. */
export function endpointIpErrors(value: string): readonly string[] {
  const address = parseIp(value);
  if (address === undefined) return ["must be a valid IP address"];
  const errors: string[] = [];
  const { family, value: bits } = address;
  const top = (width: bigint) => bits >> ((family === "IPv4" ? 32n : 128n) - width);
  const is4 = family === "IPv4";
  if (bits === 0n) errors.push(`may not be unspecified (${value})`);
  if (is4 ? top(8n) === 127n : bits === 1n) errors.push("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (is4 ? top(16n) === 0xa9fen : top(10n) === 0x3fan) {
    errors.push("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (is4 ? top(24n) === 0xe00000n : (top(16n) & 0xff0fn) === 0xff02n) {
    errors.push("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
  return errors;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
