/** What a project says about itself: the name and the version in the nearest deno.json or package.json. */
import { directoryOf, findText, joinPath } from "../../runtime/mod.ts";

/** Name and version of a project. */
export interface ProjectDescription {
  /** Without a scope; undefined if no file has one. */
  readonly name: string | undefined;
  readonly version: string | undefined;
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
    const { name, version } = JSON.parse(text);
    if (typeof version !== "string") return undefined;
    return { name: typeof name === "string" ? name.replace(/^@[^/]*\//, "") : undefined, version };
  } catch {
    return undefined; // A deno.json with comments.
  }
}
