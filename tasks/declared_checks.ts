/**
 * Writes src/apiserver/kinds/generated/declared_checks.ts: the validation that the Go types of Kubernetes declare in tags
 * (`+k8s:required`, `+k8s:maxItems=32`), for all packages whose kinds are served.
 *
 *   deno run -A tasks/declared_checks.ts              writes the table (Go fetches the modules)
 *   deno run -A tasks/declared_checks.ts --check      writes nothing, and exits 1 if the table would differ
 *
 * One line per struct: its name as `resource/v1.DeviceClaim`, then `field:check,check`. Structs without tags have no line.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { packageNames, wireStruct } from "../src/apiserver/kinds/mod.ts";
import { readTags, type TaggedField, type TaggedPackage } from "./_go_tags.ts";
import { root } from "./_root.ts";

const version = "v0.36.3";
const target = "src/apiserver/kinds/generated/declared_checks.ts";

/** Packages outside of the module `api`: the module and the folder. */
const sources: Readonly<Record<string, string>> = {
  "apiextensions/v1": "apiextensions-apiserver:pkg/apis/apiextensions/v1",
  "apiregistration/v1": "kube-aggregator:pkg/apis/apiregistration/v1",
  "meta/v1": "apimachinery:pkg/apis/meta/v1",
};

const directories = new Map<string, string>();

function moduleDirectory(name: string): string {
  const known = directories.get(name);
  if (known !== undefined) return known;
  const text = execFileSync("go", ["mod", "download", "-json", `k8s.io/${name}@${version}`], { encoding: "utf8" });
  const { Dir: directory } = JSON.parse(text);
  directories.set(name, directory);
  return directory;
}

function linesOf(packageName: string): readonly string[] {
  const [module = "api", path = packageName] = sources[packageName]?.split(":") ?? ["api", packageName];
  const file = join(moduleDirectory(module), path, "types.go");
  if (!existsSync(file)) return [];
  const tagged = readTags(readFileSync(file, "utf8"));
  return [...tagged.structs.keys()].flatMap((name) => {
    const typeName = `${packageName}.${name}`;
    const words = fieldsOf(tagged, name).flatMap((field) => wordOf(typeName, field, tagged));
    return words.length === 0 ? [] : [[typeName, ...words].join(" ")];
  });
}

/** The fields of a struct, with those of embedded structs of the same package in their places. */
function fieldsOf(tagged: TaggedPackage, name: string): readonly TaggedField[] {
  return (tagged.structs.get(name) ?? []).flatMap((field) =>
    field.name === "" ? fieldsOf(tagged, field.elementType) : [field]
  );
}

function wordOf(
  typeName: string,
  { name, elementType, checks }: TaggedField,
  { enums }: TaggedPackage,
): readonly string[] {
  const declared = enums.get(elementType);
  const allowed = declared?.length === 0 ? publishedValues(typeName, name) : declared;
  const all = [...checks, ...(allowed === undefined ? [] : [`enum=${allowed.join("|")}`])];
  if (all.every((check) => check === "optional")) return [];
  if (all.some((check) => /[ ,`\\]/.test(check))) throw new Error(`Cannot write ${name}:${all}: it has a separator`);
  return [`${name}:${all.join(",")}`];
}

/** The values that OpenAPI publishes, for an enum whose values are those of another package. */
function publishedValues(typeName: string, field: string): readonly string[] {
  const { allowed = [] } = wireStruct(typeName).fields.get(field) ?? {};
  if (allowed.length === 0) throw new Error(`Cannot write ${typeName}.${field}: no values of its enum are known`);
  return allowed;
}

const text =
  `/** Validation that Kubernetes' Go types declare, one struct a line (see ../rules/declared_checks.ts). Written by tasks/declared_checks.ts. Do not edit. */
// deno-fmt-ignore-file
export const declaredChecks = \`
${packageNames().flatMap(linesOf).sort().join("\n")}
\`;
`;

const path = join(root, target);
const isStale = !existsSync(path) || readFileSync(path, "utf8") !== text;
if (!process.argv.includes("--check")) writeFileSync(path, text);
else if (isStale) {
  console.error(`Cannot accept ${target}: it is out of date, run deno run -A tasks/declared_checks.ts`);
  process.exitCode = 1;
}
