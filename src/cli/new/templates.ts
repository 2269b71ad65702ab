/**
 * The sources that `new` writes: kind, desired state, controller and program. Each is text that `deno fmt` leaves as it is,
 * whatever the names: what may become long stands on a line of its own.
 */
/* MERGED new/project_texts.ts  What stands around the sources that `new` writes: sample, deno.json, .gitignore and a README with the next commands. */
/* MERGED new/test_text.ts  The test that `new` writes: the controller in a world in memory, with the sample as its object. */
import { type DependentKind, fieldsOf, indented, variableOf } from "./dependent_kinds.ts";
import type { Names } from "./new.ts";

/** What is written about. */
export interface ProjectSpec {
  readonly names: Names;
  readonly children: readonly DependentKind[];
}

/** resource.ts */
export function resourceText({ names, children }: ProjectSpec): string {
  const { kind, group } = names;
  const fields = fieldsOf(children).map(({ name, schema }) => `${name}: ${schema},`);
  return text(
    `/** ${kind}: what somebody asks for. The schema is the type, the CRD and the validation. */`,
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
    '    ready: z.boolean().default(false).describe("Whether all of it is there and works."),',
    "  }),",
    "  validations: [{",
    '    rule: "self.metadata.name.size() <= 52",',
    '    message: "names of at most 52 characters leave room for those of what it becomes",',
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
  return `${/^[AEIOU]/.test(kind) ? "An" : "A"} ${kind} is looked after by its controller.`;
}

/** desired.ts */
export function desiredText({ names, children }: ProjectSpec): string {
  const { kind, group, singular } = names;
  const needsLabels = children.some(({ body }) => body.join().includes("labelsOf"));
  return text(
    `/** What one ${kind} means. Pure functions: this is where it is decided, and nowhere else. */`,
    `import { ${sorted([...kindsOf(children), "manifest"])} } from "@pintle/controller";`,
    `import type { ${kind} } from "./resource.ts";`,
    "",
    ...children.flatMap((child) => desiredLines(child, kind)),
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

function desiredLines(child: DependentKind, kind: string): readonly string[] {
  return [
    `export function desired${child.kind}(object: ${kind}) {`,
    `  return manifest(${child.kind}, {`,
    "    metadata: metadataOf(object),",
    ...indented(child.body, 2),
    "  });",
    "}",
    "",
  ];
}

/** controller.ts */
export function controllerText({ names, children }: ProjectSpec): string {
  const { kind, constant, controller } = names;
  const checks = children.flatMap((child) => child.ready?.(variableOf(child)) ?? []);
  return text(
    `/** ${controller}: keeps what each ${kind} means, and says whether it is ready. */`,
    `import { ${sorted([...kindsOf(children), "controller", "done"])} } from "@pintle/controller";`,
    `import { ${children.map((child) => `desired${child.kind}`).join(", ")} } from "./desired.ts";`,
    `import { ${kind} } from "./resource.ts";`,
    "",
    `export const ${constant} = controller("${controller}")`,
    `  .for(${kind})`,
    ...children.map((child) => `  .owns(${child.kind})`),
    "  .reconcile(async (ctx) => {",
    "    const object = ctx.object; // readonly, from the cache; never older than what this controller wrote",
    ...indented(children.map(applyLine), 2),
    `    const ready = ${checks.length === 0 ? "true" : checks.join(" &&\n      ")};`,
    "    await ctx.patchStatus({ ready });",
    "    return done; // or requeueAfter(60_000)",
    "  });",
  );
}

/** What is wanted is said each time; only what differs is sent. */
function applyLine(child: DependentKind): string {
  const apply = `await ctx.apply(desired${child.kind}(object));`;
  return child.ready === undefined ? apply : `const ${variableOf(child)} = ${apply}`;
}

/** main.ts */
export function mainText({ names: { constant, controller } }: ProjectSpec): string {
  return text(
    "/** The whole program: run, dev, install-crds, manifests, doctor and more, out of a list of controllers. */",
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

/** Lines as a file. */
function text(...lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

/** Names in an import, in the order of `deno fmt`. */
function sorted(names: readonly string[]): string {
  const byLetters = (a: string, b: string) => a.toLowerCase() < b.toLowerCase() ? -1 : 1;
  return names.toSorted(byLetters).join(", ");
}

/** The kinds of some children. */
function kindsOf(children: readonly DependentKind[]): readonly string[] {
  return children.map(({ kind }) => kind);
}

/** sample.json: for `dev --samples`, for the test and for `kubectl apply`. */
export function sampleText({ names, children }: ProjectSpec): string {
  const spec = Object.fromEntries(fieldsOf(children).map(({ name, sample }) => [name, sample]));
  return json({
    apiVersion: `${names.group}/v1alpha1`,
    kind: names.kind,
    metadata: { name: "hello" },
    spec,
  });
}

/** deno.json. @param library The clone of this package, as seen from the folder that is written. */
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

/** README.md. @param library Where the clone of this package is. */
export function readmeText({ names, children }: ProjectSpec, library: string): string {
  const { controller, kind, group, singular } = names;
  const means = children.map((child) => child.kind).join(" and ");
  return text(
    `# ${controller}`,
    "",
    `A Kubernetes controller. One ${kind} (\`${group}\`) becomes one ${means}.`,
    "",
    "```sh",
    "deno task test       # in memory: no cluster, no waiting",
    "deno task dev        # on a Kubernetes of its own, with the sample; Ctrl-C ends it",
    `deno task compile    # writes dist/${controller}`,
    "```",
    "",
    "Without Deno on the machine: `npx -y deno` in its place. While `deno task dev` runs, it says which kubeconfig",
    `kubectl takes: \`kubectl get ${singular}\`.`,
    "",
    "- [resource.ts](resource.ts): what somebody may ask for",
    "- [desired.ts](desired.ts): what that means",
    "- [controller.ts](controller.ts): what is watched, and what is written",
    "- [main.ts](main.ts): the program",
    "",
    "On a cluster:",
    "",
    "```sh",
    `dist/${controller} install-crds                         # server-side apply, waits until served`,
    `kubectl apply -f sample.json`,
    `dist/${controller} run ${controller}`,
    "```",
    "",
    `The library is a clone of Pintle at \`${library}\`, as \`links\` in deno.json says. Its README says more.`,
  );
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** controller_test.ts */
export function testText({ names, children }: ProjectSpec): string {
  const { kind, constant, controller } = names;
  const start = [
    `  await using world = await World.start({ controllers: [${constant}] });`,
    `  await world.create(${kind}, { name, spec: sample.spec });`,
    "  await world.settled();",
  ];
  const each = (line: (kind: string) => string) => indented(kindsOf(children).map(line));
  return text(
    `/** Tests of ${controller} in memory: an API server, a cluster, and time that passes only when it is told to. */`,
    'import assert from "node:assert/strict";',
    'import test from "node:test";',
    `import { ${sorted(kindsOf(children))} } from "@pintle/controller";`,
    'import { World } from "@pintle/controller/testing";',
    `import { ${constant} } from "./controller.ts";`,
    `import { ${kind} } from "./resource.ts";`,
    'import sample from "./sample.json" with { type: "json" };',
    "",
    "const { name } = sample.metadata;",
    "const key = `default/${name}`;",
    "",
    `test("one ${kind} becomes what it means, and says that it is ready", async () => {`,
    ...start,
    ...children.map(({ kind, expected: [actual, wanted] }) =>
      `  assert.equal(${actual(`world.get(${kind}, key)`)}, sample.spec.${wanted});`
    ),
    `  assert.equal(world.get(${kind}, key).status?.ready, true);`,
    "});",
    "",
    'test("what somebody deletes comes back", async () => {',
    ...start,
    ...each((kind) => `await world.delete(${kind}, key);`),
    "  await world.settled();",
    ...each((kind) => `assert.ok(world.find(${kind}, key));`),
    "});",
    "",
    `test("a deleted ${kind} takes all of it along", async () => {`,
    ...start,
    `  await world.delete(${kind}, key);`,
    "  await world.settled();",
    ...each((kind) => `assert.equal(world.find(${kind}, key), undefined);`),
    "});",
    "",
    'test("where all is as it should be, nothing is written", async () => {',
    ...start,
    "  const { revision } = world;",
    "  await world.settled({ quietMs: 60_000 });",
    "  assert.equal(world.revision, revision);",
    "});",
  );
}
