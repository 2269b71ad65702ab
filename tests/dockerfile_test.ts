/** The Dockerfile makes the same decisions as `image`. No container engine builds it here. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { debianRelease } from "../src/cli/image/debian_packages.ts";
import { certificatesFile, userId } from "../src/cli/image/root_file_system.ts";
import { root } from "../tasks/_root.ts";
import { assert, assertEquals, test } from "./testing.ts";

const instructions = readFileSync(join(root, "Dockerfile"), "utf8").replaceAll("\\\n", " ").split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split(/\s+/));

function argumentsOf(name: string): readonly (readonly string[])[] {
  return instructions.filter(([instruction]) => instruction === name).map(([, ...args]) => args);
}

test("both stages of the Dockerfile have the release of Debian that images have", () => {
  const bases = argumentsOf("FROM").map(([base = ""]) => base);
  assertEquals(bases.length, 2);
  for (const base of bases) assert(base.includes(debianRelease.codename), base);
});

test("the Dockerfile has the user, the program and the authorities of images", () => {
  assertEquals(argumentsOf("USER"), [[`${userId}:${userId}`]]);
  assertEquals(argumentsOf("ENTRYPOINT"), [['["/usr/local/bin/controller"]']]);
  assert(argumentsOf("ENV").flat().includes(`SSL_CERT_FILE=${certificatesFile}`));
});

test("the Dockerfile copies files that exist, and installs the Deno that README.md names", () => {
  const copied = argumentsOf("COPY").filter(([first = ""]) => !first.startsWith("--")).flatMap((args) =>
    args.slice(0, -1)
  );
  assertEquals(copied, ["deno.json", "deno.lock", "."]);
  for (const path of copied) assert(existsSync(join(root, path)), path);
  const version = /^npx -y (deno@[0-9.]+) task ok$/m.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1] ?? "";
  assert(argumentsOf("RUN").some((args) => args.includes(version)), version);
});
