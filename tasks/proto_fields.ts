/**
 * Writes src/apiserver/protobuf/generated/proto_fields.ts: the field numbers of Kubernetes' types in protobuf, from the
 * `generated.proto` files of its Go modules. Run: `deno run -A tasks/proto_fields.ts` (Go fetches the modules).
 *
 * One line per message: its name as `core/v1.PodSpec`, then `number:name`, or `number:` and `name=MESSAGE` for a field that
 * protobuf nests and JSON does not (Go's embedded structs).
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageNames, structNames, wireStruct } from "../src/apiserver/kinds/mod.ts";

const version = "v0.36.3";

interface ProtoField {
  readonly number: number;
  readonly name: string;
  readonly type: string;
}

/** Packages outside of the module `api`: the module and the folder. */
const sources: Readonly<Record<string, string>> = {
  "apiextensions/v1": "apiextensions-apiserver:pkg/apis/apiextensions/v1",
  "apiregistration/v1": "kube-aggregator:pkg/apis/apiregistration/v1",
  "meta/v1": "apimachinery:pkg/apis/meta/v1",
};

function moduleDirectory(name: string): string {
  const text = execFileSync("go", ["mod", "download", "-json", `k8s.io/${name}@${version}`], { encoding: "utf8" });
  return JSON.parse(text).Dir;
}

function messagesOf(text: string): ReadonlyMap<string, readonly ProtoField[]> {
  const messages = new Map<string, readonly ProtoField[]>();
  for (const [, name = "", body = ""] of text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const fields = [...body.matchAll(/^\s+(?:optional|repeated|required)?\s*(map<[^>]+>|[\w.]+) (\w+) = (\d+);/gm)];
    messages.set(
      name,
      fields.map(([, type = "", field = "", number]) => ({ number: Number(number), name: field, type })),
    );
  }
  return messages;
}

/** A message as this task names it: `.k8s.io.api.core.v1.PodSpec` of another package, or `PodSpec` of its own. */
function messageName(type: string, packageName: string): string {
  const parts = type.replace(/^\./, "").split(".");
  const name = parts.pop() ?? "";
  if (parts.length === 0) return `${packageName}.${name}`;
  return `${parts.slice(-2).join("/")}.${name}`;
}

/** The name of a field in JSON: protobuf has no `$schema` and no `x-kubernetes-list-type`, and writes `Name` and `aPIGroup`. */
function jsonName(field: string, json: ReadonlyMap<string, unknown> | undefined): string {
  if (json === undefined || json.has(field)) return field;
  const plain = (name: string) => name.replaceAll(/[$-]/g, "").toLowerCase();
  return [...json.keys()].find((name) => plain(name) === plain(field)) ?? field;
}

const directories = new Map<string, string>();
const lines: string[] = [];
for (const packageName of packageNames()) {
  const [module = "api", path = packageName] = sources[packageName]?.split(":") ?? ["api", packageName];
  const directory = directories.get(module) ?? moduleDirectory(module);
  directories.set(module, directory);
  let text: string;
  try {
    text = readFileSync(join(directory, path, "generated.proto"), "utf8");
  } catch {
    continue; // the package has no protobuf types
  }
  const messages = messagesOf(text);
  const known = new Set(structNames(packageName));
  for (const [message, fields] of messages) {
    const name = `${packageName}.${message}`;
    const json = known.has(name) ? wireStruct(name).fields : undefined;
    const isReached = json !== undefined || fields.length > 0;
    if (!isReached) continue;
    const isNested = (field: string, type: string) =>
      json !== undefined && json.size > 0 && !json.has(field) && /(^|\.)[A-Z]\w*$/.test(type);
    const unknown = fields.filter(({ name: field, type }) =>
      json !== undefined && json.size > 0 && !json.has(jsonName(field, json)) && !isNested(field, type)
    );
    if (unknown.length > 0) throw new Error(`Cannot find ${unknown.map((field) => field.name)} in the JSON of ${name}`);
    const words = fields.map(({ number, name: field, type }) => {
      const name = jsonName(field, json);
      return isNested(name, type) ? `${number}:=${messageName(type, packageName)}` : `${number}:${name}`;
    });
    lines.push([name, ...words].join(" "));
  }
}
const target = new URL("../src/apiserver/protobuf/generated/proto_fields.ts", import.meta.url);
writeFileSync(
  target,
  `/** Field numbers of Kubernetes' types in protobuf, one message a line. Written by tasks/proto_fields.ts. Do not edit. */
// deno-fmt-ignore-file
export const protoFields = \`
${lines.sort().join("\n")}
\`;
`,
);
console.log(`${lines.length} messages`);
