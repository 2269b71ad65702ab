/**
 * Folders of programs that tests need together: those of a real node (../realnode), of kind (../kind), and those that read
 * packages (../packages). Each folder is built or fetched once into the user's cache; a missing tool is a result.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { GoBuildOutcome } from "./go_build.ts";

/** Programs, or why they are unavailable. @typeParam Programs Paths by name */
export type ProgramsOutcome<Programs> =
  | { readonly kind: "ready"; readonly programs: Programs }
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * Makes folders of programs one after the other, because each build uses all processors.
 *
 * @returns The folders by name, or why the first of them that is missing is unavailable.
 * @throws Error when a build fails.
 * @example
 * await programFolders({ helm: () => buildGoPrograms(helm), kubeadm: () => buildGoPrograms(kubeadm) });
 */
export async function programFolders<Name extends string>(
  builds: Readonly<Record<Name, () => Promise<GoBuildOutcome>>>,
): Promise<ProgramsOutcome<Readonly<Record<Name, string>>>> {
  const dirs: Partial<Record<Name, string>> = {};
  for (const name in builds) {
    if (!Object.hasOwn(builds, name)) continue;
    const outcome = await builds[name]();
    if (outcome.kind === "unavailable") return outcome;
    dirs[name] = outcome.dir;
  }
  return { kind: "ready", programs: dirs as Record<Name, string> };
}

/** The version of a module in the go.mod of a folder. @throws Error when it requires none */
export function requiredVersion(moduleDir: string, module: string): string {
  const lines = readFileSync(join(moduleDir, "go.mod"), "utf8").split("\n");
  const required = lines.map((line) => line.trim().replace(/^require /, "").split(" "));
  const version = required.find(([name, version]) => name === module && version?.startsWith("v"))?.[1];
  if (version === undefined) throw new Error(`Cannot build programs: ${moduleDir}/go.mod requires no ${module}`);
  return version;
}
