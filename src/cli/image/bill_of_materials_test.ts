import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assertEquals, test } from "../../../tests/testing.ts";
import { billOfMaterials, bundledPackages } from "./bill_of_materials.ts";
import { certificatesPackage } from "./debian_packages.ts";

/** A project with two packages, one of them in a scope. */
async function project(files: Readonly<Record<string, unknown>>): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "pintle-bill-"));
  const all = {
    "node_modules/zod/package.json": { name: "zod", version: "4.0.0", license: "MIT" },
    "node_modules/@a/b/package.json": { name: "@a/b", version: "1.2.3", license: { type: "ISC" } },
    ...files,
  };
  for (const [name, content] of Object.entries(all)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const inputs = [
  "main.ts",
  "../node_modules/zod/v4/index.js",
  "../node_modules/zod/a.js",
  "../node_modules/@a/b/lib/x.js",
];
const metafile = JSON.stringify({ inputs: Object.fromEntries(inputs.map((path) => [path, {}])) });

const lockFiles: Readonly<Record<string, unknown>> = {
  "deno.lock": {
    npm: { "zod@4.0.0_peer_x@1.0.0": { integrity: "sha512-eg==" }, "@a/b@1.2.3": { integrity: "sha512-YQ==" } },
  },
  "package-lock.json": {
    packages: {
      "": { name: "site" },
      "node_modules/zod": { version: "4.0.0", integrity: "sha512-eg==" },
      "node_modules/x/node_modules/@a/b": { version: "1.2.3", integrity: "sha512-YQ==" },
    },
  },
  "bun.lock": `{
    "packages": {
      "@a/b": ["@a/b@1.2.3", "", {}, "sha512-YQ=="],
      "zod": ["zod@4.0.0", "", { "peerDependencies": {}, }, "sha512-eg=="],
    },
  }`,
};

for (const [name, content] of Object.entries(lockFiles)) {
  test(`bundledPackages() names each package of the binary once, with its checksum in ${name}`, async () => {
    await using site = await project({ [name]: content });
    assertEquals(await bundledPackages(metafile, join(site.path, "src")), [
      { name: "@a/b", version: "1.2.3", license: "ISC", integrity: "sha512-YQ==" },
      { name: "zod", version: "4.0.0", license: "MIT", integrity: "sha512-eg==" },
    ]);
  });
}

test("a bill of materials has the program, the runtime, the packages and the parts of Debian", () => {
  const binary = new TextEncoder().encode("program");
  const { metadata: { component }, components } = billOfMaterials({
    name: "website",
    version: "1.0.0",
    license: "MIT",
    binary,
    bunVersion: "1.4.5",
    packages: [{ name: "@a/b", version: "1.2.3", license: "SEE LICENSE IN x", integrity: "sha512-YQ==" }],
    systemPackages: [certificatesPackage],
  });
  const sha256 = createHash("sha256").update(binary).digest("hex");
  assertEquals([component.name, component.hashes, component.licenses], [
    "website",
    [{ alg: "SHA-256", content: sha256 }],
    [{ expression: "MIT" }],
  ]);
  const [runtime, library, system] = components;
  assertEquals(runtime?.purl, "pkg:npm/bun@1.4.5");
  assertEquals([library?.purl, library?.hashes, library?.licenses], [
    "pkg:npm/%40a/b@1.2.3",
    [{ alg: "SHA-512", content: "61" }],
    [{ license: { name: "SEE LICENSE IN x" } }],
  ]);
  assertEquals(
    system?.purl,
    `pkg:deb/debian/ca-certificates@${encodeURIComponent(certificatesPackage.version)}?arch=all&distro=debian-13`,
  );
});
