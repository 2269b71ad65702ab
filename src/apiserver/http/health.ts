/**
 * HealthChecks: `/healthz`, `/livez` and `/readyz` with their forms (`?verbose`, `?exclude=NAME`, `/readyz/NAME`), and how often
 * each check succeeded, for `/metrics/slis`. The texts and the names of the metrics are those of kube-apiserver.
 */
import { MetricsRegistry } from "../../observe/mod.ts";
import { plainText } from "./response.ts";

/** One check of /healthz, /livez and /readyz. */
export interface HealthCheck {
  readonly name: string;
  /** The error; undefined when healthy. */
  check(): string | undefined;
}

/** Paths that need no permission, because probes have no credentials. */
const endpoints: ReadonlySet<string> = new Set(["healthz", "livez", "readyz"]);

/** True for the path of a probe. */
export function isHealthPath(path: string): boolean {
  return endpoints.has(partsOf(path)[0] ?? "");
}

/** The checks of a server. */
export class HealthChecks {
  readonly #checks: readonly HealthCheck[];
  readonly #metrics = new MetricsRegistry();
  readonly #last = this.#metrics.gauge({
    name: "kubernetes_healthcheck",
    help: "The last result of each check: 1 if healthy.",
    labelNames: ["name", "type"],
  });
  readonly #total = this.#metrics.counter({
    name: "kubernetes_healthchecks_total",
    help: "Results of each check since the start.",
    labelNames: ["name", "status", "type"],
  });

  constructor(checks: readonly HealthCheck[]) {
    this.#checks = checks;
  }

  /** The response of a health path, for all checks or the one in the path; undefined for other paths. */
  respond(path: string, query: URLSearchParams): Response | undefined {
    const [endpoint = "", name, ...rest] = partsOf(path);
    if (!endpoints.has(endpoint) || rest.length > 0) return undefined;
    return name === undefined ? this.#all(endpoint, query) : this.#one(endpoint, name);
  }

  /** What the checks said since the start, in the Prometheus text format. */
  metrics(): Promise<string> {
    return this.#metrics.render();
  }

  #all(endpoint: string, query: URLSearchParams): Response {
    const excluded = new Set(query.getAll("exclude"));
    const lines: string[] = [];
    let isHealthy = true;
    for (const check of this.#checks) {
      if (excluded.has(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`);
        continue;
      }
      const problem = this.#run(endpoint, check);
      if (problem !== undefined) isHealthy = false;
      lines.push(problem === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`);
    }
    if (!isHealthy) return plainText(`${lines.join("\n")}\n${endpoint} check failed\n`, 500);
    if (!query.has("verbose")) return plainText("ok");
    return plainText(`${lines.join("\n")}\n${endpoint} check passed\n`);
  }

  #one(endpoint: string, name: string): Response | undefined {
    const found = this.#checks.find((check) => check.name === name);
    if (found === undefined) return undefined;
    const problem = this.#run(endpoint, found);
    return problem === undefined ? plainText("ok") : plainText(`internal server error: ${problem}\n`, 500);
  }

  #run(endpoint: string, { name, check }: HealthCheck): string | undefined {
    const problem = check();
    const isHealthy = problem === undefined;
    this.#last.labels({ name, type: endpoint }).set(isHealthy ? 1 : 0);
    this.#total.labels({ name, status: isHealthy ? "success" : "error", type: endpoint }).inc();
    return problem;
  }
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}
