/**
 * TokenAuthority: issues and verifies bearer tokens: fixed ones (that of `controller dev`), and those of ServiceAccounts,
 * which are signed JWTs with the claims of kube-apiserver.
 *
 * Guarantees: the signing key never leaves the process and is created with the first token; fixed tokens are compared in
 * constant time; a token becomes invalid with its ServiceAccount (UID) or the object it is bound to.
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
import type { Clock } from "../../async/mod.ts";
import { isJsonObject, type Json, type JsonObject, type ObjectReader, read, type User } from "../model/mod.ts";
import { objectAt } from "../kinds/mod.ts";
import { fromBase64, toBase64 } from "../../runtime/mod.ts";

/** Options of a {@link TokenAuthority}. */
export interface TokenAuthorityOptions {
  readonly clock: Clock;
  /** The stored ServiceAccounts, Pods, Secrets and Nodes. */
  readonly objects: ObjectReader;
  /** Tokens that are valid as long as the server runs. @default none */
  readonly fixed?: ReadonlyMap<string, User>;
  /** Issuer and default audience of tokens. @default "https://kubernetes.default.svc.cluster.local" */
  readonly issuer?: string;
  /** The private key that signs the tokens of ServiceAccounts, PEM: RSA or P-256. @default a new one */
  readonly signingKey?: string;
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
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string };
}

/** A valid token. */
interface KnownToken {
  readonly user: User;
  readonly audiences: readonly string[];
}

const defaultIssuer = "https://kubernetes.default.svc.cluster.local";

export class TokenAuthority {
  readonly #clock: Clock;
  readonly #objects: ObjectReader;
  readonly #issuer: string;
  /** By digest, because digests have the same length. */
  readonly #fixed: readonly (readonly [digest: Uint8Array, user: User])[];
  #keys: SigningKeys | undefined;

  constructor(options: TokenAuthorityOptions) {
    this.#clock = options.clock;
    this.#objects = options.objects;
    this.#issuer = options.issuer ?? defaultIssuer;
    this.#keys = options.signingKey === undefined ? undefined : keysOf(createPrivateKey(options.signingKey));
    this.#fixed = [...options.fixed ?? []].map(([token, user]) => [digestOf(token), user] as const);
  }

  /** The default audience of tokens. */
  get issuer(): string {
    return this.#issuer;
  }

  /** Verifies a token; undefined when it is unknown or no longer valid. */
  read(token: string): KnownToken | undefined {
    const digest = digestOf(token);
    let found: User | undefined;
    for (const [known, user] of this.#fixed) if (timingSafeEqual(known, digest)) found = user;
    return found === undefined ? this.#readSigned(token) : { user: found, audiences: [this.#issuer] };
  }

  /** Issues a token for a ServiceAccount. */
  issue(claims: TokenClaims): string {
    const { privateKey, algorithm, id } = this.#pair();
    const now = Math.floor(this.#clock.now() / 1000);
    const { namespace, name, uid, audiences, lifetimeSeconds, boundTo } = claims;
    const bound = boundTo === undefined
      ? {}
      : { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } };
    const payload = {
      aud: audiences.length === 0 ? [this.#issuer] : audiences,
      exp: now + lifetimeSeconds,
      iat: now,
      iss: this.#issuer,
      "kubernetes.io": { namespace, ...bound, serviceaccount: { name, uid } },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const text = `${encode({ alg: algorithm, kid: id, typ: "JWT" })}.${encode(payload)}`;
    const signature = sign("sha256", new TextEncoder().encode(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
    return `${text}.${signature.toString("base64url")}`;
  }

  #readSigned(token: string): KnownToken | undefined {
    const parts = token.split(".");
    const [head = "", body = "", signature = ""] = parts;
    if (this.#keys === undefined || parts.length !== 3) return undefined;
    const key = { key: this.#keys.publicKey, dsaEncoding: "ieee-p1363" as const };
    const signed = decode(signature);
    if (signed === undefined) return undefined;
    if (!verify("sha256", new TextEncoder().encode(`${head}.${body}`), key, signed)) return undefined;
    const payload: unknown = JSON.parse(new TextDecoder().decode(decode(body)));
    return this.#validate(payload as JsonObject);
  }

  /** Checks a payload that we have signed: it has the form of {@link issue}. */
  #validate(payload: JsonObject): KnownToken | undefined {
    const now = this.#clock.now() / 1000;
    const about = read(payload, "kubernetes.io");
    if (Number(payload.exp) <= now || !isJsonObject(about) || !isJsonObject(about.serviceaccount)) return undefined;
    const namespace = `${about.namespace}`;
    const { name, uid } = about.serviceaccount;
    const account = this.#objects.get("serviceaccounts", namespace, `${name}`);
    if (account === undefined || uidOf(account) !== uid || !this.#boundObjectExists(about, namespace)) return undefined;
    const audiences = Array.isArray(payload.aud) ? payload.aud.map(String) : [];
    return { user: serviceAccountUser(namespace, `${name}`, `${uid}`), audiences };
  }

  #boundObjectExists(about: JsonObject, namespace: string): boolean {
    for (const [kind, collection] of [["pod", "pods"], ["secret", "secrets"], ["node", "nodes"]] as const) {
      const bound = read(about, kind);
      if (!isJsonObject(bound)) continue;
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

/** The pair of keys of a server, and the names by which a token refers to it. */
interface SigningKeys {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly algorithm: "ES256" | "RS256";
  readonly id: string;
}

/** @throws Error for another type of key */
function keysOf(privateKey: KeyObject): SigningKeys {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = privateKey;
  const isP256 = type === "ec" && ["prime256v1", "P-256"].includes(details?.namedCurve ?? "");
  if (type !== "rsa" && !isP256) throw new Error(`Cannot sign tokens with a key of type ${type}: use RSA or P-256`);
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: "spki", format: "der" });
  const id = createHash("sha256").update(der).digest("base64url");
  return { privateKey, publicKey, algorithm: type === "rsa" ? "RS256" : "ES256", id };
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

const noExtra: ReadonlyMap<string, readonly string[]> = new Map();

/** The group of every authenticated user. */
export const authenticated = "system:authenticated";

/** The user of a ServiceAccount. */
export function serviceAccountUser(namespace: string, name: string, uid: string): User {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, authenticated];
  return { name: `system:serviceaccount:${namespace}:${name}`, uid, groups, extra: noExtra };
}

/** An authenticated user with a name and groups. */
export function authenticatedUser(name: string, groups: readonly string[] = [], uid = ""): User {
  return { name, uid, groups: groups.includes(authenticated) ? groups : [...groups, authenticated], extra: noExtra };
}
