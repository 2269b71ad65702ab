/**
 * Writes the bill of materials of the binary as CycloneDX 1.6: every package in it, the runtime, and the checksum of the
 * binary. Scanners for vulnerabilities and licences read this format.
 *
 *   sh compile.sh && deno task sbom            writes dist/controller.cdx.json
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import config from "../deno.json" with { type: "json" };
import { type BillOfMaterials, billOfMaterials as billOf } from "../src/cli/image/mod.ts";
import { type BundledPackage, bundledPackages } from "./_bundled_packages.ts";
import { root } from "./_root.ts";

/** Makes the bill of materials. @param binary its bytes; the same bytes and packages give the same bill */
export function billOfMaterials(binary: Uint8Array, packages: readonly BundledPackage[]): BillOfMaterials {
  const { version, license } = config;
  return billOf({ name: "controller", version, license, binary, bunVersion: bunVersion(), packages });
}

/** The version of the runtime in the binary. @throws Error when deno.json pins no version */
export function bunVersion(): string {
  const version = /^npm:bun@(\d+\.\d+\.\d+)$/.exec(config.imports.bun)?.[1];
  if (version === undefined) throw new Error(`Cannot name the runtime: deno.json pins "${config.imports.bun}"`);
  return version;
}

if (import.meta.main) {
  const binary = join(root, "dist", "controller");
  const bill = billOfMaterials(readFileSync(binary), bundledPackages(join(root, "main.ts")));
  const file = `${binary}.cdx.json`;
  writeFileSync(file, `${JSON.stringify(bill, undefined, 2)}\n`);
  process.stdout.write(`${relative(root, file)}: ${bill.components.length} components\n`);
}
