/** What a project says about itself in the nearest deno.json or package.json that has a version. */
import { directoryOf, findText, joinPath } from "../../runtime/mod.ts";

/** Name, version and other facts of a project, as far as the file has them. */
export interface ProjectDescription {
  /** Without a scope; undefined if no file has one. */
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly description?: string;
  /** An SPDX expression. */
  readonly license?: string;
  /** The URL of its sources. */
  readonly source?: string;
}

/** Reads the nearest files with a version, in `folder` and above it. */
export async function describeProject(folder: string): Promise<ProjectDescription> {
  for (const file of ["package.json", "deno.json"]) {
    const found = descriptionOf(await findText(joinPath(folder, file)));
    if (found !== undefined) return found;
  }
  const above = directoryOf(folder);
  return above === folder ? { name: undefined, version: undefined } : await describeProject(above);
}

function descriptionOf(text: string | undefined): ProjectDescription | undefined {
  if (text === undefined) return undefined;
  try {
    const { name, version, description, license, repository } = JSON.parse(text);
    if (typeof version !== "string") return undefined;
    return {
      name: textOf(name)?.replace(/^@[^/]*\//, ""),
      version,
      description: textOf(description),
      license: textOf(license),
      source: sourceOf(textOf(repository?.url ?? repository)),
    };
  } catch {
    return undefined; // A deno.json with comments.
  }
}

/** The short forms of package.json, such as `github:owner/name`, are no URLs. */
function sourceOf(repository: string | undefined): string | undefined {
  return /^(?:git\+)?(https:\/\/.*?)(?:\.git)?$/.exec(repository ?? "")?.[1];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
