/**
 * Writes the bill of materials of the binary as CycloneDX 1.6: every package in it, the runtime, and the checksum of the
 * binary. Scanners for vulnerabilities and licences read this format.
 *
 *   sh compile.sh && deno task sbom            writes dist/controller.cdx.json
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import config from "../deno.json" with { type: "json" };
import { type BundledPackage, bundledPackages } from "./_bundled_packages.ts";
import { root } from "./_root.ts";

/** The part of a CycloneDX document that is used here. */
export interface BillOfMaterials {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

interface Component {
  readonly type: "application" | "library" | "platform";
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly { readonly expression: string }[];
  readonly hashes?: readonly { readonly alg: "SHA-256" | "SHA-512"; readonly content: string }[];
}

/** Makes the bill of materials. @param binary its bytes; the same bytes and packages give the same bill */
export function billOfMaterials(binary: Uint8Array, packages: readonly BundledPackage[]): BillOfMaterials {
  const content = createHash("sha256").update(binary).digest("hex");
  const { version } = config;
  const runtime = bunVersion();
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { type: "application", name: "controller", version, hashes: [{ alg: "SHA-256", content }] },
    },
    components: [
      { type: "platform", name: "bun", version: runtime, purl: `pkg:npm/bun@${runtime}` },
      ...packages.map(libraryOf),
    ],
  };
}

/** The version of the runtime in the binary. @throws Error when deno.json pins no version */
export function bunVersion(): string {
  const version = /^npm:bun@(\d+\.\d+\.\d+)$/.exec(config.imports.bun)?.[1];
  if (version === undefined) throw new Error(`Cannot name the runtime: deno.json pins "${config.imports.bun}"`);
  return version;
}

function libraryOf({ name, version, license, integrity }: BundledPackage): Component {
  const digest = integrity?.startsWith("sha512-") === true ? integrity.slice("sha512-".length) : undefined;
  const content = digest === undefined ? undefined : Buffer.from(digest, "base64").toString("hex");
  return {
    type: "library",
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(content === undefined ? {} : { hashes: [{ alg: "SHA-512", content }] }),
  };
}

if (import.meta.main) {
  const binary = join(root, "dist", "controller");
  const bill = billOfMaterials(readFileSync(binary), bundledPackages(join(root, "main.ts")));
  const file = `${binary}.cdx.json`;
  writeFileSync(file, `${JSON.stringify(bill, undefined, 2)}\n`);
  process.stdout.write(`${relative(root, file)}: ${bill.components.length} components\n`);
}
