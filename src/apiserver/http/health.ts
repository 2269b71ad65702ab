/**
 * /healthz, /livez and /readyz: for probes, and with `?verbose` for people.
 */
import { plainText } from "./answer.ts";

/** One thing that must hold for the server to be well. */
export interface HealthCheck {
  readonly name: string;
  /** What is wrong; undefined when nothing is. */
  check(): string | undefined;
}

const paths: ReadonlySet<string> = new Set(["healthz", "livez", "readyz"]);

/** Answers a health path: all checks, or the one that the path names; undefined for any other path. */
export function healthAnswer(
  path: string,
  query: URLSearchParams,
  checks: readonly HealthCheck[],
): Response | undefined {
  const [endpoint = "", name, ...rest] = path.split("/").filter((part) => part !== "");
  if (!paths.has(endpoint) || rest.length > 0) return undefined;
  if (name !== undefined) return single(name, checks);
  const excluded = new Set(query.getAll("exclude"));
  const lines: string[] = [];
  let isWell = true;
  for (const check of checks) {
    if (excluded.has(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`);
      continue;
    }
    const problem = check.check();
    if (problem !== undefined) isWell = false;
    lines.push(problem === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`);
  }
  if (!isWell) return plainText(`${lines.join("\n")}\n${endpoint} check failed\n`, 500);
  if (!query.has("verbose")) return plainText("ok");
  return plainText(`${lines.join("\n")}\n${endpoint} check passed\n`);
}

function single(name: string, checks: readonly HealthCheck[]): Response | undefined {
  const found = checks.find((check) => check.name === name);
  if (found === undefined) return undefined;
  const problem = found.check();
  return problem === undefined ? plainText("ok") : plainText(`internal server error: ${problem}\n`, 500);
}
