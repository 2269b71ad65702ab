/**
 * HealthChecks: what a process says about itself at /healthz, /livez and /readyz, in the words of kube-apiserver and
 * controller-runtime, so that probes, kubectl and people read it as they are used to.
 *
 * Guarantees: a check that throws, or that takes too long, has failed; why it failed is told to the machine itself only,
 * everybody else reads "reason withheld" (behaviours.md, security 11). Without checks an endpoint says that the process
 * answers.
 */
import { aborted, type Clock, scope, systemClock } from "../async/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import type { ConnectionInfo } from "../runtime/mod.ts";
import { isLoopback } from "./_loopback.ts";
import { methodNotAllowed, textResponse } from "./_text_response.ts";

/** Looks at one thing: undefined when it is well, else one sentence on what is not. It may also throw. */
export type HealthCheck = (signal: AbortSignal) => string | undefined | Promise<string | undefined>;

/** What a check speaks about: whether the process should be restarted, or whether it should get work. */
export type HealthKind = "live" | "ready";

/** Options of {@link HealthChecks}. */
export interface HealthChecksOptions {
  /** Milliseconds a check may take. @default 5_000 */
  readonly checkTimeoutMs?: number;
  /** Names of the endpoints of each kind of check. @default live: healthz and livez, ready: readyz */
  readonly names?: Partial<Readonly<Record<HealthKind, readonly string[]>>>;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("health") */
  readonly log?: Logger;
}

type Verdict =
  | { readonly kind: "ok"; readonly name: string }
  | { readonly kind: "excluded"; readonly name: string }
  | { readonly kind: "failed"; readonly name: string; readonly reason: string };

/** Nobody aborts it: probes come and go, a check is limited by its time. */
const never = new AbortController().signal;

/**
 * Named checks, and the endpoints that show them.
 *
 * @example
 * ```ts
 * import { HealthChecks } from "./mod.ts";
 *
 * const health = new HealthChecks();
 * health.add("ready", "informer-sync", () => "foos.example.dev: forbidden to list or watch");
 * const response = await health.respond(new Request("http://localhost/readyz"));
 * console.assert(response.status === 500);
 * console.assert((await response.text()).startsWith("[-]informer-sync failed: reason withheld\n"));
 * ```
 */
export class HealthChecks {
  readonly #checkTimeoutMs: number;
  readonly #kinds: ReadonlyMap<string, HealthKind>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #checks: Readonly<Record<HealthKind, Map<string, HealthCheck>>> = { live: new Map(), ready: new Map() };

  constructor(options: HealthChecksOptions = {}) {
    const { checkTimeoutMs = 5_000, clock = systemClock, log = logger("health") } = options;
    if (!(checkTimeoutMs > 0)) throw new RangeError(`Cannot create HealthChecks: checkTimeoutMs is ${checkTimeoutMs}`);
    this.#checkTimeoutMs = checkTimeoutMs;
    this.#kinds = kindsOf(options.names);
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Adds a check. Dispose the result to take it away.
   *
   * @throws TypeError when there is one of that name, or the name cannot stand in a path.
   */
  add(kind: HealthKind, name: string, check: HealthCheck): Disposable {
    const checks = this.#checks[kind];
    if (!/^[A-Za-z0-9][-._A-Za-z0-9]*$/.test(name)) throw new TypeError(`Cannot add health check "${name}": bad name`);
    if (checks.has(name)) throw new TypeError(`Cannot add health check "${name}": there is one of that name`);
    checks.set(name, check);
    return { [Symbol.dispose]: () => void (checks.get(name) === check && checks.delete(name)) };
  }

  /** True for a path that {@link respond} is there for. */
  isHealthPath(pathname: string): boolean {
    return this.#kinds.has(pathname.split("/")[1] ?? "");
  }

  /**
   * Answers `/healthz`, `/livez` and `/readyz`, each with `/NAME` for one check, `?verbose` and `?exclude=NAME`.
   *
   * @param connection Who asks; nobody who is known is a stranger.
   */
  async respond(request: Request, connection?: ConnectionInfo): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [endpoint = "", name, ...rest] = pathname.split("/").filter((part) => part !== "");
    const kind = this.#kinds.get(endpoint);
    if (kind === undefined || rest.length > 0) return textResponse(404, "404 page not found\n");
    if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed("GET, HEAD");
    const isShown = connection !== undefined && isLoopback(connection.remoteAddress);
    const response = name === undefined
      ? await this.#all({ kind, endpoint, excluded: new Set(searchParams.getAll("exclude")), isShown }, searchParams)
      : await this.#one(kind, name, isShown);
    return request.method === "HEAD" ? new Response(null, response) : response;
  }

  async #all(asked: Asked, query: URLSearchParams): Promise<Response> {
    const { kind, endpoint, excluded, isShown } = asked;
    const verdicts = await this.#verdicts(kind, excluded);
    const isFailed = verdicts.some((verdict) => verdict.kind === "failed");
    if (!isFailed && !query.has("verbose")) return textResponse(200, "ok");
    const unknown = [...excluded].filter((name) => verdicts.every((verdict) => verdict.name !== name));
    const warning = unknown.length === 0
      ? ""
      : `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name))}\n`;
    const lines = verdicts.map((verdict) => lineOf(verdict, isShown)).join("");
    const end = `${endpoint} check ${isFailed ? "failed" : "passed"}\n`;
    return textResponse(isFailed ? 500 : 200, lines + warning + end);
  }

  async #one(kind: HealthKind, name: string, isShown: boolean): Promise<Response> {
    const checks = this.#withPing(kind);
    const check = checks.get(name);
    if (check === undefined) return textResponse(404, "404 page not found\n");
    const verdict = await this.#verdict(name, check);
    if (verdict.kind !== "failed") return textResponse(200, "ok");
    return textResponse(500, `internal server error: ${isShown ? verdict.reason : "reason withheld"}\n`);
  }

  async #verdicts(kind: HealthKind, excluded: ReadonlySet<string>): Promise<readonly Verdict[]> {
    const checks = [...this.#withPing(kind)].sort(([a], [b]) => a < b ? -1 : 1);
    return await Promise.all(
      checks.map(([name, check]): Verdict | Promise<Verdict> =>
        excluded.has(name) ? { kind: "excluded", name } : this.#verdict(name, check)
      ),
    );
  }

  #withPing(kind: HealthKind): ReadonlyMap<string, HealthCheck> {
    const checks = this.#checks[kind];
    return checks.size > 0 ? checks : new Map([["ping", () => undefined]]);
  }

  async #verdict(name: string, check: HealthCheck): Promise<Verdict> {
    using limited = scope(never, { timeoutMs: this.#checkTimeoutMs, clock: this.#clock });
    const late = aborted(limited.signal).then(() => `no result after ${this.#checkTimeoutMs} ms`);
    let reason: string | undefined;
    try {
      reason = await Promise.race([check(limited.signal), late]);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (reason === undefined) return { kind: "ok", name };
    this.#log.debug("health check failed", { check: name, reason });
    return { kind: "failed", name, reason: oneLine(reason) };
  }
}

interface Asked {
  readonly kind: HealthKind;
  readonly endpoint: string;
  readonly excluded: ReadonlySet<string>;
  readonly isShown: boolean;
}

/** @throws TypeError when a name cannot stand in a path, or stands for both kinds. */
function kindsOf(names: HealthChecksOptions["names"] = {}): ReadonlyMap<string, HealthKind> {
  const { live = ["healthz", "livez"], ready = ["readyz"] } = names;
  const kinds = new Map<string, HealthKind>(live.map((name) => [name, "live"]));
  for (const name of ready) {
    if (kinds.has(name)) throw new TypeError(`Cannot create HealthChecks: endpoint "${name}" is both live and ready`);
    kinds.set(name, "ready");
  }
  const odd = [...kinds.keys()].find((name) => !/^[A-Za-z0-9][-._A-Za-z0-9]*$/.test(name));
  if (odd === undefined) return kinds;
  throw new TypeError(`Cannot create HealthChecks: "${odd}" is no name of an endpoint`);
}

function lineOf(verdict: Verdict, isShown: boolean): string {
  switch (verdict.kind) {
    case "ok":
      return `[+]${verdict.name} ok\n`;
    case "excluded":
      return `[+]${verdict.name} excluded: ok\n`;
    case "failed":
      return `[-]${verdict.name} failed: ${isShown ? verdict.reason : "reason withheld"}\n`;
    default:
      return verdict satisfies never;
  }
}

/** Reasons hold text of the server: one line of them, without anything that a terminal would obey. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 1024);
}
