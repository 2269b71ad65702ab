/**
 * The npm packages, as folders: what `deno task pack` packs, and what `deno task node` runs the tests on.
 *
 * TypeScript itself writes the modules and the declarations, so both follow the same compiler that checks them. ES2022 is
 * the language of Node 22: `using` is lowered. Only the files that the entries reach are part of the package.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, normalize, relative } from "node:path";
import process from "node:process";
import config from "../deno.json" with { type: "json" };
import { withUndefined } from "./_optional_members.ts";
import { root } from "./_root.ts";

/** The names of the packages, in the order of {@link PackageFolders}. The second one depends on the first one. */
export const packageNames = [config.name, "@pintle/create"] as const;

/** Where `deno task pack` writes the packages. */
export const packagesFolder: string = join(root, "dist", "npm");

/** Node 22.18 is the first one that runs TypeScript without an option. */
export const engines = { node: ">=22.18" } as const;

/** The program of the package, besides its entries. */
const program = "./src/bin.ts";

/** The interfaces that the runtimes share with browsers. */
const dom = ["dom", "dom.iterable", "dom.asynciterable"];

/** Types that declarations refer to. Any version of Node's has what they use. */
const nodeTypes = { "@types/node": ">=22" };

/** Compiles TypeScript files of the repository into `folder`, with the same paths there. */
export function compile(files: readonly string[], folder: string, options: { readonly checks: boolean }): void {
  mkdirSync(folder, { recursive: true });
  const types = join(folder, "deno.d.ts");
  writeFileSync(types, execFileSync(process.execPath, ["types"], { maxBuffer: 64 * 1024 * 1024 }));
  const settings = join(folder, "tsconfig.json");
  const { strict, noUncheckedIndexedAccess } = config.compilerOptions;
  const compilerOptions = {
    target: "es2022",
    // What Node 22 has, and no more: a newer method of the language is an error.
    lib: options.checks
      ? ["es2024", "esnext.array", "esnext.collection", "esnext.disposable", "esnext.iterator", ...dom]
      : ["esnext", ...dom],
    module: "esnext",
    moduleResolution: "bundler",
    strict,
    noUncheckedIndexedAccess,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    resolveJsonModule: true,
    skipLibCheck: true,
    types: [],
    declaration: options.checks,
    noCheck: !options.checks,
    sourceMap: true,
    inlineSources: true,
    rootDir: root,
    outDir: folder,
    paths: Object.fromEntries(
      Object.entries(config.exports).map(([name, file]) => [join(config.name, name), [join(root, file)]]),
    ),
  };
  writeFileSync(
    settings,
    JSON.stringify({ compilerOptions, files: [types, ...files.map((file) => join(root, file))] }),
  );
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, ["run", "-A", compiler, "-p", settings], { cwd: root, stdio: "inherit" });
  for (const file of [settings, types]) rmSync(file);
}

/** The folders of the packages. */
export interface PackageFolders {
  /** Of `@pintle/controller`. */
  readonly controller: string;
  /** Of `@pintle/create`, which `npm create @pintle` runs. */
  readonly create: string;
}

/** Writes the packages into folders inside of `folder`. */
export function writePackages(folder: string): PackageFolders {
  const [built, controller, create] = [join(folder, "built"), join(folder, "controller"), join(folder, "create")];
  for (const old of [built, controller, create]) rmSync(old, { recursive: true, force: true });
  const entries = [...Object.values(config.exports), program];
  compile(entries, built, { checks: true });
  const packages = new Set<string>();
  for (const file of reachedFrom(entries, built, packages)) {
    const target = join(controller, "lib", relative("src", file));
    mkdirSync(dirname(target), { recursive: true });
    if (file.endsWith(".d.ts")) writeFileSync(target, declarationOf(file, built));
    else {
      cpSync(join(built, file), target);
      const map = JSON.parse(readFileSync(join(built, `${file}.map`), "utf8"));
      writeFileSync(`${target}.map`, JSON.stringify({ ...map, sources: [basename(file).replace(/\.js$/, ".ts")] }));
    }
  }
  rmSync(built, { recursive: true });
  writePackage(controller, packageJson(packages), readFileSync(join(root, "README.md"), "utf8"));
  writePackage(create, createJson(), createReadme);
  writeFileSync(join(create, "bin.js"), createProgram, { mode: 0o755 });
  return { controller, create };
}

function writePackage(folder: string, description: object, readme: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(description, undefined, 2)}\n`);
  writeFileSync(join(folder, "README.md"), readme);
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
}

/**
 * The compiled modules that `entries` import, and the declarations of each, relative to `built`.
 *
 * @param packages Receives the names of the packages that they import.
 */
function reachedFrom(entries: readonly string[], built: string, packages: Set<string>): readonly string[] {
  const files = new Set<string>();
  const open = entries.map((file) => normalize(file).replace(/\.ts$/, ""));
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (files.has(`${name}.js`)) continue;
    files.add(`${name}.js`).add(`${name}.d.ts`);
    for (const end of [".js", ".d.ts"]) {
      for (const specifier of importsOf(readFileSync(join(built, name + end), "utf8"))) {
        if (specifier.startsWith(".")) open.push(join(dirname(name), specifier).replace(/\.[jt]s$/, ""));
        else if (!/^(node|bun):/.test(specifier)) packages.add(packageOf(specifier));
      }
    }
  }
  return [...files];
}

/** The specifiers of imports and exports, without those of examples in comments. */
function importsOf(text: string): readonly string[] {
  const code = text.replaceAll(/^\s*(\*|\/\*\*|\/\/).*$/gm, "");
  return [...code.matchAll(/^(?:import|export|\}).*? from "([^"]+)";$|^import "([^"]+)";$|\bimport\("([^"]+)"\)/gm)]
    .map(([, from, bare, called]) => from ?? bare ?? called ?? "");
}

/** `@a/b` of `@a/b/c`. */
function packageOf(specifier: string): string {
  return specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

/** A declaration as the package has it: the compiler of a user checks it, too. */
function declarationOf(file: string, built: string): string {
  const source = readFileSync(join(root, file.replace(/\.d\.ts$/, ".ts")), "utf8");
  const text = withUndefined(withJsSpecifiers(readFileSync(join(built, file), "utf8")));
  // TypeScript drops the directives of the sources.
  const directives = source.matchAll(/^(\/\/ @ts-expect-error .*\n)(export interface \w+)/gm);
  return [...directives].reduce((kept, [, directive, line = ""]) => kept.replace(line, `${directive}${line}`), text);
}

/** Declarations keep the specifiers of the sources; the package has no such files. */
function withJsSpecifiers(text: string): string {
  return text.replaceAll(/^(?!\s*\*)(.*(?:from |import\()"\.{1,2}\/[^"]*)\.ts"/gm, '$1.js"');
}

function packageJson(packages: ReadonlySet<string>): object {
  const { name, version, license } = config;
  const paths = Object.entries(config.exports).map(([entry, file]) => {
    const path = `./lib/${relative("src", normalize(file)).replace(/\.ts$/, "")}`;
    return [entry, { types: `${path}.d.ts`, default: `${path}.js` }] as const;
  });
  const versions: ReadonlyMap<string, string> = new Map(Object.entries(config.imports));
  const range = (used: string) => `^${versions.get(used)?.split("@").at(-1)}`;
  return {
    name,
    version,
    description: "Kubernetes controllers in TypeScript: reconcilers, schemas, webhooks, tests in memory",
    license,
    type: "module",
    engines,
    bin: { controller: "./lib/bin.js" },
    exports: { ...Object.fromEntries(paths), "./bin": "./lib/bin.js", "./package.json": "./package.json" },
    files: ["lib"],
    sideEffects: false,
    dependencies: {
      ...Object.fromEntries([...packages].sort().map((used) => [used, range(used)])),
      ...nodeTypes,
    },
  };
}

function createJson(): object {
  const { name, version, license } = config;
  return {
    name: packageNames[1],
    version,
    description: "npm create @pintle: writes the first files of a Kubernetes controller in TypeScript",
    license,
    type: "module",
    engines,
    bin: { create: "./bin.js" },
    files: ["bin.js"],
    dependencies: { [name]: version },
  };
}

const createProgram = `#!/usr/bin/env node
// npm create @pintle NAME is controller new NAME.
import process from "node:process";

process.argv.splice(2, 0, "new");
await import("@pintle/controller/bin");
`;

const createReadme = `# @pintle/create

Writes the first files of a Kubernetes controller in TypeScript. See \`@pintle/controller\`.

\`\`\`sh
npm create @pintle website
\`\`\`
`;
