/**
 * The labels of an image: what registries and people are shown about it, under the names that OCI defines.
 *
 * Guarantee: a label is true or absent: the revision is absent when the folder has changes that no commit has.
 */
import { spawn } from "../../runtime/mod.ts";
import type { Environment } from "../../runtime/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** What is known about an operator. */
export interface LabelFacts {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly source?: string;
  readonly revision?: string;
}

const prefix = "org.opencontainers.image.";

/** Returns the labels, sorted. @param typed `key=value` of the command line, which win. @throws UsageError */
export function imageLabels(facts: LabelFacts, typed: readonly string[]): Readonly<Record<string, string>> {
  const { title, version, description, license, source, revision } = facts;
  const known = { title, version, description, licenses: license, source, revision };
  const labels = new Map(Object.entries(known).flatMap(([name, value]) => value ? [[prefix + name, value]] : []));
  for (const text of typed) {
    const [, key, value = ""] = /^([^\s=]+)=(.*)$/s.exec(text) ?? [];
    if (key === undefined) {
      throw new UsageError(
        `Cannot parse --label "${text}": it is not a key, = and a value`,
        "Example: --label team=web",
      );
    }
    if (value === "") labels.delete(key);
    else labels.set(key, value);
  }
  return Object.fromEntries([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The commit of a folder, if git knows one and all files are as in it. */
export async function revisionOf(folder: string, environment: Environment): Promise<string | undefined> {
  const env = { PATH: environment.PATH ?? "", HOME: environment.HOME ?? "" };
  const git = async (...args: readonly string[]) => {
    const result = await spawn(["git", ...args], { env, workingDirectory: folder, timeoutMs: 20_000 });
    return result.kind === "ended" && result.code === 0 ? result.stdout.trim() : undefined;
  };
  const commit = await git("rev-parse", "HEAD");
  return commit !== undefined && await git("status", "--porcelain") === "" ? commit : undefined;
}
