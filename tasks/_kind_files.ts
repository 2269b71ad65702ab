/** The files that tasks/api_kinds.ts writes: texts in TypeScript modules, so that they are bundled; parsed on demand. */
import type { GroupVersion } from "./_published_api.ts";
import type { Json, JsonObject } from "./_wire_packages.ts";

const generated = "Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit.";

/** One package of types. */
export function packageFile(fullName: string, lines: readonly string[]): string {
  return `/** ${fullName}: its types, one a line (see ../types/wire_types.ts). ${generated} */
// deno-fmt-ignore-file
export const text = \`
${lines.join("\n")}
\`;
`;
}

/** The index of the packages. */
export function packagesFile(packages: readonly { name: string; fullName: string; file: string }[]): string {
  const imports = packages.map(({ file }, index) => `import { text as text${index} } from "./${file}";`);
  const entries = packages.map(({ name, fullName }, index) =>
    `  ["${name}", { fullName: "${fullName}", text: text${index} }],`
  );
  return `/** The packages of types, by their short names. ${generated} */
// deno-fmt-ignore-file
${imports.join("\n")}

/** A package: the prefix of its types in OpenAPI, and their text. */
export const packages: ReadonlyMap<string, { readonly fullName: string; readonly text: string }> = new Map([
${entries.join("\n")}
]);
`;
}

/** The names of all kinds, one line each, in the order of discovery. */
export function namesFile(groupVersions: readonly GroupVersion[]): string {
  const lines = groupVersions.flatMap(({ group, version, resources }) =>
    resources.filter((resource) => !String(resource["name"]).includes("/")).map((resource) => {
      const subresources = resources.filter((other) => String(other["name"]).startsWith(`${resource["name"]}/`));
      return nameLine(group, version, resource, subresources);
    })
  );
  return `/**
 * The names of all built-in kinds, one a line (see ../kind_names.ts): group, version, kind, plural, singular, N where it
 * is namespaced, short names, categories, verbs, storage version hash, subresources. ${generated}
 */
// deno-fmt-ignore-file
export const names = \`
${lines.join("\n")}
\`;
`;
}

function nameLine(group: string, version: string, resource: JsonObject, subresources: readonly JsonObject[]): string {
  const { kind, name, singularName, namespaced, shortNames, categories, verbs, storageVersionHash } = resource;
  return [
    group,
    version,
    kind,
    name,
    singularName,
    namespaced === true ? "N" : "",
    words(shortNames),
    words(categories),
    words(verbs),
    storageVersionHash ?? "",
    subresources.map((subresource) => subresourceWord(String(name), String(kind), group, version, subresource)).join(
      " ",
    ),
  ].join("|");
}

function subresourceWord(
  plural: string,
  owner: string,
  ownerGroup: string,
  ownerVersion: string,
  resource: JsonObject,
): string {
  const { name, kind, verbs } = resource;
  const group = resource["group"] ?? ownerGroup;
  const version = resource["version"] ?? ownerVersion;
  const isOwn = kind === owner && group === ownerGroup && version === ownerVersion;
  return `${String(name).slice(plural.length + 1)}:${words(verbs)}${isOwn ? "" : `:${group}/${version}/${kind}`}`;
}

function words(value: Json | undefined): string {
  return Array.isArray(value) ? value.join(",") : "";
}

/** The columns of the tables, without descriptions. */
export function columnsFile(columns: ReadonlyMap<string, readonly Json[]>): string {
  const tables = [...columns].map(([key, definitions]) => {
    const rows = definitions.map((definition) => {
      const { name, type, format, priority } = Object(definition);
      return [name, type, format, priority];
    });
    return `  ${JSON.stringify(key)}: ${JSON.stringify(rows)},`;
  });
  const text = `{\n${tables.join("\n").replace(/,$/, "")}\n}`;
  return `/** The columns of tables, by group, version and plural: name, type, format, priority. ${generated} */
// deno-fmt-ignore-file
export const columns = ${templateLiteral(text)};
`;
}

function templateLiteral(text: string): string {
  return `\`${text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${")}\``;
}
