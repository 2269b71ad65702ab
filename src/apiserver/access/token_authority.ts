/**
 * TokenAuthority: issues and verifies bearer tokens: fixed ones (that of `controller dev`), and those of ServiceAccounts,
 * which are signed JWTs with the claims of kube-apiserver.
 *
 * Guarantees: the signing key never leaves the process and is created when it is first needed; fixed tokens are compared in
 * constant time; a token becomes invalid with its ServiceAccount (UID) or the object it is bound to. Tokens of other servers
 * are valid if they name a known issuer and a known key signed them.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { type Clock, type Random, systemRandom } from "../../async/mod.ts";
import { isJsonObject, type Json, type JsonObject, type ObjectReader, read, type User } from "../model/mod.ts";
import { objectAt, textAt } from "../kinds/mod.ts";
import { newUid } from "../registry/mod.ts";
import { fromBase64, toBase64 } from "../../runtime/mod.ts";

/** Options of a {@link TokenAuthority}. */
export interface TokenAuthorityOptions {
  readonly clock: Clock;
  /** The source of the ids of tokens. @default systemRandom */
  readonly random?: Random;
  /** The stored ServiceAccounts, Pods, Secrets and Nodes. */
  readonly objects: ObjectReader;
  /** Tokens that are valid as long as the server runs. @default none */
  readonly fixed?: ReadonlyMap<string, User>;
  /** The first one is the issuer and default audience of new tokens, and tokens of the others are valid, too. @default that of kube-apiserver */
  readonly issuers?: readonly string[];
  /** The private key that signs the tokens of ServiceAccounts, PEM: RSA or P-256. @default a new one */
  readonly signingKey?: string;
  /** Keys whose tokens are valid beside those of the signing key: public or private, PEM, one or more in a text. @default none */
  readonly trustedKeys?: readonly string[];
}

/** The content of a ServiceAccount's token. */
export interface TokenClaims {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  /** Seconds. */
  readonly lifetimeSeconds: number;
  /** The Pod, Secret or Node it is bound to. */
  readonly boundTo?: BoundObject & { readonly kind: string };
  /** The Node of the Pod it is bound to. Its UID is "" if the Node does not exist. */
  readonly node?: BoundObject;
  /** Seconds after which the server would warn of it, because its lifetime is longer than requested. */
  readonly warnAfterSeconds?: number;
}

/** An object that a token names. */
interface BoundObject {
  readonly name: string;
  readonly uid: string;
}

/** A valid token. */
interface KnownToken {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** JSON Web Signatures hold r and s, not their DER. */
const dsaEncoding = "ieee-p1363";

/** Clocks of servers differ by so much at most. Seconds. */
const maxSkewSeconds = 60;

const defaultIssuer = "https://kubernetes.default.svc.cluster.local";

export class TokenAuthority {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #objects: ObjectReader;
  readonly #issuers: readonly [string, ...string[]];
  readonly #trustedKeys: readonly VerificationKey[];
  /** By digest, because digests have the same length. */
  readonly #fixed: readonly (readonly [digest: Uint8Array, user: User])[];
  #keys: SigningKeys | undefined;

  constructor(options: TokenAuthorityOptions) {
    this.#clock = options.clock;
    this.#random = options.random ?? systemRandom;
    this.#objects = options.objects;
    const [issuer = defaultIssuer, ...otherIssuers] = options.issuers ?? [];
    this.#issuers = [issuer, ...otherIssuers];
    this.#keys = options.signingKey === undefined ? undefined : keysOf(createPrivateKey(options.signingKey));
    this.#trustedKeys = (options.trustedKeys ?? []).flatMap(pemBlocks).map((pem) =>
      verificationKey(createPublicKey(pem))
    );
    this.#fixed = [...options.fixed ?? []].map(([token, user]) => [digestOf(token), user] as const);
  }

  /** The default audience of tokens. */
  get issuer(): string {
    return this.#issuers[0];
  }

  /** The public keys that verify the tokens, as JSON Web Keys: the one that signs first. Creates the signing key. */
  publicKeys(): readonly JsonObject[] {
    const signing = this.#pair();
    const others = this.#trustedKeys.filter(({ id }) => id !== signing.id);
    return [signing, ...others].map(({ publicKey, algorithm, id }) => {
      const { kty = "", crv, ...numbers } = publicKey.export({ format: "jwk" }) as Readonly<Record<string, string>>;
      return { use: "sig", kty, kid: id, ...(crv === undefined ? {} : { crv }), alg: algorithm, ...numbers };
    });
  }

  /** Verifies a token; undefined when it is unknown or no longer valid. */
  read(token: string): KnownToken | undefined {
    const digest = digestOf(token);
    let found: User | undefined;
    for (const [known, user] of this.#fixed) if (timingSafeEqual(known, digest)) found = user;
    return found === undefined ? this.#readSigned(token) : { user: found, audiences: [this.issuer] };
  }

  /** Issues a token for a ServiceAccount. */
  issue(claims: TokenClaims): string {
    const { privateKey, algorithm, id } = this.#pair();
    const now = Math.floor(this.#clock.now() / 1000);
    const { namespace, name, uid, audiences, lifetimeSeconds, boundTo, node, warnAfterSeconds } = claims;
    const bound = {
      ...(boundTo === undefined ? {} : { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } }),
      ...(node === undefined ? {} : { node: node.uid === "" ? { name: node.name } : node }),
      ...(warnAfterSeconds === undefined ? {} : { warnafter: now + warnAfterSeconds }),
    };
    const payload = {
      aud: audiences.length === 0 ? [this.issuer] : audiences,
      exp: now + lifetimeSeconds,
      iat: now,
      iss: this.issuer,
      jti: newUid(this.#random),
      "kubernetes.io": { namespace, ...bound, serviceaccount: { name, uid } },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const text = `${encode({ alg: algorithm, kid: id, typ: "JWT" })}.${encode(payload)}`;
    const signature = sign("sha256", new TextEncoder().encode(text), { key: privateKey, dsaEncoding });
    return `${text}.${signature.toString("base64url")}`;
  }

  #readSigned(token: string): KnownToken | undefined {
    const parts = token.split(".");
    const [head = "", body = "", signature = ""] = parts;
    const signed = decode(signature);
    if (parts.length !== 3 || signed === undefined) return undefined;
    const text = new TextEncoder().encode(`${head}.${body}`);
    const keys = this.#keys === undefined ? this.#trustedKeys : [this.#keys, ...this.#trustedKeys];
    const isSigned = keys.some(({ publicKey: key }) => verify("sha256", text, { key, dsaEncoding }, signed));
    if (!isSigned) return undefined;
    const payload = JSON.parse(new TextDecoder().decode(decode(body))) as Json;
    return isJsonObject(payload) ? this.#validate(payload) : undefined;
  }

  /** Checks a payload that a trusted key has signed: here, or by another program with that key. */
  #validate(payload: JsonObject): KnownToken | undefined {
    const now = this.#clock.now() / 1000;
    const { exp, nbf, iss } = payload;
    if (typeof exp !== "number" || exp <= now || (typeof nbf === "number" && nbf > now + maxSkewSeconds)) {
      return undefined;
    }
    if (!this.#issuers.some((issuer) => issuer === iss)) return undefined;
    const about = read(payload, "kubernetes.io");
    if (!isJsonObject(about) || !isJsonObject(about.serviceaccount)) return undefined;
    const namespace = `${about.namespace}`;
    const { name, uid } = about.serviceaccount;
    const account = this.#objects.get("serviceaccounts", namespace, `${name}`);
    if (account === undefined || uidOf(account) !== uid || !this.#boundObjectExists(about, namespace)) return undefined;
    const audiences = Array.isArray(payload.aud) ? payload.aud.map(String) : [];
    return { user: serviceAccountUser(namespace, `${name}`, `${uid}`, extraOf(payload, about)), audiences };
  }

  #boundObjectExists(about: JsonObject, namespace: string): boolean {
    for (const [kind, collection] of [["pod", "pods"], ["secret", "secrets"], ["node", "nodes"]] as const) {
      const bound = read(about, kind);
      // The Node of a Pod is there to be read, and may be gone.
      if (!isJsonObject(bound) || (kind === "node" && isJsonObject(read(about, "pod")))) continue;
      const object = this.#objects.get(collection, kind === "node" ? "" : namespace, `${bound.name}`);
      if (object === undefined || uidOf(object) !== bound.uid) return false;
    }
    return true;
  }

  #pair(): SigningKeys {
    this.#keys ??= keysOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
    return this.#keys;
  }
}

/** A key that verifies tokens, and the names by which a token refers to it. */
interface VerificationKey {
  readonly publicKey: KeyObject;
  readonly algorithm: "ES256" | "RS256";
  /** The SHA-256 of the key, as kube-apiserver makes it. */
  readonly id: string;
}

/** The pair of keys of a server. */
interface SigningKeys extends VerificationKey {
  readonly privateKey: KeyObject;
}

/** @throws Error for another type of key */
function keysOf(privateKey: KeyObject): SigningKeys {
  return { privateKey, ...verificationKey(createPublicKey(privateKey)) };
}

/** @throws Error for another type of key */
function verificationKey(publicKey: KeyObject): VerificationKey {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey;
  const isP256 = type === "ec" && ["prime256v1", "P-256"].includes(details?.namedCurve ?? "");
  if (type !== "rsa" && !isP256) {
    throw new Error(`Cannot sign or verify tokens with a key of type ${type}: use RSA or P-256`);
  }
  const id = createHash("sha256").update(publicKey.export({ type: "spki", format: "der" })).digest("base64url");
  return { publicKey, algorithm: type === "rsa" ? "RS256" : "ES256", id };
}

/** The blocks of a PEM text that hold keys or certificates. @throws Error for a text without one */
function pemBlocks(text: string): readonly string[] {
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z ]+)-----[^-]*-----END \1-----/g)]
    .filter(([, type = ""]) => type.endsWith("KEY") || type === "CERTIFICATE");
  if (blocks.length === 0) throw new Error("Cannot read a key for tokens: the text has no PEM block with a key");
  return blocks.map(([block]) => block);
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

function encode(value: unknown): string {
  return toBase64(JSON.stringify(value), "base64url");
}

/** @returns undefined for invalid base64 */
function decode(text: string): Uint8Array | undefined {
  try {
    return fromBase64(text, "base64url");
  } catch {
    return undefined;
  }
}

function uidOf(object: JsonObject): Json | undefined {
  return read(objectAt(object, "metadata"), "uid");
}

const extraPrefix = "authentication.kubernetes.io/";

/** What a token says beside its ServiceAccount: its id, and the Pod and the Node that use it. */
function extraOf(payload: JsonObject, about: JsonObject): User["extra"] {
  const extra = new Map([[`${extraPrefix}credential-id`, [`JTI=${payload.jti}`]]]);
  for (const kind of ["pod", "node"]) {
    for (const key of ["name", "uid"]) {
      const value = textAt(objectAt(about, kind), key);
      if (value !== "") extra.set(`${extraPrefix}${kind}-${key}`, [value]);
    }
  }
  return extra;
}

const noExtra: ReadonlyMap<string, readonly string[]> = new Map();

/** The extra value of a user with the Node of its token. */
export const nodeNameKey = `${extraPrefix}node-name`;

/** The group of every authenticated user. */
export const authenticated = "system:authenticated";

/** The user of a ServiceAccount. */
export function serviceAccountUser(namespace: string, name: string, uid: string, extra = noExtra): User {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, authenticated];
  return { name: `system:serviceaccount:${namespace}:${name}`, uid, groups, extra };
}

/** The user of a client certificate. @param fingerprint SHA-256 of the certificate in hexadecimal, if it is known */
export function certificateUser(name: string, groups: readonly string[] = [], fingerprint?: string): User {
  const extra = fingerprint === undefined
    ? noExtra
    : new Map([[`${extraPrefix}credential-id`, [`X509SHA256=${fingerprint}`]]]);
  return { name, uid: "", groups: groups.includes(authenticated) ? groups : [...groups, authenticated], extra };
}
