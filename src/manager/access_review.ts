/**
 * accessReview(): lets a handler answer only who the API server knows and allows: a TokenReview says who holds the bearer
 * token, a SubjectAccessReview whether they may do that to the path. As controller-runtime's
 * WithAuthenticationAndAuthorization; the caller needs `create` on both kinds of review.
 *
 * Guarantees: nobody anonymous passes; what could not be found out is refused; answers are remembered for a while, tokens
 * are not (their hashes are); who asks often costs the API server one review at a time.
 */
import { z } from "zod";
import { type Clock, systemClock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import type { ServeHandler } from "../runtime/mod.ts";
import { ExpiringMap } from "./_expiring_map.ts";
import { textResponse } from "./_text_response.ts";

/** Options of {@link accessReview}. */
export interface AccessReviewOptions {
  /** Asks the API server. Must not be fenced: a standby is asked for its metrics too. */
  readonly client: Client;
  /** How long a TokenReview is believed, in milliseconds. @default 60_000 */
  readonly tokenTtlMs?: number;
  /** How long an allowing SubjectAccessReview is believed, in milliseconds. @default 300_000 */
  readonly allowTtlMs?: number;
  /** How long a denying SubjectAccessReview is believed, in milliseconds. @default 30_000 */
  readonly denyTtlMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("access") */
  readonly log?: Logger;
}

const user = z.object({
  username: z.string().min(1),
  uid: z.string().optional(),
  groups: z.array(z.string()).nullish(),
  extra: z.record(z.string(), z.array(z.string())).nullish(),
});
type User = z.infer<typeof user>;

const tokenReview = z.object({
  status: z.object({ authenticated: z.boolean().optional(), user: user.partial().optional() }),
});
const subjectAccessReview = z.object({
  status: z.object({ allowed: z.boolean(), denied: z.boolean().optional(), reason: z.string().optional() }),
});

/** Everybody who brings no credentials is this to the API server. */
const anonymous = "system:anonymous";
const unauthenticated = "system:unauthenticated";
/** Longer than any token: what is longer is not hashed. */
const longestToken = 16 * 1024;

/** Puts the review in front of `handler`. */
export function accessReview(handler: ServeHandler, options: AccessReviewOptions): ServeHandler {
  const { log = logger("access") } = options;
  const reviewer = new Reviewer({ ...options, log });
  return async (request, connection) => {
    const token = bearerToken(request);
    if (token === undefined) return unauthorized();
    try {
      const who = await reviewer.whose(token);
      if (who === undefined) return unauthorized();
      const path = new URL(request.url).pathname;
      const isAllowed = await reviewer.isAllowed(who, { path, verb: request.method.toLowerCase() });
      if (!isAllowed) return textResponse(403, `Authorization denied for user ${JSON.stringify(who.username)}\n`);
    } catch (error) {
      log.error("access review failed", { error });
      return textResponse(500, "Authorization failed\n");
    }
    return await handler(request, connection);
  };
}

interface Wish {
  readonly path: string;
  readonly verb: string;
}

class Reviewer {
  readonly #client: Client;
  readonly #options: Required<Pick<AccessReviewOptions, "tokenTtlMs" | "allowTtlMs" | "denyTtlMs">>;
  readonly #log: Logger;
  readonly #users: ExpiringMap<User | undefined>;
  readonly #decisions: ExpiringMap<boolean>;

  constructor(options: AccessReviewOptions) {
    const { client, tokenTtlMs = 60_000, allowTtlMs = 300_000, denyTtlMs = 30_000 } = options;
    const { clock = systemClock, log = logger("access") } = options;
    this.#client = client;
    this.#options = { tokenTtlMs, allowTtlMs, denyTtlMs };
    this.#log = log;
    this.#users = new ExpiringMap({ clock });
    this.#decisions = new ExpiringMap({ clock });
  }

  /** Whose the token is; undefined when it is nobody's, or anonymous. */
  async whose(token: string): Promise<User | undefined> {
    const { tokenTtlMs } = this.#options;
    return await this.#users.get(
      await hashOf(token),
      async () => ({ value: await this.#review(token), ttlMs: tokenTtlMs }),
    );
  }

  async isAllowed(who: User, wish: Wish): Promise<boolean> {
    const { allowTtlMs, denyTtlMs } = this.#options;
    const { username, uid, groups, extra } = who;
    const spec = { user: username, uid, groups, extra, nonResourceAttributes: wish };
    return await this.#decisions.get(JSON.stringify(spec), async () => {
      const body = JSON.stringify({ apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec });
      const text = await this.#client.raw("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        method: "POST",
        body,
      });
      const { allowed, denied = false, reason } = subjectAccessReview.parse(JSON.parse(text)).status;
      const value = allowed && !denied;
      if (!value) this.#log.debug("access denied", { user: username, ...wish, reason });
      return { value, ttlMs: value ? allowTtlMs : denyTtlMs };
    });
  }

  async #review(token: string): Promise<User | undefined> {
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } });
    const text = await this.#client.raw("/apis/authentication.k8s.io/v1/tokenreviews", { method: "POST", body });
    const { authenticated = false, user: claimed } = tokenReview.parse(JSON.parse(text)).status;
    if (!authenticated) return undefined;
    const who = user.parse(claimed);
    const isAnonymous = who.username === anonymous || who.groups?.includes(unauthenticated) === true;
    return isAnonymous ? undefined : who;
  }
}

function bearerToken(request: Request): string | undefined {
  const token = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  return token === undefined || token.length > longestToken ? undefined : token;
}

function unauthorized(): Response {
  return textResponse(401, "Unauthorized\n", { "www-authenticate": "Bearer" });
}

async function hashOf(token: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  return bytes.toHex();
}
