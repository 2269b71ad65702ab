/**
 * The Secret in which all replicas of an operator keep their webhook certificate, as states and the steps between them.
 *
 * A rotation has three steps, each of them one write: the next pair and its authority are stored beside the present ones;
 * both authorities are published; the next pair takes the present one's place. Whoever finds the Secret in between goes on
 * from there, and two who try the same step meet in a conflict.
 */
import { builtin, type ObjectMeta } from "../api/mod.ts";
import { isKeyPair } from "../runtime/mod.ts";
import {
  canonicalHost,
  type CertificateFacts,
  certificateFacts,
  type IssuedCertificates,
} from "./_issue_certificates.ts";

/** A pair with what it says of itself. */
export interface StoredPair {
  readonly cert: string;
  readonly key: string;
  readonly facts: CertificateFacts;
}

/** What the Secret holds. */
export interface CertificateState {
  /** Absent where the Secret has none that can be used. */
  readonly current?: StoredPair;
  /** Waits for its authority to be known everywhere. */
  readonly next?: StoredPair;
  /** Authorities, the newest first. PEM. */
  readonly authorities: readonly string[];
}

/** What a Secret's fields are called; the first two as `kubernetes.io/tls` wants them. */
const fields = {
  cert: "tls.crt",
  key: "tls.key",
  nextCert: "next-tls.crt",
  nextKey: "next-tls.key",
  authorities: "ca.crt",
} as const;

/** Reads the state; fields that make no sense count as absent. */
export async function stateOf(secret: builtin.Secret): Promise<CertificateState> {
  const data = secret.data ?? {};
  const read = (field: string) => Object.hasOwn(data, field) ? decoded(data[field] ?? "") : "";
  return {
    current: await pairOf(read(fields.cert), read(fields.key)),
    next: await pairOf(read(fields.nextCert), read(fields.nextKey)),
    authorities: read(fields.authorities).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [],
  };
}

/** A Secret that holds one pair, in use at once. */
export function freshSecret(
  metadata: ObjectMeta,
  issued: IssuedCertificates,
): { readonly metadata: ObjectMeta; readonly type: string; readonly data: Readonly<Record<string, string>> } {
  return {
    metadata,
    type: "kubernetes.io/tls",
    data: dataOf({ [fields.cert]: issued.cert, [fields.key]: issued.key, [fields.authorities]: issued.ca }),
  };
}

/** The Secret with `issued` in use at once: for one whose pair is of no use to anybody. */
export function replacedSecret(
  secret: builtin.Secret,
  state: CertificateState,
  issued: IssuedCertificates,
): builtin.Secret {
  const data = dataOf({
    [fields.cert]: issued.cert,
    [fields.key]: issued.key,
    [fields.authorities]: withAuthority(state, issued),
  });
  return { ...secret, data: { ...withoutNext(secret), ...data } };
}

/** The Secret with `issued` beside what is in use. */
export function stagedSecret(
  secret: builtin.Secret,
  state: CertificateState,
  issued: IssuedCertificates,
): builtin.Secret {
  const data = dataOf({
    [fields.nextCert]: issued.cert,
    [fields.nextKey]: issued.key,
    [fields.authorities]: withAuthority(state, issued),
  });
  return { ...secret, data: { ...secret.data, ...data } };
}

/** The Secret with the next pair in use. */
export function promotedSecret(secret: builtin.Secret, next: StoredPair): builtin.Secret {
  return {
    ...secret,
    data: { ...withoutNext(secret), ...dataOf({ [fields.cert]: next.cert, [fields.key]: next.key }) },
  };
}

/** True when the pair is valid for all of `hosts`. */
export function covers(pair: StoredPair, hosts: readonly string[]): boolean {
  return hosts.every((host) => pair.facts.hosts.includes(canonicalHost(host)));
}

/** Two authorities are enough: nobody serves any more what an older one signed. */
function withAuthority(state: CertificateState, issued: IssuedCertificates): string {
  return issued.ca + (state.authorities[0] ?? "");
}

function withoutNext(secret: builtin.Secret): Readonly<Record<string, string>> {
  const present = Object.entries(secret.data ?? {});
  return Object.fromEntries(present.filter(([field]) => field !== fields.nextCert && field !== fields.nextKey));
}

async function pairOf(cert: string, key: string): Promise<StoredPair | undefined> {
  if (!isKeyPair(cert, key)) return undefined;
  const facts = await certificateFacts(cert);
  return facts === undefined ? undefined : { cert, key, facts };
}

function dataOf(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([field, text]) => [field, new TextEncoder().encode(text).toBase64()]),
  );
}

function decoded(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(base64));
  } catch {
    return "";
  }
}
