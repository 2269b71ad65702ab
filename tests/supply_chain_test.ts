/** Tests of the dependencies: what the binary contains, and where it comes from. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import config from "../deno.json" with { type: "json" };
import { bundledPackages, readLock } from "../tasks/_bundled_packages.ts";
import { root } from "../tasks/_root.ts";
import { licensesFile, permissiveLicenses, thirdPartyLicenses } from "../tasks/licenses.ts";
import { billOfMaterials, bunVersion } from "../tasks/sbom.ts";
import { assert, assertEquals, assertStringIncludes, test } from "./testing.ts";

/** Folders of the engine, and the packages that each may import. */
const core: ReadonlyMap<string, readonly string[]> = new Map([
  ["async", []],
  ["queue", []],
  ["cache", []],
  ["controller", []],
  ["manager", ["zod"]],
]);

test("[security 23] the lockfile is frozen, each package in it has its checksum, and no install script is allowed", () => {
  assertEquals(config.lock, { path: "./deno.lock", frozen: true });
  const packages = Object.entries(readLock().npm);
  assert(packages.length > 50);
  assertEquals(packages.filter(([, { integrity }]) => integrity?.startsWith("sha512-") !== true), []);
  // tasks/bun.sh replaces Bun's install script.
  assertEquals(packages.filter(([, { scripts }]) => scripts === true).map(([name]) => name), [`bun@${bunVersion()}`]);
  assert(!("allowScripts" in config));
  for (const lock of ["tests/runtimes/deno.lock", "tests/registry/deno.lock"]) {
    for (const [name, { integrity, scripts }] of Object.entries(readLock(join(root, lock)).npm)) {
      assert(integrity?.startsWith("sha512-") === true && scripts !== true, name);
    }
  }
  for (const [name, version] of Object.entries(config.imports)) {
    assert(/^(npm:.*@\d+\.\d+\.\d+|\.\/.*)$/.test(version), `${name} has no exact version: ${version}`);
  }
});

test("[security 23] queue, cache and controller import no package, and the manager only zod", () => {
  for (const [folder, allowed] of core) {
    const imports = sourcesIn(join(root, "src", folder)).flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/(?:from|import\() ?"([^"]+)"/g)].map(([, from = ""]) => from)
    );
    assert(imports.length > 10, folder);
    const packages = imports.filter((from) => !/^(\.|node:|@pintle\/)/.test(from));
    assertEquals([...new Set(packages)], allowed, folder);
  }
});

test("one file imports the YAML library, so that it can be replaced by another one", () => {
  const folders = ["src", "tests", "tasks", "bench", "examples"].map((folder) => join(root, folder));
  const files = [join(root, "main.ts"), ...folders.flatMap(everySource)];
  const importers = files.filter((file) => /(?:from|import\() ?"(?:npm:)?yaml[@"/]/.test(readFileSync(file, "utf8")));
  assertEquals(importers.map((file) => relative(root, file)), ["src/yaml/yaml.ts"]);
});

test("[security 4] the binary has nothing of @kubernetes/client-node, and no tar or JSONPath code", () => {
  const names = bundledPackages(join(root, "main.ts")).map(({ name }) => name);
  assert(names.length > 5, names.join(" "));
  assertEquals(names.filter((name) => /^@kubernetes\/|^tar|jsonpath|openid|^ws$/.test(name)), []);
});

test("[security 23] every package in the binary has a licence that permits it", () => {
  const packages = bundledPackages(join(root, "main.ts"));
  assert(packages.length > 10);
  const others = packages.filter(({ license = "none" }) => !permissiveLicenses.has(license));
  assertEquals(others.map(({ name, license }) => `${name}: ${license}`), []);
});

test("[security 23] THIRD_PARTY_LICENSES has the licence of each package in the binary, and of the runtime", () => {
  const packages = bundledPackages(join(root, "main.ts"));
  const text = readFileSync(join(root, licensesFile), "utf8");
  assert(text === thirdPartyLicenses(packages), "run: deno task licenses");
  for (const { name, version } of packages) assertStringIncludes(text, `\n${name} ${version} (`);
  assertStringIncludes(text, `Bun ${bunVersion()} `);
  assert(text.split("Permission is hereby granted").length > 10);
});

test("[security 24] a release has checksums, the bill of materials, the licences and signed provenance", () => {
  const text = readFileSync(join(root, ".github", "workflows", "release.yml"), "utf8");
  const [before = "", after = ""] = text.split("sha256sum * > SHA256SUMS");
  for (const file of ["controller.cdx.json", licensesFile]) assertStringIncludes(before, file);
  assertStringIncludes(after, "attest-build-provenance");
  assertStringIncludes(after, "subject-path: dist/release/*");
  assertStringIncludes(after, "dist/release/*");
  const told = readFileSync(join(root, "SECURITY.md"), "utf8");
  for (const word of ["SHA256SUMS", "controller.cdx.json", licensesFile, "gh attestation verify", "deno task audit"]) {
    assertStringIncludes(told, word);
  }
});

test("[security 24] the bill of materials names each package with its checksum, the runtime, and the binary", () => {
  const packages = bundledPackages(join(root, "examples", "operator", "main.ts"));
  assertEquals(packages.filter(({ integrity }) => integrity === undefined), []);
  const binary = new TextEncoder().encode("the binary");
  const { metadata, components } = billOfMaterials(binary, packages);
  const [hash] = metadata.component.hashes ?? [];
  assertEquals(hash?.content, createHash("sha256").update(binary).digest("hex"));
  const [runtime, ...libraries] = components;
  assertEquals([runtime?.name, runtime?.version], ["bun", bunVersion()]);
  const zod = libraries.find(({ name }) => name === "zod");
  assertStringIncludes(config.imports.zod, zod?.version ?? "no zod");
  assertEquals(zod?.hashes?.[0]?.content.length, 128);
  assert(libraries.some(({ purl }) => purl?.startsWith("pkg:npm/%40logtape/logtape@") === true));
});

test("[security 24] two builds of the same sources are the same binary", () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-builds-"));
  try {
    const [first, second] = ["first", "second"].map((name) => {
      const outfile = join(folder, name, "website-operator");
      const entry = join("examples", "operator", "main.ts");
      execFileSync("sh", ["compile.sh", "--entry", entry, "--outfile", outfile], { cwd: root, stdio: "ignore" });
      return createHash("sha256").update(readFileSync(outfile)).digest("hex");
    });
    assertEquals(first, second);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("[security 24] workflows pin their actions by commit, and have a token that only reads unless a job says more", () => {
  const folder = join(root, ".github", "workflows");
  const files = readdirSync(folder);
  assert(files.length >= 3, files.join());
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    const actions = [...text.matchAll(/uses: *(\S+)/g)].map(([, action = ""]) => action);
    assertEquals(actions.filter((action) => !/^[\w-]+\/[\w/-]+@[0-9a-f]{40}$/.test(action)), [], file);
    assertEquals(/^permissions:\n( +.*\n)+/m.exec(text)?.[0], "permissions:\n  contents: read\n", file);
  }
});

test("the project has a licence that deno.json names", () => {
  assertStringIncludes(readFileSync(join(root, "LICENSE"), "utf8"), "Apache License");
  assertEquals(config.license, "Apache-2.0");
});

test("[security 25] SECURITY.md says where to report, which versions are supported, and that the runtime's advisories are ours", () => {
  const text = readFileSync(join(root, "SECURITY.md"), "utf8").replaceAll(/\s+/g, " ");
  for (const said of ["first answer within 7 days", "The newest minor version", "an advisory for Bun is an advisory"]) {
    assertStringIncludes(text, said);
  }
});

function sourcesIn(folder: string): readonly string[] {
  return everySource(folder).filter((path) => !path.endsWith("_test.ts"));
}

function everySource(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
    .map((path) => join(folder, path));
}
