/**
 * The files of a new project that depend on its runtime: package.json and tsconfig.json, or deno.json, and the README with
 * the words of that runtime. All three can test, run, simulate and compile the project.
 */
import { bunVersion } from "../compile/mod.ts";
import { isBuiltinKind } from "./names.ts";
import { json, type ProjectSpec, text } from "./templates.ts";

/** The runtimes that a project can be written for. */
export const runtimes = ["node", "deno", "bun"] as const;
export type Runtime = typeof runtimes[number];

/** Where the library comes from. */
export interface LibrarySpec {
  readonly version: string;
  /** The path of a clone, from the new folder; undefined for the package. */
  readonly clone: string | undefined;
}

/** What a user types, by what it does. */
interface Words {
  readonly install: string | undefined;
  readonly test: string;
  readonly dev: string;
  readonly simulate: string;
  readonly compile: string;
  readonly image: string;
  readonly add: string;
}

const wordsOf: Readonly<Record<Runtime, Words>> = {
  node: {
    install: "npm install",
    test: "npm test",
    dev: "npm run dev",
    simulate: "npm run simulate",
    compile: "npm run compile",
    image: "npm run image",
    add: "npm install croner",
  },
  deno: {
    install: undefined,
    test: "deno task test",
    dev: "deno task dev",
    simulate: "deno task simulate",
    compile: "deno task compile",
    image: "deno task image",
    add: "deno add npm:croner",
  },
  bun: {
    install: "bun install",
    test: "bun run test",
    dev: "bun run dev",
    simulate: "bun run simulate",
    compile: "bun run compile",
    image: "bun run image",
    add: "bun add croner",
  },
};

/** The first commands in a new project, joined by `&&`. */
export function firstCommands(runtime: Runtime): string {
  const { install, test, dev } = wordsOf[runtime];
  return [...(install === undefined ? [] : [install]), test, dev].join(" && ");
}

/** Takes seconds; without these flags `simulate` tests every single fault and a hundred storms. */
const someFaults = "--points 40 --seeds 5";

/** The files that describe the project to its runtime. */
export function runtimeFiles(project: ProjectSpec, library: LibrarySpec, runtime: Runtime) {
  return runtime === "deno"
    ? [{ name: "deno.json", text: denoJsonText(project, library) }]
    : [{ name: "package.json", text: packageJsonText(project, library, runtime) }, {
      name: "tsconfig.json",
      text: tsconfigText(),
    }];
}

function packageJsonText(
  { names: { controller } }: ProjectSpec,
  library: LibrarySpec,
  runtime: "node" | "bun",
): string {
  const { version, clone } = library;
  const run = runtime === "node" ? "node" : "bun";
  const program = runtime === "node" ? "controller" : "bun --bun node_modules/@pintle/controller/lib/bin.js";
  return json({
    name: controller,
    version: "0.1.0",
    private: true,
    type: "module",
    ...(runtime === "node" ? { engines: { node: ">=22.18" } } : {}),
    scripts: {
      check: "tsc",
      // Bun ends a test after 5 s otherwise, which a World may need on a small machine.
      test: runtime === "node" ? "node --test" : "bun test --timeout 60000",
      dev: `${run} main.ts dev ${controller} --samples`,
      simulate: `${run} main.ts simulate ${controller} ${someFaults}`,
      compile: `${program} compile`,
      image: `${program} image`,
    },
    dependencies: { "@pintle/controller": clone === undefined ? `^${version}` : `file:${clone}/dist/npm/controller` },
    devDependencies: {
      "@types/node": "^22.0.0",
      ...(runtime === "node" ? { bun: bunVersion } : {}),
      typescript: "^7.0.2",
    },
  });
}

/** For editors and `check`. The runtimes run the sources as they are. */
export function tsconfigText(): string {
  return json({
    compilerOptions: {
      target: "es2024",
      lib: ["es2024", "esnext.disposable"],
      module: "nodenext",
      types: ["node"],
      strict: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true,
    },
    exclude: ["dist"],
  });
}

function denoJsonText(
  { names: { controller }, versions, hasWebhooks }: ProjectSpec,
  { version, clone }: LibrarySpec,
): string {
  const fromClone = `jsr:@pintle/controller@${version}`;
  return json({
    version: "0.1.0",
    ...(clone === undefined ? {} : { links: [clone] }),
    nodeModulesDir: "auto",
    imports: clone === undefined
      ? { "@pintle/controller": `npm:@pintle/controller@^${version}`, bun: `npm:bun@${bunVersion}` }
      : {
        "@pintle/controller": fromClone,
        "@pintle/controller/testing": `${fromClone}/testing`,
        ...(versions.length > 1 || hasWebhooks ? { "@pintle/controller/webhook": `${fromClone}/webhook` } : {}),
      },
    tasks: {
      dev: `deno run -A main.ts dev ${controller} --samples`,
      test: "deno test -A --no-check",
      simulate: `deno run -A main.ts simulate ${controller} ${someFaults}`,
      ok: "deno fmt --check && deno lint && deno check && deno test -A --no-check",
      compile: clone === undefined
        ? `deno run -A npm:@pintle/controller@^${version} compile --outfile dist/${controller}`
        : `sh '${clone.replaceAll("'", "'\\''")}/compile.sh' --entry main.ts --outfile dist/${controller}`,
      // A clone is not a package that Bun would find.
      ...(clone === undefined
        ? { image: `deno run -A npm:@pintle/controller@^${version} image --image ${controller}` }
        : {}),
    },
    fmt: { lineWidth: 120, proseWrap: "preserve" },
    exclude: ["dist"],
  });
}

/** .gitignore */
export function gitignoreText(): string {
  return text("dist/", "node_modules/");
}

/** README.md */
export function readmeText(project: ProjectSpec, library: LibrarySpec, runtime: Runtime): string {
  const { names, dependents, versions, hasWebhooks } = project;
  const { controller, kind, group, singular } = names;
  const owned = dependents.map((dependent) => `one ${dependent.kind}`).join(" and ");
  const words = wordsOf[runtime];
  const line = (command: string, about: string) => `${command.padEnd(24)} # ${about}`;
  return text(
    `# ${controller}`,
    "",
    `A Kubernetes controller. For each ${kind} (\`${group}\`) it creates ${owned}.`,
    "",
    "```sh",
    ...(words.install === undefined ? [] : [words.install]),
    line(words.test, "in memory, without a cluster"),
    line(words.dev, "on a Kubernetes API in the same process, with the sample; Ctrl-C ends it"),
    line(words.simulate, "under crashes, old caches and lost responses, in memory"),
    line(words.compile, `writes dist/${controller}, one binary, with Bun`),
    ...(runtime === "deno" && library.clone !== undefined
      ? []
      : [line(words.image, `writes dist/${controller}.image.tar, a container image`)]),
    line(words.add, "an example of a further package"),
    "```",
    "",
    `The second command prints the kubeconfig to use with kubectl: \`kubectl get ${
      isBuiltinKind(kind) ? `${singular}.${group}` : singular
    }\`.`,
    ...(runtime === "node" ? ["Node runs the TypeScript as it is. Node 22 does not know `using`; Node 24 does."] : []),
    "",
    "- [resource.ts](resource.ts): the kind",
    ...(versions.length > 1
      ? [
        `- ${
          versions.slice(0, -1).map((version) => `[resource_${version}.ts](resource_${version}.ts)`).join(", ")
        }: its older versions`,
        "- [conversion.ts](conversion.ts): how its versions are converted",
      ]
      : []),
    ...(hasWebhooks ? ["- [webhooks.ts](webhooks.ts): its defaults and validation beyond the schema"] : []),
    "- [desired.ts](desired.ts): the objects that it needs",
    "- [controller.ts](controller.ts): what the controller watches and writes",
    "- [main.ts](main.ts): the program",
    "",
    "On a cluster:",
    "",
    "```sh",
    `dist/${controller} install-crds                         # waits until the server serves the kind`,
    `kubectl apply -f sample.json`,
    `dist/${controller} run ${controller}`,
    "```",
    ...(library.clone === undefined ? [] : ["", `The library is the clone of Pintle at \`${library.clone}\`.`]),
  );
}
