/**
 * Writes src/apiserver/kinds/generated/: the types and names of all built-in kinds, as a real kube-apiserver publishes
 * them, and the columns of its tables.
 *
 *   deno run -A tasks/api_kinds.ts                   starts a control plane and reads from it
 *   deno run -A tasks/api_kinds.ts --from-module     tries only the types, from the files of k8s.io/kubernetes
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ControlPlane } from "../tests/controlplane/mod.ts";
import { GoTypes } from "./_go_types.ts";
import { columnsFile, namesFile, packageFile, packagesFile } from "./_kind_files.ts";
import { listAt, ModuleApi, type PublishedApi, RunningApi } from "./_published_api.ts";
import { differingSchemas, mergedComponents } from "./_published_schemas.ts";
import { type Json, type JsonObject, packageOf, type WirePackage, WireWriter } from "./_wire_packages.ts";
import { root } from "./_root.ts";

const target = join(root, "src/apiserver/kinds/generated");

/** The folder with the sources of each module. */
function moduleDirectories(): ReadonlyMap<string, string> {
  const modules = ["api", "apimachinery", "apiextensions-apiserver", "kube-aggregator", "kubernetes"].map((name) =>
    `k8s.io/${name}`
  );
  const found = execFileSync("go", ["list", "-m", "-f", "{{.Path}} {{.Dir}}", ...modules], {
    cwd: join(root, "tests/controlplane"),
    encoding: "utf8",
  });
  return new Map(found.trim().split("\n").map((line) => [line.split(" ")[0] ?? "", line.split(" ")[1] ?? ""]));
}

function directoryIn(modules: ReadonlyMap<string, string>): (path: string) => string {
  return (path) => {
    for (const [module, directory] of modules) {
      if (path === module || path.startsWith(`${module}/`)) return directory + path.slice(module.length);
    }
    throw new Error(`Cannot find the package ${path}: no module contains it`);
  };
}

async function writeTypes(api: PublishedApi, modules: ReadonlyMap<string, string>): Promise<void> {
  const components = mergedComponents(await api.components());
  const packages = new Map<string, WirePackage>();
  for (const name of components.keys()) {
    const { wirePackage } = packageOf(name);
    packages.set(wirePackage.name, wirePackage);
  }
  const byGoPath = new Map([...packages.values()].map((known) => [known.goPath, known.name]));
  const writer = new WireWriter(new GoTypes(directoryIn(modules)), (path) => byGoPath.get(path));
  const lines = new Map<string, string[]>();
  for (const [component, schema] of [...components].sort(([left], [right]) => left < right ? -1 : 1)) {
    const { wirePackage, typeName } = packageOf(component);
    const known = lines.get(wirePackage.name) ?? [];
    lines.set(wirePackage.name, [...known, writer.line(wirePackage.goPath, typeName, schema)]);
  }
  const sorted = [...packages.values()].sort((left, right) => left.name < right.name ? -1 : 1);
  for (const known of sorted) write(fileNameOf(known), packageFile(known.fullName, lines.get(known.name) ?? []));
  write("packages.ts", packagesFile(sorted.map((known) => ({ ...known, file: fileNameOf(known) }))));
  await checkTypes(components);
}

/** Reads the written types back and compares them. */
async function checkTypes(components: ReadonlyMap<string, JsonObject>): Promise<void> {
  const wrong = await differingSchemas(components);
  for (const text of wrong) console.error(text);
  if (wrong.length > 0) {
    throw new Error(
      `Cannot write the types: ${wrong.length} of ${components.size} differ from what the server published`,
    );
  }
  console.log(`${components.size} types`);
}

async function writeNames(api: PublishedApi): Promise<void> {
  const groupVersions = await api.groupVersions();
  write("names.ts", namesFile(groupVersions));
  const columns = new Map<string, readonly Json[]>();
  for (const { group, version, resources } of groupVersions) {
    for (const resource of resources) {
      const verbs = resource["verbs"];
      if (!Array.isArray(verbs) || !verbs.includes("list")) continue;
      const prefix = group === "" ? "/api" : `/apis/${group}`;
      const found = await api.columns(`${prefix}/${version}/${resource["name"]}`);
      if (found === undefined) return;
      columns.set(`${group}/${version}/${resource["name"]}`, found);
    }
  }
  write("columns.ts", columnsFile(columns));
  console.log(
    `${columns.size} tables, ${
      groupVersions.flatMap(({ resources }) => listAt({ resources }, "resources")).length
    } resources`,
  );
}

function fileNameOf({ name }: { readonly name: string }): string {
  return `${name.replace("/", "_")}.ts`;
}

function write(name: string, text: string): void {
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, name), text);
}

async function main(isFromModule: boolean): Promise<void> {
  const modules = moduleDirectories();
  if (isFromModule) {
    const api = new ModuleApi(modules.get("k8s.io/kubernetes") ?? "");
    await writeTypes(api, modules);
    await writeNames(api);
    return;
  }
  await using controlPlane = await ControlPlane.start();
  const api = new RunningApi(controlPlane);
  await writeTypes(api, modules);
  await writeNames(api);
}

await main(process.argv.includes("--from-module"));
