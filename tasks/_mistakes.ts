/**
 * The commonest mistakes in an operator, and what the compiler says about them. Each is a module that imports the package
 * as users do; tests/golden/mistakes.txt has the messages, so that a change of the types shows in a review what it does to
 * them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import config from "../deno.json" with { type: "json" };
import { root } from "./_root.ts";

/** A mistake: a module, the line that is wrong, and what the first line of the message must say. */
export interface Mistake {
  readonly name: string;
  /** The source; the wrong line ends with `// wrong`. */
  readonly source: string;
  /** Part of the first line of the message. */
  readonly says: string;
}

/** The kind that the modules work with; it has no mistake. */
const siteSource = `import { defineResource, type Infer, z } from "@pintle/controller";

export const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ image: z.string().max(200), replicas: z.int32().min(0).max(9).default(1) }),
  status: z.object({ availableReplicas: z.int32().default(0) }),
  validations: [{ rule: "has(self.spec.image) && self.metadata.name.size() <= self.spec.replicas + 50" }],
});
export type Site = Infer<typeof Site>;
`;

function reconciler(names: string, body: string, owns = ""): string {
  return `import { ${names} } from "@pintle/controller";
import { Site } from "./site.ts";

controller("site").for(Site)${owns}.reconcile(async (ctx) => { // wrong?
${body}});
`;
}

/** The mistakes. */
export const mistakes: readonly Mistake[] = [
  {
    name: "the reconciler does not end with `return done`",
    source: reconciler(
      "controller, Deployment, manifest",
      '  await ctx.apply(manifest(Deployment, { metadata: { name: "a" } }));\n',
      ".owns(Deployment)",
    ).replace("// wrong?", "// wrong"),
    says: "a reconciler returns `done` or requeueAfter(ms), from every path",
  },
  {
    name: "a kind that the controller did not declare is read",
    source: reconciler("controller, done, Secret", '  ctx.find(Secret, "default/a"); // wrong\n  return done;\n'),
    says: "Secret is not declared: add .owns(Secret), .watches(Secret, ...) or .uses(notCached(Secret), ...)",
  },
  {
    name: "the status has no such field",
    source: reconciler(
      "controller, done",
      "  await ctx.patchStatus({ availableReplicass: 1 }); // wrong\n  return done;\n",
    ),
    says:
      "'availableReplicass' does not exist in type '{ readonly availableReplicas?: number | null | undefined; }'. Did you mean",
  },
  {
    name: "an Event has no such type",
    source: reconciler("controller, done", '  ctx.event("Info", "Created", "created it"); // wrong\n  return done;\n'),
    says: `'"Info"' is not assignable to parameter of type '"Normal" | "Warning"'`,
  },
  {
    name: "a cached object is changed",
    source: reconciler("controller, done", "  ctx.object.spec.replicas = 3; // wrong\n  return done;\n"),
    says: "Cannot assign to 'replicas' because it is a read-only property",
  },
  {
    name: "a list in a cached object is changed",
    source: reconciler(
      "controller, Deployment, done",
      '  const { spec } = ctx.get(Deployment, "default/a");\n' +
        '  spec.template.spec?.containers.push({ name: "b" }); // wrong\n  return done;\n',
      ".owns(Deployment)",
    ),
    says: "Property 'push' does not exist on type 'readonly Container[]'",
  },
  {
    name: "a flag does not begin with dashes",
    source: `import { flag, z } from "@pintle/controller";

export const flags = z.object({
  image: flag(z.string(), { flags: "image <name>", about: "the image" }), // wrong
});
`,
    says: "'\"image <name>\"' is not assignable to type '`-${string}, --${string}` | `--${string}`'",
  },
  {
    name: "a webhook gets the objects of another kind",
    source: `import { Deployment } from "@pintle/controller";
import { allow, deny, validating } from "@pintle/controller/webhook";
import type { Site } from "./site.ts";

export const check = validating(Deployment, {
  create: (site: Site) => site.spec.image === "" ? deny("the image is missing") : allow(), // wrong
});
`,
    says:
      "Type '(site: Site) => Allowed | Denied' is not assignable to type '(object: Deployment, ctx: AdmissionContext)",
  },
  {
    name: "a kind has no version",
    source: `import { defineResource, z } from "@pintle/controller";

export const Site = defineResource({ // wrong
  group: "example.dev",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ image: z.string() }),
});
`,
    says: "Property 'version' is missing in type",
  },
  {
    name: "an owner reference names another kind than the owner's",
    source: `import { ConfigMap, controllerReference } from "@pintle/controller";
import type { Site } from "./site.ts";

export const referenceTo = (site: Site) => controllerReference(site, ConfigMap); // wrong
`,
    says: "the owner is a Site, not a ConfigMap: pass Site",
  },
  {
    name: "a CEL rule names a field that the schema does not have",
    source: `import { defineResource, z } from "@pintle/controller";

export const Range = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Range",
  scope: "Namespaced",
  spec: z.object({ min: z.int32(), max: z.int32() }),
  validations: [{ rule: "self.spec.min <= self.spec.maks" }], // wrong
});
`,
    says: `'"self.spec.min <= self.spec.maks"' is not assignable to type '"Range has no field self.spec.maks"'`,
  },
];

/** A mistake with the compiler's diagnostics. */
export interface Reported {
  readonly mistake: Mistake;
  /** The wrong line. */
  readonly line: number;
  /** The diagnostics, each with its line and its text. */
  readonly diagnostics: readonly { readonly line: number; readonly text: string }[];
}

/** A message of the compiler. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Compiles all mistakes with the pinned compiler. @throws Error when a module without a mistake has a diagnostic */
export function reportedMistakes(): readonly Reported[] {
  const sources = mistakes.map(({ source }, index) => [`m${index}.ts`, source]);
  const diagnostics = diagnosticsOf({ "site.ts": siteSource, ...Object.fromEntries(sources) });
  const others = diagnostics.filter(({ file }) => !/^m\d+\.ts$/.test(file));
  if (others.length > 0) throw new Error(`Cannot compile what has no mistake: ${JSON.stringify(others)}`);
  return mistakes.map((mistake, index) => {
    const line = mistake.source.split("\n").findIndex((text) => text.endsWith("// wrong")) + 1;
    return { mistake, line, diagnostics: diagnostics.filter(({ file }) => file === `m${index}.ts`) };
  });
}

/** Compiles modules that import the package as users do, all in one run. @param sources The text of each file, by name */
export function diagnosticsOf(sources: Readonly<Record<string, string>>): readonly Diagnostic[] {
  const folder = mkdtempSync(join(root, "node_modules", ".mistakes-"));
  try {
    for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, name), text);
    return diagnosticsIn(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs the compiler over the modules of a folder. @throws Error when it does not get to its end */
function diagnosticsIn(folder: string): readonly Diagnostic[] {
  const types = join(folder, "deno.d.ts");
  writeFileSync(types, execFileSync(process.execPath, ["types"], { maxBuffer: 64 * 1024 * 1024 }));
  const paths = Object.entries(config.exports).map(([name, file]) => [join(config.name, name), [join(root, file)]]);
  const compilerOptions = {
    target: "esnext",
    lib: ["esnext", "dom", "dom.iterable", "dom.asynciterable"],
    module: "esnext",
    moduleResolution: "bundler",
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
    paths: Object.fromEntries(paths),
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = ["run", "-A", compiler, "-p", folder, "--pretty", "false"];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  const diagnostics = stdout.split(/^(?=\S+\(\d+,\d+\): )/m).flatMap((block) => {
    const [, file = "", line = "", text = ""] = /^(\S+?)\((\d+),\d+\): (.*)$/s.exec(block.trim()) ?? [];
    return file === "" ? [] : [{ file, line: Number(line), text }];
  });
  if (status === 0 || diagnostics.length > 0) return diagnostics;
  throw new Error(`Cannot compile: the compiler ended with ${status}: ${stdout}${stderr}`);
}

/** The golden file: the wrong line of each mistake, and below it what the compiler says first. */
export function mistakesText(reported: readonly Reported[]): string {
  return reported.map(({ mistake, line, diagnostics }) => {
    const source = mistake.source.split("\n")[line - 1]?.replace(/ \/\/ wrong$/, "").trim();
    return [mistake.name, `    ${source}`, ...diagnostics.map(({ text }) => text.split("\n")[0]), ""].join("\n");
  }).join("\n");
}
