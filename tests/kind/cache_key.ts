/** Names of cached results: a hash of all that they are made from. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** A hash of this machine's architecture, of a source file, which states versions and options, and of other inputs. */
export function cacheKey(file: string | undefined, ...inputs: readonly string[]): string {
  const hash = createHash("sha256").update(process.arch).update(readFileSync(file ?? ""));
  return hash.update(JSON.stringify(inputs)).digest("hex").slice(0, 16);
}
