/**
 * HealthChecks: the health of a process at /healthz, /livez and /readyz, in the format of kube-apiserver and
 * controller-runtime. A {@link HealthCheck} is the only form of a health check: those of the Manager, the event loop watchdog
 * and others are added here, and each belongs to the liveness or to the readiness probe.
 *
 * Guarantees: a check that throws or takes too long has failed. The reason of a failure is shown only to clients on this
 * machine, others read "reason withheld" (security 11). Without checks, an endpoint says that the process responds.
 */
import { aborted, type Clock, scope, systemClock } from "../../async/mod.ts";
import { type Logger, logger, printable, redactText } from "../../observe/mod.ts";
import type { ConnectionInfo } from "../../runtime/mod.ts";
import { isLoopback, methodNotAllowed, textResponse } from "./text_response.ts";

/** "live": if it fails, the process should be restarted. "ready": if it fails, the process should get no requests. */
export type Probe = "live" | "ready";

/** One health check; an element of `OperatorController.healthChecks`. */
export interface HealthCheck {
  /** As in `/readyz/NAME`. */
  readonly name: string;
  /** "live": if it fails, the process should be restarted. "ready": if it fails, the process should get no requests. */
  readonly probe: "live" | "ready";
  /** Returns the problem in one sentence, or undefined if there is none. It may also throw. */
  readonly problem: (signal: AbortSignal) => string | undefined | Promise<string | undefined>;
}

/** A check whose result is known without waiting. */
export interface ImmediateCheck extends HealthCheck {
  readonly problem: () => string | undefined;
}

/** Options of {@link HealthChecks}. */
export interface HealthChecksOptions {
  /** Time limit of a check, in milliseconds. @default 5_000 */
  readonly checkTimeoutMs?: number;
  /** Names of the endpoints of each probe. @default live: healthz and livez, ready: readyz */
  readonly names?: Partial<Readonly<Record<Probe, readonly string[]>>>;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("health") */
  readonly log?: Logger;
}

type CheckResult =
  | { readonly kind: "ok"; readonly name: string }
  | { readonly kind: "excluded"; readonly name: string }
  | { readonly kind: "failed"; readonly name: string; readonly reason: string };

/** A check is limited in time; it does not end with the request of the probe. */
const neverAborted = new AbortController().signal;

const namePattern = /^[A-Za-z0-9][-._A-Za-z0-9]*$/;

/**
 * Named checks, and the endpoints that show them.
 *
 * @example
 * ```ts
 * import { HealthChecks } from "./mod.ts";
 *
 * const health = new HealthChecks();
 * health.add({ name: "cache", probe: "ready", problem: () => "foos.example.dev: forbidden to list or watch" });
 * const response = await health.respond(new Request("http://localhost/readyz"));
 * console.assert(response.status === 500);
 * console.assert((await response.text()).startsWith("[-]cache failed: reason withheld\n"));
 * ```
 */
export class HealthChecks {
  readonly #checkTimeoutMs: number;
  readonly #probes: ReadonlyMap<string, Probe>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #checks: Readonly<Record<Probe, Map<string, HealthCheck>>> = { live: new Map(), ready: new Map() };

  constructor(options: HealthChecksOptions = {}) {
    const { checkTimeoutMs = 5_000, clock = systemClock, log = logger("health") } = options;
    if (!(checkTimeoutMs > 0)) throw new RangeError(`Cannot create HealthChecks: checkTimeoutMs is ${checkTimeoutMs}`);
    this.#checkTimeoutMs = checkTimeoutMs;
    this.#probes = probesByEndpoint(options.names);
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Adds a check. Dispose the result to remove it.
   *
   * @throws TypeError when the probe already has a check with that name, or the name is not valid in a path.
   */
  add(check: HealthCheck): Disposable {
    const { name, probe } = check;
    const checks = this.#checks[probe];
    if (!namePattern.test(name)) throw new TypeError(`Cannot add health check "${name}": the name is invalid`);
    if (checks.has(name)) throw new TypeError(`Cannot add health check "${name}": a check with that name exists`);
    checks.set(name, check);
    return { [Symbol.dispose]: () => void (checks.get(name) === check && checks.delete(name)) };
  }

  /** True for a path that {@link respond} handles. */
  isHealthPath(pathname: string): boolean {
    return this.#probes.has(pathname.split("/")[1] ?? "");
  }

  /**
   * Responds to `/healthz`, `/livez` and `/readyz`, each also with `/NAME` for one check, `?verbose` and `?exclude=NAME`.
   *
   * @param connection The connection of the client. @default unknown, the reasons of failures are withheld
   */
  async respond(request: Request, connection?: ConnectionInfo): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [endpoint = "", name, ...rest] = pathname.split("/").filter((part) => part !== "");
    const probe = this.#probes.get(endpoint);
    if (probe === undefined || rest.length > 0) return textResponse(404, "404 page not found\n");
    if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed("GET, HEAD");
    const isReasonShown = connection !== undefined && isLoopback(connection.remoteAddress);
    const excluded = new Set(searchParams.getAll("exclude"));
    const response = name === undefined
      ? await this.#respondToAll({ probe, endpoint, excluded, isReasonShown }, searchParams)
      : await this.#respondToOne(probe, name, isReasonShown);
    return request.method === "HEAD" ? new Response(null, response) : response;
  }

  async #respondToAll(request: ProbeRequest, query: URLSearchParams): Promise<Response> {
    const { probe, endpoint, excluded, isReasonShown } = request;
    const results = await this.#runAll(probe, excluded);
    const isFailed = results.some((result) => result.kind === "failed");
    if (!isFailed && !query.has("verbose")) return textResponse(200, "ok");
    const unknown = [...excluded].filter((name) => results.every((result) => result.name !== name));
    const warning = unknown.length === 0
      ? ""
      : `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name))}\n`;
    const lines = results.map((result) => lineOf(result, isReasonShown)).join("");
    const end = `${endpoint} check ${isFailed ? "failed" : "passed"}\n`;
    return textResponse(isFailed ? 500 : 200, lines + warning + end);
  }

  async #respondToOne(probe: Probe, name: string, isReasonShown: boolean): Promise<Response> {
    const check = this.#withPing(probe).get(name);
    if (check === undefined) return textResponse(404, "404 page not found\n");
    const result = await this.#run(check);
    if (result.kind !== "failed") return textResponse(200, "ok");
    return textResponse(500, `internal server error: ${isReasonShown ? result.reason : "reason withheld"}\n`);
  }

  async #runAll(probe: Probe, excluded: ReadonlySet<string>): Promise<readonly CheckResult[]> {
    const checks = [...this.#withPing(probe).values()].sort((a, b) => a.name < b.name ? -1 : 1);
    return await Promise.all(
      checks.map((check): CheckResult | Promise<CheckResult> =>
        excluded.has(check.name) ? { kind: "excluded", name: check.name } : this.#run(check)
      ),
    );
  }

  /** The checks of a probe; without any, a check that always passes. */
  #withPing(probe: Probe): ReadonlyMap<string, HealthCheck> {
    const checks = this.#checks[probe];
    return checks.size > 0 ? checks : new Map([["ping", { name: "ping", probe, problem: () => undefined }]]);
  }

  async #run(check: HealthCheck): Promise<CheckResult> {
    const { name } = check;
    using limited = scope(neverAborted, { timeoutMs: this.#checkTimeoutMs, clock: this.#clock });
    const timedOut = aborted(limited.signal).then(() => `no result after ${this.#checkTimeoutMs} ms`);
    let reason: string | undefined;
    try {
      reason = await Promise.race([check.problem(limited.signal), timedOut]);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (reason === undefined) return { kind: "ok", name };
    this.#log.debug("health check failed", { check: name, reason });
    // The reason contains text from the server.
    return { kind: "failed", name, reason: printable(redactText(reason)) };
  }
}

interface ProbeRequest {
  readonly probe: Probe;
  readonly endpoint: string;
  readonly excluded: ReadonlySet<string>;
  readonly isReasonShown: boolean;
}

/** @throws TypeError when a name is not valid in a path, or is the name of endpoints of both probes. */
function probesByEndpoint(names: HealthChecksOptions["names"] = {}): ReadonlyMap<string, Probe> {
  const { live = ["healthz", "livez"], ready = ["readyz"] } = names;
  const probes = new Map<string, Probe>(live.map((name) => [name, "live"]));
  for (const name of ready) {
    if (probes.has(name)) throw new TypeError(`Cannot create HealthChecks: endpoint "${name}" is both live and ready`);
    probes.set(name, "ready");
  }
  const invalid = [...probes.keys()].find((name) => !namePattern.test(name));
  if (invalid === undefined) return probes;
  throw new TypeError(`Cannot create HealthChecks: the name of endpoint "${invalid}" is invalid`);
}

function lineOf(result: CheckResult, isReasonShown: boolean): string {
  switch (result.kind) {
    case "ok":
      return `[+]${result.name} ok\n`;
    case "excluded":
      return `[+]${result.name} excluded: ok\n`;
    case "failed":
      return `[-]${result.name} failed: ${isReasonShown ? result.reason : "reason withheld"}\n`;
    default:
      return result satisfies never;
  }
}
