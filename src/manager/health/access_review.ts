/**
 * accessReview(): a fetch handler that serves only clients that the API server authenticates and authorizes. A TokenReview
 * says who has the bearer token, a SubjectAccessReview says whether that user may access the path. Like
 * controller-runtime's WithAuthenticationAndAuthorization; this process needs `create` on both kinds of review.
 *
 * Guarantees: anonymous users are rejected, and a client is rejected when a review fails. Results are cached for a while;
 * tokens are not stored, only their hashes. Concurrent requests with the same token cause one review. Bogus tokens do not
 * become a flood of reviews, and do not lock out the right ones (`review_queue.ts`).
 */
import { z } from "zod";
import { type Clock, systemClock } from "../../async/mod.ts";
import { type Client, InvalidResponseError, parseResponse } from "../../client/mod.ts";
import { type Logger, logger } from "../../observe/mod.ts";
import type { ServeHandler } from "../../runtime/mod.ts";
import { boundedParse } from "../../schema/mod.ts";
import { ReviewQueue } from "./review_queue.ts";
import { textResponse } from "./text_response.ts";
import { toHex } from "../../runtime/mod.ts";

/** Options of {@link accessReview}. */
export interface AccessReviewOptions {
  /** Sends the reviews. It must not be fenced, because a standby has metrics too. */
  readonly client: Client;
  /** How long a TokenReview is cached, in milliseconds. @default 60_000 */
  readonly tokenTtlMs?: number;
  /** How long a SubjectAccessReview that allows is cached, in milliseconds. @default 300_000 */
  readonly allowTtlMs?: number;
  /** How long a SubjectAccessReview that denies is cached, in milliseconds. @default 30_000 */
  readonly denyTtlMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("access") */
  readonly log?: Logger;
}

const userSchema = z.object({
  username: z.string().min(1),
  uid: z.string().optional(),
  groups: z.array(z.string()).nullish(),
  extra: z.record(z.string(), z.array(z.string())).nullish(),
});
type User = z.infer<typeof userSchema>;

const tokenReviewSchema = z.object({
  status: z.object({ authenticated: z.boolean().optional(), user: userSchema.partial().optional() }),
});
const subjectAccessReviewSchema = z.object({
  status: z.object({ allowed: z.boolean(), denied: z.boolean().optional(), reason: z.string().optional() }),
});

/** The user and the group of clients without credentials. */
const anonymousUser = "system:anonymous";
const unauthenticatedGroup = "system:unauthenticated";
/** Longer than any token. A longer value is rejected without hashing it. */
const maxTokenChars = 16 * 1024;

/** Puts the reviews in front of `handler`. */
export function accessReview(handler: ServeHandler, options: AccessReviewOptions): ServeHandler {
  const { log = logger("access") } = options;
  const reviewer = new Reviewer({ ...options, log });
  return async (request, connection) => {
    const token = bearerToken(request);
    if (token === undefined) return unauthorized();
    try {
      const peer = connection.remoteAddress;
      const user = await reviewer.authenticate(token, peer);
      if (user === undefined) return unauthorized();
      const path = new URL(request.url).pathname;
      const isAllowed = await reviewer.isAllowed(user, { path, verb: request.method.toLowerCase() }, peer);
      if (!isAllowed) return textResponse(403, `Authorization denied for user ${JSON.stringify(user.username)}\n`);
    } catch (error) {
      log.error("access review failed", { error });
      return textResponse(500, "Authorization failed\n");
    }
    return await handler(request, connection);
  };
}

/** The field `nonResourceAttributes` of a SubjectAccessReview. */
interface NonResourceAttributes {
  readonly path: string;
  readonly verb: string;
}

class Reviewer {
  readonly #client: Client;
  readonly #options: Required<Pick<AccessReviewOptions, "tokenTtlMs" | "allowTtlMs" | "denyTtlMs">>;
  readonly #log: Logger;
  readonly #users: ExpiringCache<User | undefined>;
  readonly #queue: ReviewQueue;
  readonly #decisions: ExpiringCache<boolean>;

  constructor(options: AccessReviewOptions) {
    const { client, tokenTtlMs = 60_000, allowTtlMs = 300_000, denyTtlMs = 30_000 } = options;
    const { clock = systemClock, log = logger("access") } = options;
    this.#client = client;
    this.#options = { tokenTtlMs, allowTtlMs, denyTtlMs };
    this.#log = log;
    this.#users = new ExpiringCache(clock, (user) => user === undefined);
    this.#queue = new ReviewQueue(clock);
    this.#decisions = new ExpiringCache(clock);
  }

  /** The user with the token; undefined when no user has it, or an anonymous one. */
  async authenticate(token: string, peer: string): Promise<User | undefined> {
    const { tokenTtlMs } = this.#options;
    return await this.#users.get(
      await hashOf(token),
      async () => ({ value: await this.#queue.run(peer, () => this.#reviewToken(token)), ttlMs: tokenTtlMs }),
    );
  }

  async isAllowed(user: User, nonResourceAttributes: NonResourceAttributes, peer: string): Promise<boolean> {
    const { allowTtlMs, denyTtlMs } = this.#options;
    const { username, uid, groups, extra } = user;
    const spec = { user: username, uid, groups, extra, nonResourceAttributes };
    return await this.#decisions.get(JSON.stringify(spec), async () => {
      const body = JSON.stringify({ apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec });
      const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      const text = await this.#queue.run(peer, () => this.#client.raw(path, { method: "POST", body }));
      const { allowed, denied = false, reason } =
        parseResponse(text, "review access", subjectAccessReviewSchema).status;
      const value = allowed && !denied;
      if (!value) this.#log.debug("access denied", { user: username, ...nonResourceAttributes, reason });
      return { value, ttlMs: value ? allowTtlMs : denyTtlMs };
    });
  }

  async #reviewToken(token: string): Promise<User | undefined> {
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } });
    const text = await this.#client.raw("/apis/authentication.k8s.io/v1/tokenreviews", { method: "POST", body });
    const { authenticated = false, user: claimed } = parseResponse(text, "review a token", tokenReviewSchema).status;
    if (!authenticated) return undefined;
    const checked = boundedParse(userSchema, claimed);
    if (checked.kind === "invalid") throw new InvalidResponseError("Cannot review a token: its response names no user");
    const { value: user } = checked;
    const isAnonymous = user.username === anonymousUser || user.groups?.includes(unauthenticatedGroup) === true;
    return isAnonymous ? undefined : user;
  }
}

function bearerToken(request: Request): string | undefined {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  return token === undefined || token.length > maxTokenChars ? undefined : token;
}

function unauthorized(): Response {
  return textResponse(401, "Unauthorized\n", { "www-authenticate": "Bearer" });
}

async function hashOf(token: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  return toHex(bytes);
}

/** A value, and for how many milliseconds it is valid. */
interface ExpiringValue<Value> {
  readonly value: Value;
  readonly ttlMs: number;
}

interface CacheEntry<Value> {
  readonly loaded: Promise<ExpiringValue<Value>>;
  /** Monotonic; Infinity while the value is being loaded. */
  expiresAt: number;
}

/** The oldest entry is removed first. */
const maxCacheEntries = 1024;

/**
 * Caches values for a limited time. Concurrent calls with one key load the value once; errors are not cached. Values that
 * anyone can cause to be loaded do not displace the others.
 */
class ExpiringCache<Value> {
  readonly #clock: Clock;
  readonly #isCheap: (value: Value) => boolean;
  readonly #entries = new Map<string, CacheEntry<Value>>();
  /** Entries that were loaded and are not cheap. */
  readonly #kept = new Map<string, CacheEntry<Value>>();

  /** @param isCheap True for a value that is removed before all others. @default none */
  constructor(clock: Clock, isCheap: (value: Value) => boolean = () => false) {
    this.#clock = clock;
    this.#isCheap = isCheap;
  }

  /** The cached value of `key`; if there is none, the value that `load` returns. */
  async get(key: string, load: () => Promise<ExpiringValue<Value>>): Promise<Value> {
    const cached = this.#kept.get(key) ?? this.#entries.get(key);
    if (cached !== undefined && cached.expiresAt > this.#clock.monotonic()) return (await cached.loaded).value;
    this.#kept.delete(key);
    const entry: CacheEntry<Value> = { loaded: load(), expiresAt: Infinity };
    setBounded(this.#entries, key, entry);
    try {
      const { value, ttlMs } = await entry.loaded;
      entry.expiresAt = this.#clock.monotonic() + ttlMs;
      if (!this.#isCheap(value)) {
        this.#entries.delete(key);
        setBounded(this.#kept, key, entry);
      }
      return value;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }
}

function setBounded<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= maxCacheEntries) return;
  const oldest = entries.keys().next().value;
  if (oldest !== undefined) entries.delete(oldest);
}
