/**
 * `deno task licenses`: writes THIRD_PARTY_LICENSES, the licences of everything in the binary. A release ships it beside the
 * binaries. The texts are those of the packages themselves.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BundledPackage, bundledPackages } from "./_bundled_packages.ts";
import { root } from "./_root.ts";
import { bunVersion } from "./sbom.ts";

/** Permissive licences: the only ones of packages in the binary. */
export const permissiveLicenses: ReadonlySet<string> = new Set([
  ...["0BSD", "Apache-2.0", "BSD-3-Clause", "ISC", "MIT", "Unlicense"],
]);

/** The path of the file in the repository. */
export const licensesFile = "THIRD_PARTY_LICENSES";

const rule = "-".repeat(80);
const licenseFiles = /^(licen[cs]e|copying|notice|copyrightnotice)(\.(txt|md))?$/i;

/** The text of the file. @throws Error when a package contains no text of its licence */
export function thirdPartyLicenses(packages: readonly BundledPackage[]): string {
  const names = new Map<string, string[]>();
  for (const { name, version, license, folder } of packages) {
    const files = readdirSync(join(root, folder)).filter((file) => licenseFiles.test(file)).sort();
    if (files.length === 0) throw new Error(`Cannot list licences: ${name} ${version} has no file with its licence`);
    const text = files.map((file) => normalized(readFileSync(join(root, folder, file), "utf8"))).join("\n\n");
    const title = `${name} ${version} (${license ?? "unknown"})`;
    const same = names.get(text);
    if (same === undefined) names.set(text, [title]);
    else same.push(title);
  }
  const sections = [...names].map(([text, titles]) => `${titles.join("\n")}\n\n${text}`);
  return [introduction(), ...sections].join(`\n\n${rule}\n\n`) + "\n";
}

function introduction(): string {
  const version = bunVersion();
  return [
    "Licences of the software in the binary `controller`. Written by `deno task licenses`; do not edit.",
    "",
    `The binary contains the runtime Bun ${version} (MIT). Bun contains JavaScriptCore and parts of WebKit (LGPL-2.0),`,
    "TinyCC (LGPL-2.1), and other libraries with their own licences:",
    `https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md`,
    "The sources of this program are public, and compile.sh builds it with any build of Bun, also one with changed libraries.",
    "",
    "The packages below are in the binary too.",
  ].join("\n");
}

/** Without the differences that no reader sees. */
function normalized(text: string): string {
  return text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n").replaceAll(/[ \t]+$/gm, "").trim();
}

if (import.meta.main) {
  writeFileSync(join(root, licensesFile), thirdPartyLicenses(bundledPackages(join(root, "main.ts"))));
  console.log(licensesFile);
}
