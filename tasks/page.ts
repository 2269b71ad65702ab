/**
 * Writes src/page/generated/page_files.ts: the page of a running operator, bundled by Bun from the sources in `page/`, with the
 * licences of the packages in it.
 *
 *   deno run -A tasks/page.ts           writes it
 *   deno run -A tasks/page.ts --check   writes nothing, and exits 1 if it differs
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { bundledPackages } from "./_bundled_packages.ts";
import { root } from "./_root.ts";

/** The written file, relative to the repository. */
export const pageFile = "src/page/generated/page_files.ts";
/** What is bundled, relative to the repository. */
export const pageEntry = "page/main.tsx";

const styles = [
  "node_modules/uplot/dist/uPlot.min.css",
  "page/style/base.css",
  "page/style/overview.css",
  "page/style/split.css",
  "page/style/moment.css",
  "page/style/plan.css",
];

/** The text of the file. @throws Error when Bun cannot bundle the page */
export function pageFileText(): string {
  const files = {
    "/": read("page/index.html"),
    "/page.js": `${licences()}${bundled(pageEntry)}`,
    "/page.css": styles.map((path) => minified(path)).join(""),
    "/icon.svg": read("page/icon.svg"),
  };
  const lines = Object.entries(files).map(([path, text]) => `  ${JSON.stringify(path)}: ${JSON.stringify(text)},`);
  return [
    "/** The files of the page. Written by `deno run -A tasks/page.ts` from page/; do not edit. */",
    "// deno-fmt-ignore-file",
    "// deno-lint-ignore-file",
    'export const pageFiles: Readonly<Record<"/" | "/page.js" | "/page.css" | "/icon.svg", string>> = {',
    ...lines,
    "};",
    "",
  ].join("\n");
}

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The texts that the licences of the packages ask for. */
function licences(): string {
  const texts = bundledPackages(join(root, pageEntry)).map(({ name, version, folder }) =>
    `${name} ${version}\n\n${readFileSync(join(root, folder, "LICENSE"), "utf8").trim()}`
  );
  return `/*!\n${texts.join("\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

function bundled(path: string): string {
  return build(path, ["--target=browser", "--format=iife", "--production"]);
}

function minified(path: string): string {
  return build(path, ["--minify"]);
}

/** Bundles one file. */
function build(path: string, options: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "pintle-page-"));
  try {
    const outfile = join(folder, "out");
    const args = ["build", ...options, `--outfile=${outfile}`, path];
    execFileSync(join(root, "tasks", "bun.sh"), args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
    return readFileSync(outfile, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const text = pageFileText();
  const isCurrent = text === read(pageFile);
  if (!process.argv.includes("--check")) writeFileSync(join(root, pageFile), text);
  else if (!isCurrent) {
    console.log(`${pageFile} is not what page/ makes. Run: deno run -A tasks/page.ts`);
    process.exitCode = 1;
  }
}
