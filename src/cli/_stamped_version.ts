/**
 * The version that compile.sh puts into a binary. Bun replaces the global by a constant (`--define`); `deno compile` has
 * no such flag and embeds an environment variable of that name instead.
 */
import type { Environment } from "../runtime/mod.ts";

declare const PINTLE_OPERATOR_VERSION: string | undefined;

/** The stamped version, or "dev" when this was not compiled. */
export function stampedVersion(environment: Environment): string {
  if (typeof PINTLE_OPERATOR_VERSION === "string") return PINTLE_OPERATOR_VERSION;
  return environment.PINTLE_OPERATOR_VERSION ?? "dev";
}
