/**
 * The files that `new` writes: kind, desired state, controller, program, test, sample, deno.json, .gitignore and README.
 *
 * Guarantees: `deno fmt` leaves the sources unchanged, whatever the names: parts that can become long have their own line.
 */
import { type DependentKind, fieldsOf, indented, variableOf } from "./dependent_kinds.ts";
import type { Names } from "./names.ts";

/** What the files are written from. */
export interface ProjectSpec {
  readonly names: Names;
  readonly dependents: readonly DependentKind[];
}

/** resource.ts */
export function resourceText({ names, dependents }: ProjectSpec): string {
  const { kind, group } = names;
  const fields = fieldsOf(dependents).map(({ name, schema }) => `${name}: ${schema},`);
  return text(
    `/** ${kind}: the kind. The schema is the TypeScript type, the CRD and the validation at the same time. */`,
    'import { defineResource, type Infer, z } from "@pintle/controller";',
    "",
    `export const ${kind} = defineResource({`,
    `  group: "${group}",`,
    '  version: "v1alpha1",',
    `  kind: "${kind}",`,
    '  scope: "Namespaced",',
    `  description: "${sentence(names)}",`,
    "  spec: z.object({",
    ...indented(fields, 2),
    "  }),",
    "  status: z.object({",
    '    ready: z.boolean().default(false).describe("True when all its objects are ready."),',
    "  }),",
    "  validations: [{",
    '    rule: "self.metadata.name.size() <= 52",',
    '    message: "must have at most 52 characters, because other names are derived from it",',
    "  }],",
    "  printerColumns: [",
    '    { name: "Ready", jsonPath: ".status.ready" },',
    '    { name: "Age", jsonPath: ".metadata.creationTimestamp" },',
    "  ],",
    "});",
    `export type ${kind} = Infer<typeof ${kind}>;`,
  );
}

function sentence({ kind }: Names): string {
  return `${/^[AEIOU]/.test(kind) ? "An" : "A"} ${kind} is reconciled by its controller.`;
}

/** desired.ts */
export function desiredText({ names, dependents }: ProjectSpec): string {
  const { kind, group, singular } = names;
  const needsLabels = dependents.some(({ body }) => body.join().includes("labelsOf"));
  return text(
    `/** The objects that a ${kind} needs: pure functions from the object to its desired state. */`,
    `import { ${sorted([...kindsOf(dependents), "manifest"])} } from "@pintle/controller";`,
    `import type { ${kind} } from "./resource.ts";`,
    "",
    ...dependents.flatMap((dependent) => desiredLines(dependent, kind)),
    `function metadataOf(object: ${kind}) {`,
    needsLabels
      ? "  return { name: nameOf(object), namespace: object.metadata.namespace, labels: labelsOf(object) };"
      : "  return { name: nameOf(object), namespace: object.metadata.namespace };",
    "}",
    "",
    ...(needsLabels
      ? [
        `function labelsOf(object: ${kind}): Readonly<Record<string, string>> {`,
        "  return {",
        `    "${group}/${singular}": nameOf(object),`,
        "  };",
        "}",
        "",
      ]
      : []),
    `function nameOf(object: ${kind}): string {`,
    '  return object.metadata.name ?? "";',
    "}",
  );
}

function desiredLines(dependent: DependentKind, kind: string): readonly string[] {
  return [
    `export function desired${dependent.kind}(object: ${kind}) {`,
    `  return manifest(${dependent.kind}, {`,
    "    metadata: metadataOf(object),",
    ...indented(dependent.body, 2),
    "  });",
    "}",
    "",
  ];
}

/** controller.ts */
export function controllerText({ names, dependents }: ProjectSpec): string {
  const { kind, constant, controller } = names;
  const checks = dependents.flatMap((dependent) => dependent.ready?.(variableOf(dependent)) ?? []);
  return text(
    `/** ${controller}: keeps the objects of each ${kind} in their desired state, and reports whether they are ready. */`,
    `import { ${sorted([...kindsOf(dependents), "controller", "done"])} } from "@pintle/controller";`,
    `import { ${dependents.map((dependent) => `desired${dependent.kind}`).join(", ")} } from "./desired.ts";`,
    `import { ${kind} } from "./resource.ts";`,
    "",
    `export const ${constant} = controller("${controller}")`,
    `  .for(${kind})`,
    ...dependents.map((dependent) => `  .owns(${dependent.kind})`),
    "  .reconcile(async (ctx) => {",
    "    const object = ctx.object; // read-only, from the cache; never older than the last write of this controller",
    ...indented(dependents.map(applyLine), 2),
    `    const ready = ${checks.length === 0 ? "true" : checks.join(" &&\n      ")};`,
    "    await ctx.patchStatus({ ready });",
    "    return done; // or requeueAfter(60_000)",
    "  });",
  );
}

/** The desired state is applied in every reconcile; a request is sent only when the live object differs. */
function applyLine(dependent: DependentKind): string {
  const apply = `await ctx.apply(desired${dependent.kind}(object));`;
  return dependent.ready === undefined ? apply : `const ${variableOf(dependent)} = ${apply}`;
}

/** main.ts */
export function mainText({ names: { constant, controller } }: ProjectSpec): string {
  return text(
    "/** The program: the commands run, dev, install-crds, manifests, doctor and others, from a list of controllers. */",
    'import process from "node:process";',
    'import { operatorCli, withSamples } from "@pintle/controller";',
    `import { ${constant} } from "./controller.ts";`,
    'import sample from "./sample.json" with { type: "json" };',
    "",
    "process.exit(",
    "  await operatorCli({",
    `    name: "${controller}",`,
    "    controllers: [",
    `      withSamples(${constant}, [sample]),`,
    "    ],",
    "  }),",
    ");",
  );
}

/** Joins lines into the text of a file. */
function text(...lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

/** Names of an import, in the order of `deno fmt`. */
function sorted(names: readonly string[]): string {
  const byLetters = (a: string, b: string) => a.toLowerCase() < b.toLowerCase() ? -1 : 1;
  return names.toSorted(byLetters).join(", ");
}

/** The names of the kinds. */
function kindsOf(dependents: readonly DependentKind[]): readonly string[] {
  return dependents.map(({ kind }) => kind);
}

/** sample.json: for `dev --samples`, for the test and for `kubectl apply`. */
export function sampleText({ names, dependents }: ProjectSpec): string {
  const spec = Object.fromEntries(fieldsOf(dependents).map(({ name, sample }) => [name, sample]));
  return json({
    apiVersion: `${names.group}/v1alpha1`,
    kind: names.kind,
    metadata: { name: "hello" },
    spec,
  });
}

/** deno.json. @param library Path of the library, from the new folder */
export function denoJsonText({ names: { controller } }: ProjectSpec, library: string, version: string): string {
  const specifier = `jsr:@pintle/controller@${version}`;
  return json({
    version: "0.1.0",
    links: [library],
    imports: {
      "@pintle/controller": specifier,
      "@pintle/controller/testing": `${specifier}/testing`,
    },
    tasks: {
      dev: `deno run -A main.ts dev ${controller} --samples`,
      test: "deno test -A --no-check",
      ok: "deno fmt --check && deno lint && deno check && deno test -A --no-check",
      compile: `sh '${library.replaceAll("'", "'\\''")}/compile.sh' --entry main.ts --outfile dist/${controller}`,
    },
    fmt: { lineWidth: 120, proseWrap: "preserve" },
    exclude: ["dist"],
  });
}

/** .gitignore */
export function gitignoreText(): string {
  return text("dist/", "node_modules/");
}

/** README.md. @param library Path of the library */
export function readmeText({ names, dependents }: ProjectSpec, library: string): string {
  const { controller, kind, group, singular } = names;
  const owned = dependents.map((dependent) => `one ${dependent.kind}`).join(" and ");
  return text(
    `# ${controller}`,
    "",
    `A Kubernetes controller. For each ${kind} (\`${group}\`) it creates ${owned}.`,
    "",
    "```sh",
    "deno task test       # in memory, without a cluster",
    "deno task dev        # on a Kubernetes API in the same process, with the sample; Ctrl-C ends it",
    `deno task compile    # writes dist/${controller}`,
    "```",
    "",
    "Without Deno on the machine, write `npx -y deno` instead of `deno`. `deno task dev` prints the kubeconfig to use with",
    `kubectl: \`kubectl get ${singular}\`.`,
    "",
    "- [resource.ts](resource.ts): the kind",
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
    "",
    `The library is the clone of Pintle at \`${library}\` (\`links\` in deno.json). See its README for more.`,
  );
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** controller_test.ts */
export function testText({ names, dependents }: ProjectSpec): string {
  const { kind, constant, controller } = names;
  const start = [
    `  await using world = await World.start({ controllers: [${constant}] });`,
    `  await world.create(${kind}, { name, spec: sample.spec });`,
    "  await world.settled();",
  ];
  const each = (line: (kind: string) => string) => indented(kindsOf(dependents).map(line));
  return text(
    `/** Tests of ${controller} in memory: an API server, a cluster, and a clock that the test advances. */`,
    'import assert from "node:assert/strict";',
    'import test from "node:test";',
    `import { ${sorted(kindsOf(dependents))} } from "@pintle/controller";`,
    'import { World } from "@pintle/controller/testing";',
    `import { ${constant} } from "./controller.ts";`,
    `import { ${kind} } from "./resource.ts";`,
    'import sample from "./sample.json" with { type: "json" };',
    "",
    "const { name } = sample.metadata;",
    "const key = `default/${name}`;",
    "",
    `test("a ${kind} gets its objects and becomes ready", async () => {`,
    ...start,
    ...dependents.map(({ kind, expected: [actual, field] }) =>
      `  assert.equal(${actual(`world.get(${kind}, key)`)}, sample.spec.${field});`
    ),
    `  assert.equal(world.get(${kind}, key).status?.ready, true);`,
    "});",
    "",
    'test("a deleted object is created again", async () => {',
    ...start,
    ...each((kind) => `await world.delete(${kind}, key);`),
    "  await world.settled();",
    ...each((kind) => `assert.ok(world.find(${kind}, key));`),
    "});",
    "",
    `test("the objects of a deleted ${kind} are deleted", async () => {`,
    ...start,
    `  await world.delete(${kind}, key);`,
    "  await world.settled();",
    ...each((kind) => `assert.equal(world.find(${kind}, key), undefined);`),
    "});",
    "",
    'test("a converged controller writes nothing", async () => {',
    ...start,
    "  const { revision } = world;",
    "  await world.settled({ quietMs: 60_000 });",
    "  assert.equal(world.revision, revision);",
    "});",
  );
}
