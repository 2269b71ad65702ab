/**
 * promtool, which reads rules and queries as Prometheus does, and a reader of OpenMetrics that uses Prometheus' own parser. They are
 * built once into the user's cache, from the go.mod in promtool/, without the service discovery of clouds, which has no use here.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildGoPrograms } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";

/** The programs as absolute paths, or why they are unavailable. */
export type PromtoolOutcome =
  | { readonly kind: "ready"; readonly promtool: string; readonly openMetrics: string }
  | { readonly kind: "unavailable"; readonly reason: string };

/** The programs, built first if this machine has not built it yet (minutes, with progress on stderr). */
export async function buildPromtool(): Promise<PromtoolOutcome> {
  const outcome = await buildGoPrograms({
    name: "promtool",
    moduleDir: join(import.meta.dirname ?? ".", "promtool"),
    programs: { promtool: "github.com/prometheus/prometheus/cmd/promtool", "open-metrics": "pintle/monitoring" },
    tags: ["remove_all_sd"],
  });
  if (outcome.kind === "unavailable") return outcome;
  const { dir } = outcome;
  return { kind: "ready", promtool: join(dir, "promtool"), openMetrics: join(dir, "open-metrics") };
}

/** What promtool printed, and its exit code. */
export interface PromtoolResult {
  readonly code: number;
  readonly text: string;
}

/** Runs promtool on files. @param files Their contents by name; JSON, which is YAML. They are gone afterwards. */
export async function runPromtool(
  promtool: string,
  args: readonly string[],
  files: Readonly<Record<string, object>>,
): Promise<PromtoolResult> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-promtool-"));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
    const result = await run(promtool, args, { cwd: folder });
    if (result.kind !== "ended") throw new Error(`Cannot run ${promtool}: ${JSON.stringify(result)}`);
    return { code: result.code, text: `${result.stdout}${result.stderr}` };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
