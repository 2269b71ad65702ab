/**
 * TokenAuthority: makes and reads bearer tokens: a few fixed ones (the one of `controller dev`), and those of ServiceAccounts,
 * which are signed JWTs as kube-apiserver's, so that whoever looks into one finds what they expect.
 *
 * Guarantees: the signing key never leaves the process and is made when the first token is asked for; fixed tokens are
 * compared in constant time; a token ends with its ServiceAccount (UID) or the object it is bound to.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign, timingSafeEqual, verify } from "node:crypto";
import type { Clock } from "../../async/mod.ts";
import { isJsonObject, type Json, type JsonObject, type ObjectReader, read, type User } from "../model/mod.ts";
import { serviceAccountUser } from "./_users.ts";

/** Options of a {@link TokenAuthority}. */
export interface TokenAuthorityOptions {
  readonly clock: Clock;
  /** Where the ServiceAccounts are. */
  readonly objects: ObjectReader;
  /** Tokens that are valid as long as the server runs. @default none */
  readonly fixed?: ReadonlyMap<string, User>;
  /** Who issues and accepts tokens. @default "https://kubernetes.default.svc.cluster.local" */
  readonly issuer?: string;
}

/** What a token of a ServiceAccount is to say. */
export interface TokenClaims {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  /** Seconds. */
  readonly lifetime: number;
  /** The Pod, Secret or Node it is bound to. */
  readonly boundTo?: { readonly kind: string; readonly name: string; readonly uid: string };
}

/** A token that was read and holds. */
export interface KnownToken {
  readonly user: User;
  readonly audiences: readonly string[];
}

const defaultIssuer = "https://kubernetes.default.svc.cluster.local";

export class TokenAuthority {
  readonly #clock: Clock;
  readonly #objects: ObjectReader;
  readonly #issuer: string;
  /** By digest, which has one length for all. */
  readonly #fixed: readonly (readonly [digest: Uint8Array, user: User])[];
  #keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly id: string } | undefined;

  constructor(options: TokenAuthorityOptions) {
    this.#clock = options.clock;
    this.#objects = options.objects;
    this.#issuer = options.issuer ?? defaultIssuer;
    this.#fixed = [...options.fixed ?? []].map(([token, user]) => [digestOf(token), user] as const);
  }

  /** The audience of tokens that name none. */
  get issuer(): string {
    return this.#issuer;
  }

  /** Whose token it is; undefined when it is nobody's, or has ended. */
  read(token: string): KnownToken | undefined {
    const digest = digestOf(token);
    let found: User | undefined;
    for (const [known, user] of this.#fixed) if (timingSafeEqual(known, digest)) found = user;
    return found === undefined ? this.#readSigned(token) : { user: found, audiences: [this.#issuer] };
  }

  /** Makes a token of a ServiceAccount. */
  issue(claims: TokenClaims): string {
    const { privateKey, id } = this.#pair();
    const now = Math.floor(this.#clock.now() / 1000);
    const { namespace, name, uid, audiences, lifetime, boundTo } = claims;
    const bound = boundTo === undefined
      ? {}
      : { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } };
    const payload = {
      aud: audiences.length === 0 ? [this.#issuer] : audiences,
      exp: now + lifetime,
      iat: now,
      iss: this.#issuer,
      "kubernetes.io": { namespace, ...bound, serviceaccount: { name, uid } },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const text = `${encode({ alg: "ES256", kid: id, typ: "JWT" })}.${encode(payload)}`;
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
    return this.#holds(payload as JsonObject);
  }

  /** What we signed is as {@link issue} wrote it. */
  #holds(payload: JsonObject): KnownToken | undefined {
    const now = this.#clock.now() / 1000;
    const about = read(payload, "kubernetes.io");
    if (Number(payload.exp) <= now || !isJsonObject(about) || !isJsonObject(about.serviceaccount)) return undefined;
    const namespace = `${about.namespace}`;
    const { name, uid } = about.serviceaccount;
    const account = this.#objects.get("serviceaccounts", namespace, `${name}`);
    if (account === undefined || uidOf(account) !== uid || !this.#boundLives(about, namespace)) return undefined;
    const audiences = Array.isArray(payload.aud) ? payload.aud.map(String) : [];
    return { user: serviceAccountUser(namespace, `${name}`, `${uid}`), audiences };
  }

  #boundLives(about: JsonObject, namespace: string): boolean {
    for (const [kind, collection] of [["pod", "pods"], ["secret", "secrets"], ["node", "nodes"]] as const) {
      const bound = read(about, kind);
      if (!isJsonObject(bound)) continue;
      const object = this.#objects.get(collection, kind === "node" ? "" : namespace, `${bound.name}`);
      if (object === undefined || uidOf(object) !== bound.uid) return false;
    }
    return true;
  }

  #pair() {
    if (this.#keys === undefined) {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const id = createHash("sha256").update(pair.publicKey.export({ type: "spki", format: "der" })).digest(
        "base64url",
      );
      this.#keys = { ...pair, id };
    }
    return this.#keys;
  }
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

function encode(value: unknown): string {
  return new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** @returns undefined for a text that is no base64 */
function decode(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch {
    return undefined;
  }
}

function uidOf(object: JsonObject): Json | undefined {
  const metadata = read(object, "metadata");
  return isJsonObject(metadata) ? metadata.uid : undefined;
}
