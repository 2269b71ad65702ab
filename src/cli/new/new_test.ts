import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { runtimeName } from "../../runtime/mod.ts";
import { packageCommands } from "../package_cli.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";

const operator = { name: "controller", version: "1.2.3", controllers: [] };

async function call(...words: readonly string[]): Promise<CommandResult> {
  return await runCommandLine(operator, ["new", ...words], { commands: packageCommands });
}

/** A temporary folder, removed after the test. */
async function folder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "pintle-new-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

/** The clone that these tests are part of, also when they are compiled to another folder. */
const fromClone = ["--library", fileURLToPath(new URL("../../../", import.meta.url)).replace(/dist\/node\/$/, "")];

const names = [
  ".gitignore",
  "README.md",
  "controller.ts",
  "controller_test.ts",
  "deno.json",
  "deno.lock",
  "desired.ts",
  "main.ts",
  "resource.ts",
  "sample.json",
];

test("new writes all files, readable by every user, and prints the next commands", async () => {
  await using site = await folder();
  const dir = join(site.path, "operators", "web-site");
  const { code, out, err } = await call("web-site", "--runtime", "deno", ...fromClone, "--dir", dir);
  assertEquals([code, out.trimEnd().split("\n").length], [0, names.length]);
  assertEquals(err, `controller: next: cd ${dir} && deno task test && deno task dev\n`);
  assertEquals((await readdir(dir)).sort(), names);
  assertEquals((await stat(join(dir, "main.ts"))).mode & 0o777, 0o644);
  assertMatch(
    await readFile(join(dir, "resource.ts"), "utf8"),
    /export const WebSite = defineResource\(\{\n {2}group: "example\.dev",/,
  );
  assertMatch(
    await readFile(join(dir, "controller.ts"), "utf8"),
    /webSiteController = controller\("web-site"\)\n {2}\.for\(WebSite\)\n {2}\.owns\(Deployment\)/,
  );
});

test("--dry-run prints the files and writes nothing", async () => {
  await using site = await folder();
  const dir = join(site.path, "shop");
  const { code, out, err } = await call(
    "shop",
    "--kind",
    "Store",
    "--owns",
    "Service",
    "--dir",
    dir,
    "--dry-run",
    ...fromClone,
    "--runtime",
    "deno",
  );
  assertEquals([code, err, await readdir(site.path)], [0, "", []]);
  for (const name of names) assertStringIncludes(out, `==> ${join(dir, name)} <==\n`);
  assertStringIncludes(out, "export function desiredService(object: Store)");
  assert(!out.includes("Deployment") && !out.includes("sha512"));
});

test("new --versions writes the older versions, the conversion and its tests", async () => {
  await using site = await folder();
  const dir = join(site.path, "shop");
  const { code, err } = await call(
    "shop",
    "--versions",
    "v1,v2beta1,v2",
    "--owns",
    "ConfigMap",
    "--dir",
    dir,
    "--runtime",
    "deno",
    ...fromClone,
  );
  assertEquals(code, 0, err);
  const added = ["conversion.ts", "conversion_test.ts", "resource_v1.ts", "resource_v2beta1.ts"];
  assertEquals((await readdir(dir)).sort(), [...names, ...added].sort());
  const read = (name: string) => readFile(join(dir, name), "utf8");
  assertMatch(await read("resource.ts"), /export const Shop = defineResource\(\{\n.*\n {2}version: "v2",/);
  assertMatch(await read("resource_v1.ts"), /export const ShopV1 = defineResource\(\{\n.*\n {2}version: "v1",/);
  assertMatch(await read("conversion.ts"), /shopConversion = converting\(Shop, \[\n {2}convertible\(ShopV1, \{/);
  assertMatch(
    await read("controller.ts"),
    /shopController = withWebhooks\(definition, \[\n {2}shopConversion,\n\]\);\n$/,
  );
  assertStringIncludes(await read("conversion_test.ts"), "assertRoundTrips(shopConversion);");
  assertStringIncludes(await read("sample.json"), '"apiVersion": "example.dev/v2"');
});

test("new overwrites no existing file, and then writes no other file either", async () => {
  await using site = await folder();
  await writeFile(join(site.path, "main.ts"), "mine");
  const { code, err } = await call("shop", "--dir", site.path);
  assertEquals(code, 1);
  assertMatch(err, /^controller: Cannot write ".*main\.ts": it exists already\. Nothing was written\..*\n$/);
  assertEquals(await readdir(site.path), ["main.ts"]);
  assertEquals(await readFile(join(site.path, "main.ts"), "utf8"), "mine");
});

test("[84] a folder that cannot be created is exit code 1", async () => {
  await using site = await folder();
  await writeFile(join(site.path, "file"), "");
  const { code, err } = await call("shop", "--dir", join(site.path, "file", "shop"));
  assertEquals(code, 1);
  assertMatch(err, /^controller: Cannot write to ".*": ENOTDIR.*Nothing was written\..*\n$/);
});

test("deno.json links the library by a relative path when it is near, else by its absolute path", async () => {
  await using site = await folder();
  const library = join(site.path, "pintle");
  await mkdir(library);
  await writeFile(join(library, "deno.json"), '{ "name": "@pintle/controller", "version": "9.8.7" }');
  await writeFile(join(library, "deno.lock"), "the library's");
  const linksIn = async (...path: readonly string[]) => {
    const dir = join(site.path, ...path);
    const { code, err } = await call("shop", "--runtime", "deno", "--library", library, "--dir", dir);
    assertEquals(code, 0, err);
    assertEquals(await readFile(join(dir, "deno.lock"), "utf8"), "the library's");
    const { links, imports } = JSON.parse(await readFile(join(dir, "deno.json"), "utf8"));
    assertEquals(imports["@pintle/controller/testing"], "jsr:@pintle/controller@9.8.7/testing");
    return links;
  };
  assertEquals(await linksIn("shop"), ["../pintle"]);
  assertEquals(await linksIn("a", "b", "shop"), [library]);
});

test("the files are for the runtime that runs new, unless --runtime names another one", async () => {
  await using site = await folder();
  for (const runtime of ["node", "deno", "bun"]) {
    const dir = join(site.path, runtime);
    const flags = runtime === runtimeName ? [] : ["--runtime", runtime];
    const { code, err } = await call("web-site", ...flags, ...fromClone, "--dir", dir);
    assertEquals(code, 0, err);
    const described = runtime === "deno" ? ["deno.json", "deno.lock"] : ["package.json", "tsconfig.json"];
    const others = names.filter((name) => !name.startsWith("deno."));
    assertEquals((await readdir(dir)).sort(), [...others, ...described].sort());
    const readme = await readFile(join(dir, "README.md"), "utf8");
    assertStringIncludes(
      readme,
      runtime === "node" ? "npm test " : `${runtime} ${runtime === "deno" ? "task" : "run"} test`,
    );
    const file = JSON.parse(await readFile(join(dir, described[0] ?? ""), "utf8"));
    for (const task of ["test", "dev", "simulate", "compile"]) assert(task in (file.scripts ?? file.tasks), task);
  }
});

test("a kind may have the name of a kind of Kubernetes, of one that it owns, or of TypeScript", async () => {
  await using site = await folder();
  const read = async (dir: string, name: string) => await readFile(join(site.path, dir, name), "utf8");
  const write = async (dir: string, ...words: readonly string[]) => {
    const { code, err } = await call(...words, "--dir", join(site.path, dir), ...fromClone, "--runtime", "deno");
    assertEquals(code, 0, err);
  };
  await write("a", "backup", "--kind", "CronJob", "--owns", "Job", "--webhook");
  assertMatch(await read("a", "resource.ts"), /export const CronJob = defineResource/);
  assertMatch(await read("a", "controller.ts"), /withWebhooks\(definition, \[\n {2}\.\.\.backupWebhooks,\n\]\)/);
  assertStringIncludes(await read("a", "README.md"), "kubectl get cronjob.example.dev");
  await write("b", "backup", "--kind", "CronJob", "--owns", "CronJob");
  assertMatch(
    await read("b", "resource.ts"),
    /export const CronJobResource = defineResource\(\{\n.*\n.*\n {2}kind: "CronJob",/,
  );
  await write("c", "function");
  assertMatch(await read("c", "resource.ts"), /export const FunctionResource = defineResource/);
});

const refusals: readonly (readonly [line: string, message: string])[] = [
  ["", "Cannot write a controller: it has no name. Example: new website"],
  ["Web_Site", 'Cannot name a controller "Web_Site": it must begin with a letter .* Try: new web-site'],
  ["9", 'Cannot name a controller "9": .* Example: new website'],
  ["../up", 'Cannot name a controller "../up": .* Try: new up'],
  ["x".repeat(41), "Cannot name a controller .* at most 40"],
  ["shop --kind shop", 'Cannot name a kind "shop": it must begin with a capital'],
  ["shop --group apps", 'Cannot use the group "apps": it must be a domain in lower case, with a dot'],
  ["shop --group x.k8s.io", 'Cannot use the group "x.k8s.io": it belongs to Kubernetes'],
  ["shop --owns deployments", 'Cannot write a controller that owns "deployments": .* Did you mean Deployment\\?'],
  [
    "shop --owns Node",
    'Cannot write a controller that owns "Node": there are ConfigMap, CronJob, DaemonSet, Deployment',
  ],
  ["shop --versions v1,two", 'Cannot use the version "two": it must be like v1, v1beta1 or v1alpha1. Example'],
  ["shop --versions v1,v1", 'Cannot use the versions "v1,v1": one of them appears twice'],
  ["shop --library /", 'Cannot use the library "/": it is not a clone of Pintle'],
];

test("[84] invalid names are exit code 2 with a suggestion, before anything is written", async () => {
  await using site = await folder();
  for (const [line, message] of refusals) {
    const { code, out, err } = await call(...line.split(" ").filter((word) => word !== ""), "--dir", site.path);
    assertEquals([code, out], [2, ""], line);
    assertMatch(err, new RegExp(`^controller: ${message}`));
  }
  assertEquals(await readdir(site.path), []);
});
