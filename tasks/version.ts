/**
 * `deno task version`: says which part of the version must rise, by what has changed in the public API since the last one.
 *
 * The last version's API is in tests/golden/released_api.txt. The heading of the CHANGELOG says which version is next:
 * `## Unreleased (0.2.0)`, or, when it is about to be published, `## 0.2.0`, as in deno.json. `--check` only compares both;
 * `--write` takes the present API as that of the version in deno.json, which is part of publishing it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import config from "../deno.json" with { type: "json" };
import { type ApiChanges, compareApis, isRaised, parseApi, printApi, publicApi, risingPart } from "./_public_api.ts";
import { root } from "./_root.ts";

/** The API of the last version. */
export const releasedApiFile: string = join(root, "tests", "golden", "released_api.txt");

/** The first heading of a CHANGELOG; "" if it has none. */
export function firstHeadingOf(changelog: string): string {
  return /^## (.*)$/m.exec(changelog)?.[1] ?? "";
}

/** The next version according to a CHANGELOG: that of its first heading. @throws Error when it names none */
export function nextVersionOf(changelog: string): string {
  const heading = firstHeadingOf(changelog);
  const version = /^(?:Unreleased \()?(\d[\w.-]*)\)?$/.exec(heading)?.[1];
  if (version !== undefined) return version;
  throw new Error(
    `Cannot read the next version: CHANGELOG.md begins with "## ${heading}". Write ## Unreleased (0.2.0)`,
  );
}

/** What is wrong with the next version; undefined when it is right. @param isReleased The last version is the next one */
export function versionProblem(
  { last, next, changes }: { readonly last: string; readonly next: string; readonly changes: ApiChanges },
): string | undefined {
  const part = risingPart(last, changes);
  const isSame = Object.values(changes).every((lines) => lines.length === 0);
  if (isRaised(last, next, part) || (isSame && last === next)) return undefined;
  return `The next version is ${next} in CHANGELOG.md, but the ${part} part of ${last} must rise`;
}

function print({ removed, changed, required, added }: ApiChanges): void {
  for (const [title, lines] of Object.entries({ removed, changed, required, added })) {
    console.log(`${title}: ${lines.length}`);
    for (const line of lines) console.log(`  ${line}`);
  }
}

if (import.meta.main) {
  const api = await publicApi({ folder: root, name: config.name, exports: config.exports });
  if (process.argv.includes("--write")) {
    writeFileSync(releasedApiFile, printApi(config.version, api));
    console.log(`wrote the API of ${config.version}: ${api.size} declarations`);
  } else {
    const released = parseApi(readFileSync(releasedApiFile, "utf8"));
    const changes = compareApis(released.api, api);
    const next = nextVersionOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"));
    const problem = versionProblem({ last: released.version, next, changes });
    if (!process.argv.includes("--check")) print(changes);
    console.log(
      problem ?? `${released.version} -> ${next}: the ${risingPart(released.version, changes)} part must rise`,
    );
    process.exit(problem === undefined ? 0 : 1);
  }
}
