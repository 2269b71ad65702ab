/**
 * The architecture as rules on the syntax tree: which folder may import which, where Deno or Date.now may be used, and how
 * a file begins. docs/ARCHITECTURE.md explains the table below.
 *
 * A Deno lint plugin, so that Deno's own parser reads the files (type-only and dynamic imports included). It runs over
 * all of src in layers_test.ts; with an entry under "lint.plugins" in deno.json it also works in editors.
 */
import { dirname, join, normalize, relative } from "node:path";

/** One folder of src. */
interface Layer {
  readonly rank: number;
  /** Folders it may import; "lower" is every folder of a lower rank. */
  readonly imports: "lower" | readonly string[];
  /** Lower folders it may not import all the same. */
  readonly except?: readonly string[];
}

/** The folders of src, from the ground up. */
export const layers: Readonly<Record<string, Layer>> = {
  runtime: { rank: 0, imports: [] },
  async: { rank: 0, imports: [] },
  observe: { rank: 0, imports: [] },
  api: { rank: 0, imports: [] },
  yaml: { rank: 0, imports: [] },
  page: { rank: 0, imports: [] },
  cel: { rank: 1, imports: ["api"] },
  schema: { rank: 1, imports: ["api", "cel", "yaml"] },
  client: { rank: 1, imports: ["api", "async", "observe", "runtime", "yaml"] },
  cache: { rank: 1, imports: ["api", "async", "observe"] },
  queue: { rank: 1, imports: ["async", "observe"] },
  explain: { rank: 1, imports: ["observe"] },
  controller: { rank: 2, imports: "lower" },
  webhook: { rank: 2, imports: "lower" },
  apiserver: { rank: 2, imports: "lower" },
  manager: { rank: 3, imports: "lower", except: ["apiserver"] },
  fleet: { rank: 4, imports: "lower", except: ["apiserver"] },
  cluster: { rank: 4, imports: "lower" },
  graph: { rank: 4, imports: ["api", "cel", "yaml", "schema", "controller", "apiserver", "manager"] },
  simulation: { rank: 5, imports: "lower" },
  arbitrary: { rank: 5, imports: "lower" },
  cli: { rank: 6, imports: "lower" },
  "mod.ts": { rank: 7, imports: "lower" },
  "kinds.ts": { rank: 7, imports: "lower" },
  "client.ts": { rank: 7, imports: "lower" },
  "cache.ts": { rank: 7, imports: "lower" },
  "webhook.ts": { rank: 7, imports: "lower" },
  "schema.ts": { rank: 7, imports: "lower" },
  "testing.ts": { rank: 7, imports: "lower" },
  "bin.ts": { rank: 7, imports: "lower" },
  controllers: { rank: 8, imports: ["mod.ts", "kinds.ts", "client.ts", "cache.ts", "webhook.ts", "schema.ts"] },
};

/**
 * The order of the folders inside of a folder of src, lowest first. A folder may import those before it, through their
 * mod.ts; "." stands for the files beside them, which come last where the list does not name them.
 */
export const innerFolders: Readonly<Record<string, readonly string[]>> = {
  runtime: ["process", "http"],
  "runtime/http": ["h2"],
  observe: ["redaction", "recording"],
  api: [".", "generated"],
  client: ["kubeconfig", "credentials"],
  cluster: ["control_plane"],
  simulation: [".", "foreign"],
  manager: ["access", "fence", "election", "sharding", "health", "debug"],
  apiserver: [
    "model",
    "storage",
    "patch",
    "registry",
    "kinds",
    "protobuf",
    "devices",
    "admission",
    "plugins",
    "sockets",
    "forward",
    "actions",
    "access",
    "crd",
    "http",
    "discovery",
    "openapi",
    "type_checks",
    "aggregation",
    "bootstrap",
  ],
  "apiserver/kinds": [
    "types",
    "rules",
    "pods",
    "core",
    "apps",
    "batch",
    "autoscaling",
    "networking",
    "policy",
    "rbac",
    "certificates",
    "storage",
    "admissionregistration",
    "resource",
    "other_groups",
  ],
  cel: ["model", "language", "schema", "rules", "admission"],
  "apiserver/crd": ["schema", "definition", "objects"],
  cli: [
    "flags",
    "output",
    "configuration",
    "command",
    "documents",
    "graphs",
    "connection",
    "clusters",
    "crds",
    "tracing",
    "recording",
    "debug",
    "convergence",
    "planning",
    "run",
    "run_graph",
    "plan",
    "manifests",
    "uninstall",
    "doctor",
    "why",
    "pause",
    "config",
    "top",
    "replay",
    "page",
    "dev",
    "compile",
    "image",
    "envtest",
    "conformance",
    "new",
    "simulate",
    "completions",
  ],
};

/** Tests, and the folders of what only tests use. They are not shipped, so they may import sideways. */
const testFile = /_test\.ts$|\/testing\//;

/** What test files inside src may import from tests/. */
const testSupport =
  /^tests\/(testing\.ts|loopback\.ts|until\.ts|free_port\.ts|fakes\/.+|controlplane\/certificate_authority\.ts)$/;

/** A file with more lines than this is more than one thing. */
const maxFileLines = 500;

const runtimeNames: ReadonlySet<string> = new Set(["Deno", "Bun", "process"]);
const runtimeModules: ReadonlySet<string> = new Set(["process", "node:process", "bun"]);
const timers: ReadonlySet<string> = new Set(["setTimeout", "setInterval", "setImmediate"]);
const clocks: ReadonlySet<string> = new Set([
  "Date.now",
  "performance.now",
  "Math.random",
  "AbortSignal.timeout",
]);

/**
 * The files that may write to a terminal: LineWriter, the streams below it, and the protocol of worker processes. All other
 * text passes LineWriter, which escapes it.
 */
const rawWriters: ReadonlySet<string> = new Set([
  "src/observe/line_writer.ts",
  "src/observe/screen_writer.ts",
  "src/runtime/process/standard_streams.ts",
  "src/runtime/process/worker_process.ts",
]);
/** The file whose expressions look for terminal sequences. */
const safeText = "src/observe/safe_text.ts";
/** The files that hand the streams of the process to a LineWriter. */
const streamOwners: ReadonlySet<string> = new Set([
  "src/apiserver/api_server.ts",
  "src/cli/command/operator.ts",
  "src/runtime/mod.ts",
  "src/runtime/process/mod.ts",
]);
const streamNames: ReadonlySet<string> = new Set(["standardOutput", "standardError"]);
const outputNames: ReadonlySet<string> = new Set(["stdout", "stderr", "output", "terminal", ...streamNames]);

const root = dirname(import.meta.dirname ?? ".");

/** The folder that reads recordings as OpenTelemetry spans. */
const tracing = "src/cli/tracing/";

/** The path relative to the repository: `src/cache/store.ts` is in the layer cache. */
function pathOf(filename: string): string {
  return relative(root, filename);
}

function layerOf(path: string): string {
  return path.split("/")[1] ?? "";
}

/**
 * Says why `path` may not import `specifier`.
 *
 * @param path The importing file, relative to the repository.
 * @returns undefined when it may.
 */
export function importRefusal(path: string, specifier: string): string | undefined {
  if (/^(npm|jsr|https?):/.test(specifier)) return `Cannot import ${specifier}: versions stand in deno.json alone`;
  if (specifier.startsWith("@opentelemetry/") && !path.startsWith(tracing)) {
    return `Cannot import ${specifier}: only ${tracing} knows OpenTelemetry, and loads it when traces are sent`;
  }
  if (!specifier.startsWith(".")) {
    if (!runtimeModules.has(specifier) || layerOf(path) === "runtime") return undefined;
    return `Cannot import ${specifier}: only src/runtime knows the runtime`;
  }
  const target = normalize(join(dirname(path), specifier));
  if (!target.startsWith("src/")) {
    return testFile.test(path) && testSupport.test(target) ? undefined : `Cannot import ${target}: it is not in src`;
  }
  if (/\/testing\//.test(target) && !testFile.test(path)) {
    return `Cannot import ${target}: product code does not know what only tests use`;
  }
  const file = target.slice(target.lastIndexOf("/") + 1);
  if (file.startsWith("_") && dirname(target) !== homeOf(path)) {
    return `Cannot import ${target}: a file that begins with _ is private to its folder`;
  }
  if (sameFolder(path, target)) return layerOf(path) === "controllers" ? undefined : innerRefusal(path, target);
  return layerRefusal(path, target);
}

/** The folder whose private files a file may import: its own, and for `x/testing/` that is x. */
function homeOf(path: string): string {
  return dirname(path).replace(/\/testing$/, "");
}

/** Says why a file may not import another one of the same layer: inner folders have an order, and one entry. */
function innerRefusal(path: string, target: string): string | undefined {
  const from = dirname(path).split("/"), to = dirname(target).split("/");
  const shared = from.findIndex((name, index) => name !== to[index]);
  const depth = shared === -1 ? from.length : shared;
  const [importer, imported] = [from[depth] ?? ".", to[depth] ?? "."];
  if (importer === imported || importer === "testing" || imported === "testing" || imported === "generated") {
    return undefined;
  }
  const parent = to.slice(0, depth).join("/");
  if (imported !== "." && target !== `${parent}/${imported}/mod.ts` && !testFile.test(path)) {
    return `Cannot import ${target}: use ${parent}/${imported}/mod.ts`;
  }
  const order = innerFolders[parent.replace(/^src\//, "")];
  if (order === undefined) {
    return `Cannot import ${target}: the order of the folders in ${parent} is not in innerFolders`;
  }
  // The entry of a folder comes after everything in it.
  const isEntry = (name: string) => name === "." && (!order.includes(".") || path === `${parent}/mod.ts`);
  const rankOf = (name: string) => (isEntry(name) ? order.length : order.indexOf(name));
  if (rankOf(importer) === -1 || rankOf(imported) === -1) {
    return `Cannot import ${target}: ${
      rankOf(importer) === -1 ? importer : imported
    } is not in innerFolders of ${parent}`;
  }
  const isLower = rankOf(imported) < rankOf(importer) || testFile.test(path);
  return isLower ? undefined : `Cannot import ${target}: ${importer} comes before ${imported} in ${parent}`;
}

function layerRefusal(path: string, target: string): string | undefined {
  const [from, to] = [layerOf(path), layerOf(target)];
  if (from === "controllers" && to === "controllers") return controllerRefusal(path, target);
  const [importer, imported] = [layers[from], layers[to]];
  if (importer === undefined || imported === undefined) {
    return `Cannot import ${target}: ${importer === undefined ? from : to} is not a layer`;
  }
  const isLower = imported.rank < importer.rank && importer.except?.includes(to) !== true;
  const isNear = testFile.test(path) && imported.rank <= importer.rank;
  if (isNear && target.startsWith(`src/${to}/testing/`)) return undefined;
  const allowed = isNear || (importer.imports === "lower" ? isLower : importer.imports.includes(to));
  if (!allowed) {
    return `Cannot import ${target}: ${from} (rank ${importer.rank}) may not know ${to} (rank ${imported.rank})`;
  }
  if (!to.endsWith(".ts") && target !== `src/${to}/mod.ts`) return `Cannot import ${target}: use src/${to}/mod.ts`;
  return undefined;
}

/** Controllers do not import each other; only a list of all of them, directly in the folder, imports their mod.ts. */
function controllerRefusal(path: string, target: string): string | undefined {
  const isList = path.split("/").length === 3;
  return isList && /^src\/controllers\/[^/]+\/mod\.ts$/.test(target)
    ? undefined
    : `Cannot import ${target}: controllers do not know each other`;
}

function sameFolder(path: string, target: string): boolean {
  const [from, to] = [path.split("/"), target.split("/")];
  if (from[1] !== to[1]) return false;
  return from[1] !== "controllers" || (from[2] === to[2] && from.length > 3);
}

type Context = Deno.lint.RuleContext;

/** True for a name that means the global, not a property or a key of that name. */
function isFree(node: Deno.lint.Identifier): boolean {
  const { parent } = node;
  if (parent.type === "MemberExpression") {
    const { object } = parent;
    return object === node || parent.computed || (object.type === "Identifier" && object.name === "globalThis");
  }
  if (parent.type === "Property") return parent.value === node;
  if (parent.type === "TSQualifiedName") return parent.left === node;
  return !["MethodDefinition", "PropertyDefinition", "TSPropertySignature", "TSMethodSignature", "ImportSpecifier"]
    .includes(parent.type);
}

function inLayers(context: Context, ...names: readonly string[]): boolean {
  const path = pathOf(context.filename);
  return !path.startsWith("src/") || names.includes(layerOf(path));
}

function importsRule(context: Context): Deno.lint.LintVisitor {
  const path = pathOf(context.filename);
  if (!path.startsWith("src/")) return {};
  const check = (node: Deno.lint.Node, specifier: unknown) => {
    const message = typeof specifier === "string"
      ? importRefusal(path, specifier)
      : "Cannot check an import whose specifier is no literal";
    if (message !== undefined) context.report({ node, message });
  };
  return {
    ImportDeclaration: (node) => check(node, node.source.value),
    ExportNamedDeclaration: (node) => {
      if (node.source) check(node, node.source.value);
    },
    ExportAllDeclaration: (node) => check(node, node.source.value),
    ImportExpression: (node) => check(node, node.source.type === "Literal" ? node.source.value : undefined),
    TSImportType: (node) => check(node, "literal" in node.argument ? literalOf(node.argument.literal) : undefined),
    TSExternalModuleReference: (node) => check(node, literalOf(node.expression)),
  };
}

function literalOf(node: object): unknown {
  return "value" in node ? node.value : undefined;
}

function runtimeRule(context: Context): Deno.lint.LintVisitor {
  if (inLayers(context, "runtime")) return {};
  const used: Deno.lint.Identifier[] = [];
  const declared = new Set<string>();
  return {
    Identifier(node) {
      if (!runtimeNames.has(node.name)) return;
      if (isDeclaration(node)) declared.add(node.name);
      else if (isFree(node)) used.push(node);
    },
    // A file that has a variable of the name means that one.
    "Program:exit"() {
      for (const node of used.filter(({ name }) => !declared.has(name))) {
        context.report({ node, message: `Cannot say ${node.name} here: only src/runtime knows the runtime` });
      }
    },
  };
}

function isDeclaration(node: Deno.lint.Identifier): boolean {
  const { parent } = node;
  if (parent.type === "VariableDeclarator") return parent.id === node;
  if (parent.type === "Property") return parent.parent.type === "ObjectPattern";
  return ["ImportDefaultSpecifier", "ImportSpecifier", "FunctionDeclaration", "ArrowFunctionExpression"]
    .includes(parent.type);
}

function timeRule(context: Context): Deno.lint.LintVisitor {
  if (inLayers(context, "async", "runtime")) return {};
  const refuse = (node: Deno.lint.Node, what: string) =>
    context.report({ node, message: `Cannot say ${what} here: time and chance are parameters (src/async)` });
  return {
    Identifier(node) {
      if (timers.has(node.name) && isFree(node)) refuse(node, node.name);
    },
    MemberExpression(node) {
      if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return;
      const name = `${node.object.name}.${node.property.name}`;
      if (clocks.has(name)) refuse(node, name);
    },
    NewExpression(node) {
      const isDate = node.callee.type === "Identifier" && node.callee.name === "Date";
      if (isDate && node.arguments.length === 0) refuse(node, "new Date()");
    },
  };
}

/** Text reaches a terminal, a pipe or a log through LineWriter only. */
function outputsRule(context: Context): Deno.lint.LintVisitor {
  const path = pathOf(context.filename);
  if (!path.startsWith("src/") || testFile.test(path) || rawWriters.has(path)) return {};
  const refuse = (node: Deno.lint.Node, what: string) =>
    context.report({ node, message: `Cannot ${what} here: LineWriter writes, and escapes what it writes` });
  const checkText = (node: Deno.lint.Literal | Deno.lint.TemplateElement) => {
    const isSequence = /\\(?:u001b|u\{1b\}|x1b|033|u009b|x9b)/i.test(node.raw) && path !== safeText;
    if (isSequence) refuse(node, "say a terminal sequence");
  };
  return {
    Identifier(node) {
      if (node.name === "console" && isFree(node)) refuse(node, "say console");
    },
    // A use needs the import.
    ImportSpecifier(node) {
      const name = node.imported.type === "Identifier" ? node.imported.name : node.imported.value;
      if (streamNames.has(String(name)) && !streamOwners.has(path)) refuse(node, `say ${name}`);
    },
    MemberExpression({ object, property }) {
      if (property.type !== "Identifier") return;
      const isProcess = object.type === "Identifier" && runtimeNames.has(object.name);
      if (isProcess && (property.name === "stdout" || property.name === "stderr")) refuse(property, "say its streams");
      const owner = object.type === "MemberExpression" ? object.property : object;
      const isOutput = owner.type === "Identifier" && outputNames.has(owner.name);
      if (isOutput && property.name === "write" && path !== "src/cli/command/operator.ts") refuse(property, "write");
    },
    Literal: checkText,
    TemplateElement: checkText,
  };
}

function fileRule(context: Context): Deno.lint.LintVisitor {
  const path = pathOf(context.filename);
  if (!path.startsWith("src/")) return {};
  return {
    Program(node) {
      const text = context.sourceCode.text;
      const lines = text.split("\n").length - 1;
      // A generated file is a table of any length.
      if (lines > maxFileLines && !/^\/\*\* .*Do not edit\. \*\/$/m.test(text.slice(0, 400))) {
        context.report({ node, message: `Cannot grow past ${maxFileLines} lines: it has ${lines}` });
      }
      if (!/^(#!.*\n)?\/\*\*/.test(text) && !path.endsWith("_test.ts")) {
        context.report({ node, message: "Cannot tell what this file is for: it has no header comment" });
      }
    },
    ExportAllDeclaration(node) {
      if (path === "src/mod.ts") context.report({ node, message: "Cannot export *: the public surface is named" });
    },
  };
}

/** The rules, for `deno lint` and for layers_test.ts. */
const plugin: Deno.lint.Plugin = {
  name: "layers",
  rules: {
    imports: { create: importsRule },
    runtime: { create: runtimeRule },
    time: { create: timeRule },
    outputs: { create: outputsRule },
    file: { create: fileRule },
  },
};
export default plugin;
