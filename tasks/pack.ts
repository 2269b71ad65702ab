/** `deno task pack`: writes dist/npm/*.tgz, the packages as a registry gets them. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { packagesFolder, writePackages } from "./_package.ts";
import { root } from "./_root.ts";

/** Writes the packages and packs them, which takes seconds: nothing else may use the folder. @returns the paths of the archives */
export function pack(destination: string): readonly string[] {
  return Object.values(writePackages(destination)).map((folder) => {
    const args = ["pm", "pack", "--quiet", "--ignore-scripts", "--destination", destination];
    return execFileSync("sh", [join(root, "tasks", "bun.sh"), ...args], { cwd: folder, encoding: "utf8" }).trim();
  });
}

if (import.meta.main) {
  for (const archive of pack(packagesFolder)) console.log(`${archive} ${statSync(archive).size} bytes`);
}
