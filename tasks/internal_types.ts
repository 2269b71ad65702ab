/**
 * Writes src/apiserver/kinds/generated/internal_types.ts: the fields of the types that kube-apiserver works with inside, in
 * their order. Messages about what may not change show them: their JSON has Go's names and every field. Read from the
 * sources of Kubernetes. Run: `deno run -A tasks/internal_types.ts` (Go fetches the module).
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const version = "v1.36.3";
/** What messages show, by the package below pkg/apis. */
const roots: ReadonlyMap<string, readonly string[]> = new Map([
  ["core", ["PodSpec", "EphemeralContainer", "PersistentVolumeClaimSpec", "PersistentVolumeSource"]],
  ["certificates", ["CertificateSigningRequestCondition"]],
]);
const target = "src/apiserver/kinds/generated/internal_types.ts";

function sourceOf(name: string): string {
  const text = execFileSync("go", ["mod", "download", "-json", `k8s.io/kubernetes@${version}`], { encoding: "utf8" });
  return readFileSync(join(JSON.parse(text).Dir, "pkg/apis", name, "types.go"), "utf8");
}

/** The declared types of a file: the fields of a struct as `name type`, or what another type is made of. */
function declarations(source: string) {
  const structs = new Map<string, readonly string[]>();
  const aliases = new Map<string, string>();
  for (const [, name = "", body = ""] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    const fields = body.split("\n").map((line) => line.replace(/\/\/.*/, "").replace(/`.*`/, "").trim());
    structs.set(name, fields.filter((line) => line !== ""));
  }
  for (const [, name = "", type = ""] of source.matchAll(/^type (\w+) ([\w.[\]*]+)$/gm)) aliases.set(name, type);
  return { structs, aliases };
}

const scalars: ReadonlyMap<string, string> = new Map([
  ["string", "s"],
  ["types.UID", "s"],
  ["bool", "b"],
  ["int", "n"],
  ["int32", "n"],
  ["int64", "n"],
  ["[]byte", "*s"],
  ["resource.Quantity", "q"],
  ["intstr.IntOrString", "n"],
]);

function linesOf(packageName: string, names: readonly string[]): readonly string[] {
  const { structs, aliases } = declarations(sourceOf(packageName));
  const lines = new Map<string, string>();
  const codeOf = (type: string): string => {
    const scalar = scalars.get(type);
    if (scalar !== undefined) return scalar;
    if (type.startsWith("*")) return `*${codeOf(type.slice(1)).replace(/^\*/, "")}`;
    if (type.startsWith("[]")) return `[${codeOf(type.slice(2))}`;
    if (type.startsWith("map[")) return `{${codeOf(type.slice(type.indexOf("]") + 1))}`;
    if (structs.has(type)) {
      read(type);
      return `@${type}`;
    }
    const alias = aliases.get(type);
    // Types of apimachinery are the same inside and outside.
    return alias === undefined ? "r" : codeOf(alias);
  };
  const read = (name: string): void => {
    if (lines.has(name)) return;
    lines.set(name, "");
    const fields = (structs.get(name) ?? []).map((line) => {
      const [field = "", ...type] = line.split(/\s+/);
      return type.length === 0 ? `:${codeOf(field)}` : `${field}:${codeOf(type.join(""))}`;
    });
    lines.set(name, `${name} ${fields.join(" ")}`);
  };
  for (const name of names) read(name);
  return [...lines.values()];
}

const lines = [...roots].flatMap(([name, types]) => linesOf(name, types)).sort();
writeFileSync(
  target,
  `/** The fields of kube-apiserver's own types, one type a line (see ../internal_form.ts). Written by tasks/internal_types.ts. Do not edit. */
// deno-fmt-ignore-file
export const internalTypes = \`
${lines.join("\n")}
\`;
`,
);
