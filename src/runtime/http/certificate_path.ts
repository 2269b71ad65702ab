/**
 * The rules of crypto/x509 of Go for the certificate of a server, beside those of the runtime that has verified its
 * signatures: TLS libraries differ in what else they check, and a server that kubectl refuses must be refused here as well.
 *
 * Guarantees: every certificate of the path, the trusted one too, is valid now, is for servers or for anything, and has no
 * critical extension that is not known; every issuer is an authority that may sign certificates, for paths of that length;
 * every signature but that of the trusted certificate is stronger than SHA-1 (an attacker can forge weaker ones); the server
 * has the name among its alternative names, because no issuer checks a common name.
 *
 * Assumptions: the runtime has verified the signatures and the name constraints. Where it found no path, this file verifies
 * the signatures itself, and accepts no path with name constraints.
 */
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { fromBase64, toHex } from "./bytes_as_text.ts";

/** The part of the certificates of `node:tls` and of Bun's sockets that this file uses. */
export interface ServerCertificate {
  /** The certificate in DER. */
  readonly raw: Uint8Array;
  /** The certificate of its issuer; the last one, which is trusted, is its own or has none. */
  readonly issuerCertificate?: ServerCertificate;
}

/** What the server must prove. */
export interface ExpectedServer {
  /** The name or the address that the server must have. */
  readonly name: string;
  /** The trusted certificates as PEM text. @default those of the system, which are not checked again */
  readonly ca: string | undefined;
}

/** Checks the certificate of a server. @returns the error, or undefined if the certificate may be used */
export function refuseCertificate(certificate: ServerCertificate, expected: ExpectedServer): Error | undefined {
  try {
    const [leaf, ...issuers] = pathOf(certificate).map(parseCertificate);
    if (leaf === undefined) return refused("there is no certificate");
    if (!hasName(leaf, expected.name)) {
      const kind = isIP(expected.name) === 0 ? "for the host name" : "for the address";
      return withCode(`the certificate has no subject alternative name ${kind}`, "ERR_TLS_CERT_ALTNAME_INVALID");
    }
    return pathProblem([leaf, ...issuers], trustedCertificates(expected.ca));
  } catch (error) {
    return refused(`a certificate is malformed (${error instanceof Error ? error.message : "unknown"})`);
  }
}

/**
 * True if a trusted certificate is no root, which Go trusts all the same, and for which the runtimes find no path: the
 * certificate of a server, for this one server, or that of an authority that another one has signed.
 */
export function trustsBelowRoots(ca: string | undefined): boolean {
  return trustedCertificates(ca).some(({ isAuthority, isVersion1, issuer, subject }) =>
    !(isAuthority ?? isVersion1) || issuer !== subject
  );
}

/**
 * Checks the certificate of a server for which the runtime has found no path, because of `error`: as in Go, it needs none
 * if it is itself trusted, and the path may end at any trusted authority.
 *
 * @returns the error, or undefined if the certificate may be used
 */
export function refuseWithoutPath(
  error: Error,
  certificate: ServerCertificate | undefined,
  expected: ExpectedServer,
): Error | undefined {
  if (certificate === undefined) return error;
  try {
    const sent = pathOf(certificate).slice(0, maxJudgedLength).map(parseCertificate);
    const path = pathToTrusted(sent, trustedCertificates(expected.ca));
    return path === undefined ? error : refuseCertificate(path, expected);
  } catch {
    return error;
  }
}

/**
 * The path from the first of the `sent` certificates to a trusted one, whose signatures are good. Undefined if there is none,
 * or if an issuer in it constrains names: those are what only the runtime checks.
 */
function pathToTrusted(
  sent: readonly Certificate[],
  trusted: readonly Certificate[],
): ServerCertificate | undefined {
  const path: Certificate[] = [];
  for (let one: Certificate | undefined = sent[0]; one !== undefined && path.length < sent.length;) {
    const { der } = one;
    path.push(one);
    if (trusted.some((known) => isSameBytes(known.der, der))) return linked(path);
    const issuer: Certificate | undefined = trusted.find(isIssuerOf(one));
    if (issuer !== undefined) return issuer.constrainsNames ? undefined : linked([...path, issuer]);
    one = sent.find(isIssuerOf(one));
    if (one?.constrainsNames) return undefined;
  }
  return undefined;
}

function isIssuerOf(one: Certificate): (other: Certificate) => boolean {
  return (other) =>
    other.subject === one.issuer && new X509Certificate(one.der).verify(new X509Certificate(other.der).publicKey);
}

function linked([first, ...issuers]: readonly Certificate[]): ServerCertificate | undefined {
  if (first === undefined) return undefined;
  const issuerCertificate = linked(issuers);
  return { raw: first.der, ...(issuerCertificate === undefined ? {} : { issuerCertificate }) };
}

/** No runtime accepts a longer chain. */
const maxChainLength = 100;

/** The most certificates of a server whose signatures are verified here: 100 verifications, as crypto/x509 of Go. */
const maxJudgedLength = 10;

function pathOf(certificate: ServerCertificate): readonly Uint8Array[] {
  const path: Uint8Array[] = [];
  let one: ServerCertificate | undefined = certificate;
  while (one !== undefined && path.length < maxChainLength) {
    const { raw, issuerCertificate }: ServerCertificate = one;
    path.push(raw);
    one = issuerCertificate === one || (issuerCertificate !== undefined && isSameBytes(issuerCertificate.raw, raw))
      ? undefined
      : issuerCertificate;
  }
  return path;
}

/** The facts of one certificate. */
interface Certificate {
  readonly der: Uint8Array;
  readonly isVersion1: boolean;
  /** In DER, as hexadecimal digits. */
  readonly issuer: string;
  readonly subject: string;
  readonly signature: { readonly name: string; readonly parameters: string };
  readonly notBefore: number;
  readonly notAfter: number;
  /** Undefined: without basic constraints. */
  readonly isAuthority: boolean | undefined;
  readonly maxPathLength: number;
  readonly maySign: boolean;
  readonly isForServers: boolean;
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly constrainsNames: boolean;
  readonly hasUnknownCriticalExtension: boolean;
}

/** @param path The certificate of the server, then those of its issuers as far as they are known. */
function pathProblem(path: readonly Certificate[], trusted: readonly Certificate[]): Error | undefined {
  for (const [index, one] of path.entries()) {
    const isTrusted = trusted.some(({ der }) => isSameBytes(der, one.der));
    const isLast = index === path.length - 1;
    const isRoot = isTrusted || (isLast && one.issuer === one.subject);
    const problem = certificateProblem(one, index) ?? (isRoot ? undefined : signatureProblem(one));
    if (problem !== undefined || isRoot) return problem;
  }
  // The runtime does not tell which trusted certificate has signed the last one: one of that name must be good.
  const issuer = path.at(-1)?.issuer;
  const problems = trusted.filter(({ subject }) => subject === issuer).map((one) =>
    certificateProblem(one, path.length)
  );
  return problems.includes(undefined) ? undefined : problems[0];
}

/** @param depth 0 for the server; the number of certificates below an authority. */
function certificateProblem(one: Certificate, depth: number): Error | undefined {
  const now = Date.now();
  if (now > one.notAfter) return withCode("certificate has expired", "CERT_HAS_EXPIRED");
  if (now < one.notBefore) return withCode("certificate is not yet valid", "CERT_NOT_YET_VALID");
  if (one.hasUnknownCriticalExtension) return refused("a certificate has a critical extension that is not known");
  if (!one.isForServers) return withCode("a certificate is not for servers", "INVALID_PURPOSE");
  if (depth === 0) return undefined;
  const isAuthority = one.isAuthority ?? one.isVersion1;
  if (!isAuthority || !one.maySign) return withCode("a certificate may not sign others", "INVALID_CA");
  return depth - 1 > one.maxPathLength
    ? withCode("a path of certificates is longer than allowed", "PATH_LENGTH_EXCEEDED")
    : undefined;
}

/** The signature algorithms of x509 of Go, as the bytes of their object identifiers. */
const strongSignatures: ReadonlySet<string> = new Set([
  "2a864886f70d01010b", // RSA with SHA-256, -384, -512
  "2a864886f70d01010c",
  "2a864886f70d01010d",
  "2a8648ce3d040302", // ECDSA with SHA-256, -384, -512
  "2a8648ce3d040303",
  "2a8648ce3d040304",
  "2b6570", // Ed25519
]);
/** RSA-PSS, whose hash is in its parameters, and SHA-256, -384 and -512 there. */
const pss = "2a864886f70d01010a";
const strongHash = /608648016503040201|608648016503040202|608648016503040203/;

function signatureProblem({ signature: { name, parameters } }: Certificate): Error | undefined {
  if (strongSignatures.has(name) || (name === pss && strongHash.test(parameters))) return undefined;
  return withCode("a certificate is signed with SHA-1 or an unknown algorithm", "CERT_WEAK_SIGNATURE");
}

/** True if the certificate has the name of the server. A name that looks like an address is one. */
function hasName({ dnsNames, addresses }: Certificate, expected: string): boolean {
  const name = expected.replace(/^\[|\]$/g, "");
  if (isIP(name) !== 0) return addresses.includes(canonicalAddress(name));
  const host = name.toLowerCase().replace(/\.$/, "");
  return dnsNames.some((pattern) => matchesPattern(host, pattern.toLowerCase()));
}

const label = /^[a-z0-9_][a-z0-9_-]*$/;

/** A `*` is the whole first label of a name with more labels, and stands for exactly one. */
function matchesPattern(host: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split(".");
  if (!rest.every((part) => label.test(part))) return false;
  if (first !== "*" || rest.length === 0) return label.test(first) && host === pattern;
  const [hostFirst = "", ...hostRest] = host.split(".");
  return label.test(hostFirst) && hostRest.join(".") === rest.join(".");
}

function canonicalAddress(text: string): string {
  return new URL(text.includes(":") ? `http://[${text}]` : `http://${text}`).hostname;
}

/** Parsed once per text, because a client opens many connections with the same authorities. */
let parsedTrust: { readonly ca: string; readonly certificates: readonly Certificate[] } | undefined;

function trustedCertificates(ca: string | undefined): readonly Certificate[] {
  if (ca === undefined) return [];
  if (parsedTrust?.ca === ca) return parsedTrust.certificates;
  const blocks = ca.match(/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END/g) ?? [];
  const certificates = blocks.flatMap((block) => {
    try {
      const base64 = block.slice(block.indexOf("-----", 5) + 5, -8);
      return [parseCertificate(fromBase64(base64.replace(/\s+/g, "")))];
    } catch {
      return []; // The runtime does not trust it either.
    }
  });
  parsedTrust = { ca, certificates };
  return certificates;
}

/** One value of DER: its tag, and where its content is. */
interface Value {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

function valueAt(der: Uint8Array, at: number, limit: number): Value {
  const [tag, first] = [der[at], der[at + 1]];
  if (tag === undefined || first === undefined) throw new Error("it is too short");
  let [start, length] = [at + 2, first];
  if (first >= 0x80) {
    const digits = first & 0x7f;
    if (digits === 0 || digits > 4) throw new Error("a length is wrong");
    length = der.subarray(start, start + digits).reduce((value, byte) => value * 256 + byte, 0);
    start += digits;
  }
  if (start + length > limit) throw new Error("a length is wrong");
  return { tag, start, end: start + length };
}

function valuesIn(der: Uint8Array, { start, end }: Pick<Value, "start" | "end">): readonly Value[] {
  const values: Value[] = [];
  for (let at = start; at < end; at = values.at(-1)?.end ?? end) values.push(valueAt(der, at, end));
  return values;
}

function parseCertificate(der: Uint8Array): Certificate {
  const [body, algorithm] = valuesIn(der, valueAt(der, 0, der.length));
  if (body === undefined || algorithm === undefined) throw new Error("a part is missing");
  const parts = valuesIn(der, body);
  const hasVersion = parts[0]?.tag === 0xa0;
  const [, , issuer, validity, subject] = hasVersion ? parts.slice(1) : parts;
  const [name, parameters] = valuesIn(der, algorithm);
  if (issuer === undefined || validity === undefined || subject === undefined || name === undefined) {
    throw new Error("a part is missing");
  }
  const [from, until] = valuesIn(der, validity);
  const extensions = parts.find(({ tag }) => tag === 0xa3);
  const list = extensions === undefined ? undefined : valueAt(der, extensions.start, extensions.end);
  return {
    der,
    isVersion1: !hasVersion,
    issuer: hexOf(der, issuer),
    subject: hexOf(der, subject),
    signature: { name: hexOf(der, name), parameters: parameters === undefined ? "" : hexOf(der, parameters) },
    notBefore: timeOf(der, from),
    notAfter: timeOf(der, until),
    ...extensionsOf(der, list === undefined ? [] : valuesIn(der, list)),
  };
}

type Extensions = Pick<
  Certificate,
  | "isAuthority"
  | "maxPathLength"
  | "maySign"
  | "isForServers"
  | "dnsNames"
  | "addresses"
  | "constrainsNames"
  | "hasUnknownCriticalExtension"
>;

const basicConstraints = "551d13", keyUsage = "551d0f", extendedKeyUsage = "551d25", alternativeNames = "551d11";
const nameConstraints = "551d1e";
/** Extensions that Go handles, and that need no check here. */
const knownExtensions: ReadonlySet<string> = new Set([
  "551d0e", // identifier of the key
  "551d23", // identifier of the issuer's key
  "551d1f", // revocation lists
  "551d20", // policies, their mappings and constraints
  "551d21",
  "551d24",
  "551d36",
  "2b06010505070101", // information about the authority
]);
const serverAuth = "2b06010505070301", anyUsage = "551d2500";

function extensionsOf(der: Uint8Array, list: readonly Value[]): Extensions {
  let found: Extensions = {
    isAuthority: undefined,
    maxPathLength: Infinity,
    maySign: true,
    isForServers: true,
    dnsNames: [],
    addresses: [],
    constrainsNames: false,
    hasUnknownCriticalExtension: false,
  };
  for (const extension of list) {
    const [id, second, third] = valuesIn(der, extension);
    const content = third ?? second;
    if (id === undefined || content === undefined) throw new Error("an extension is incomplete");
    const isCritical = second?.tag === 1 && der[second.start] !== 0;
    const value = valueAt(der, content.start, content.end);
    switch (hexOf(der, id)) {
      case basicConstraints:
        found = { ...found, ...constraintsOf(der, value) };
        break;
      case keyUsage:
        // The first byte is the number of unused bits; keyCertSign is the sixth bit.
        found = { ...found, maySign: ((der[value.start + 1] ?? 0) & 0x04) !== 0 };
        break;
      case extendedKeyUsage: {
        const usages = valuesIn(der, value).map((usage) => hexOf(der, usage));
        found = { ...found, isForServers: usages.includes(serverAuth) || usages.includes(anyUsage) };
        break;
      }
      case alternativeNames:
        found = { ...found, ...namesOf(der, value) };
        break;
      case nameConstraints: // The runtime checks them.
        found = { ...found, constrainsNames: true };
        break;
      default:
        if (isCritical && !knownExtensions.has(hexOf(der, id))) found = { ...found, hasUnknownCriticalExtension: true };
    }
  }
  return found;
}

function constraintsOf(der: Uint8Array, value: Value): Pick<Extensions, "isAuthority" | "maxPathLength"> {
  const parts = valuesIn(der, value);
  const flag = parts.find(({ tag }) => tag === 1), length = parts.find(({ tag }) => tag === 2);
  const bytes = length === undefined ? [] : [...der.subarray(length.start, length.end)];
  return {
    isAuthority: flag !== undefined && der[flag.start] !== 0,
    maxPathLength: length === undefined ? Infinity : bytes.reduce((total, byte) => total * 256 + byte, 0),
  };
}

function namesOf(der: Uint8Array, value: Value): Pick<Extensions, "dnsNames" | "addresses"> {
  const values = valuesIn(der, value);
  const dnsNames = values.filter(({ tag }) => tag === 0x82).map((name) => textOf(der, name));
  const addresses = values.filter(({ tag }) => tag === 0x87).map(({ start, end }) =>
    addressOf(der.subarray(start, end))
  );
  return { dnsNames, addresses };
}

function addressOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) throw new Error("an address has a wrong length");
  return canonicalAddress(toHex(bytes).match(/.{4}/g)?.join(":") ?? "");
}

/** UTCTime `YYMMDDhhmmssZ`, whose years are 1950 to 2049, or GeneralizedTime with four digits. */
function timeOf(der: Uint8Array, value: Value | undefined): number {
  const text = value === undefined ? "" : textOf(der, value);
  const short = /^\d{12}Z$/.test(text) ? `${Number(text.slice(0, 2)) < 50 ? "20" : "19"}${text}` : text;
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(short) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(time)) throw new Error("a date is wrong");
  return time;
}

function textOf(der: Uint8Array, { start, end }: Value): string {
  return String.fromCharCode(...der.subarray(start, Math.min(end, start + 1_024)));
}

function hexOf(der: Uint8Array, { start, end }: Value): string {
  return toHex(der.subarray(start, end));
}

function isSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

function refused(state: string): Error {
  return withCode(state, "CERT_REJECTED");
}

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
