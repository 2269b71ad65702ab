/**
 * Writes src/apiserver/protobuf/generated/proto_fields.ts: the field numbers of Kubernetes' types in protobuf, from the
 * `generated.proto` files of its Go modules. Run: `deno run -A tasks/proto_fields.ts` (Go fetches the modules).
 *
 * One line per message: its name as `core/v1.PodSpec`, then `number:name`, or `number:` and `name=MESSAGE` for a field that
 * protobuf nests and JSON does not (Go's embedded structs). `~` after a name: its list is a message of its own.
 *
 * Then the wire types of the messages that servers write and OpenAPI does not publish: discovery and partial metadata.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageNames, structNames, wireStruct } from "../src/apiserver/kinds/mod.ts";
import { GoTypes } from "./_go_types.ts";
import { WireWriter } from "./_wire_packages.ts";

const version = "v0.36.3";

interface ProtoField {
  readonly number: number;
  readonly name: string;
  readonly type: string;
  readonly isRepeated: boolean;
}

/** Packages outside of the module `api`: the module and the folder. */
const sources: Readonly<Record<string, string>> = {
  "apiextensions/v1": "apiextensions-apiserver:pkg/apis/apiextensions/v1",
  "apiregistration/v1": "kube-aggregator:pkg/apis/apiregistration/v1",
  "meta/v1": "apimachinery:pkg/apis/meta/v1",
  "meta/v1beta1": "apimachinery:pkg/apis/meta/v1beta1",
};

/** Packages of which OpenAPI publishes no types. */
const unpublished = ["apidiscovery/v2", "meta/v1beta1"];

/** Messages that servers write and OpenAPI does not publish; those that they refer to are written too. */
const written = [
  "apidiscovery/v2.APIGroupDiscoveryList",
  "meta/v1.APIGroup",
  "meta/v1.APIGroupList",
  "meta/v1.APIVersions",
  "meta/v1.PartialObjectMetadata",
  "meta/v1.PartialObjectMetadataList",
];

function moduleDirectory(name: string): string {
  const text = execFileSync("go", ["mod", "download", "-json", `k8s.io/${name}@${version}`], { encoding: "utf8" });
  return JSON.parse(text).Dir;
}

function messagesOf(text: string): ReadonlyMap<string, readonly ProtoField[]> {
  const messages = new Map<string, readonly ProtoField[]>();
  for (const [, name = "", body = ""] of text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const fields = [...body.matchAll(/^\s+(optional|repeated|required)?\s*(map<[^>]+>|[\w.]+) (\w+) = (\d+);/gm)];
    messages.set(
      name,
      fields.map(([, label, type = "", field = "", number]) => ({
        number: Number(number),
        name: field,
        type,
        isRepeated: label === "repeated",
      })),
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
const references = new Map<string, readonly string[]>();
for (const packageName of [...packageNames(), ...unpublished]) {
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
    const words = fields.map(({ number, name: field, type, isRepeated }) => {
      const name = jsonName(field, json);
      if (isNested(name, type)) return `${number}:=${messageName(type, packageName)}`;
      const isOwnMessage = !isRepeated && json?.get(name)?.type.kind === "list";
      return `${number}:${name}${isOwnMessage ? "~" : ""}`;
    });
    lines.push([name, ...words].join(" "));
    references.set(name, fields.map(({ type }) => messageName(type, packageName)));
  }
}

/** The lines of wire types for `written`, as tasks/api_kinds.ts writes those of published types. */
function writtenTypes(): readonly string[] {
  const goPaths = new Map(
    [...references.keys()].map((name) => name.slice(0, name.indexOf("."))).map((name) => {
      const isMeta = name.startsWith("meta/");
      return [isMeta ? `k8s.io/apimachinery/pkg/apis/${name}` : `k8s.io/api/${name}`, name] as const;
    }),
  );
  const folder = (path: string) =>
    path.startsWith("k8s.io/apimachinery/")
      ? join(directories.get("apimachinery") ?? "", path.slice("k8s.io/apimachinery/".length))
      : join(directories.get("api") ?? "", path.slice("k8s.io/api/".length));
  const writer = new WireWriter(new GoTypes(folder), (path) => goPaths.get(path));
  const found = new Map<string, string>();
  const pending = [...written];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const [packageName = "", typeName = ""] = name.split(".");
    const isPublished = packageNames().includes(packageName) && structNames(packageName).includes(name);
    const line = lines.find((candidate) => candidate.split(" ", 1)[0] === name);
    if (found.has(name) || isPublished || line === undefined) continue;
    const properties = line.split(" ").slice(1).map((word) => [word.slice(word.indexOf(":") + 1), {}]);
    const [goPath = ""] = [...goPaths].find(([, known]) => known === packageName) ?? [];
    found.set(name, writer.line(goPath, typeName, { properties: Object.fromEntries(properties) }));
    pending.push(...references.get(name) ?? []);
  }
  return [...found].map(([name, text]) => name.slice(0, name.indexOf(".") + 1) + text).sort();
}

const target = new URL("../src/apiserver/protobuf/generated/proto_fields.ts", import.meta.url);
writeFileSync(
  target,
  `/** Field numbers of Kubernetes' types in protobuf, one message a line. Written by tasks/proto_fields.ts. Do not edit. */
// deno-fmt-ignore-file
export const protoFields = \`
${lines.sort().join("\n")}
\`;

/** Wire types of messages that OpenAPI does not publish, as in kinds/generated. */
export const protoTypes = \`
${writtenTypes().join("\n")}
\`;
`,
);
console.log(`${lines.length} messages`);
