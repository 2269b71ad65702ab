/**
 * The files that `new` writes: kind, desired state, controller, program, test and sample. They are the
 * same for all runtimes; runtime_files.ts has the others.
 *
 * Guarantees: `deno fmt` leaves the sources unchanged, whatever the names: parts that can become long have their own line.
 */
import { type DependentKind, fieldsOf, indented, variableOf } from "./dependent_kinds.ts";
import type { Names } from "./names.ts";

/** What the files are written from. */
export interface ProjectSpec {
  readonly names: Names;
  readonly dependents: readonly DependentKind[];
  /** The versions of the kind, oldest first. The controller works with the last one. */
  readonly versions: readonly string[];
}

/** The version that the controller works with, and that is stored. */
function hubOf({ versions }: ProjectSpec): string {
  return versions.at(-1) ?? "";
}

/** resource.ts, or `resource_v1.ts` of an older version. */
export function resourceText(project: ProjectSpec, version = hubOf(project)): string {
  const { names, dependents } = project;
  const { kind, group } = names;
  const isHub = version === hubOf(project);
  const constant = isHub ? kind : olderKind(kind, version);
  const fields = fieldsOf(dependents).map(({ name, schema }) => `${name}: ${schema},`);
  return text(
    `/** ${constant}: the kind. The schema is the TypeScript type, the CRD and the validation at the same time. */`,
    `import { defineResource,${isHub ? " type Infer," : ""} z } from "@pintle/controller";`,
    "",
    `export const ${constant} = defineResource({`,
    `  group: "${group}",`,
    `  version: "${version}",`,
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
    ...(isHub ? [`export type ${kind} = Infer<typeof ${kind}>;`] : []),
  );
}

/** `WebsiteV1`. */
function olderKind(kind: string, version: string): string {
  return `${kind}${version.slice(0, 1).toUpperCase()}${version.slice(1)}`;
}

/** `websiteConversion`. */
function conversionName({ constant }: Names): string {
  return constant.replace(/Controller$/, "Conversion");
}

/** The older versions, with the names of their resources. */
function olderVersions({ names, versions }: ProjectSpec) {
  return versions.slice(0, -1).map((version) => ({ version, constant: olderKind(names.kind, version) }));
}

/** conversion.ts */
export function conversionText(project: ProjectSpec): string {
  const { names } = project;
  const { kind } = names;
  const older = olderVersions(project);
  return text(
    `/**`,
    ` * Converts between the versions of ${kind}. All others convert to ${
      hubOf(project)
    } and from it. Change the functions when`,
    ` * the versions differ, and keep in an annotation what another version does not have: nothing may be lost on the way there`,
    ` * and back. conversion_test.ts tests that with random objects.`,
    ` */`,
    'import { convertible, converting } from "@pintle/controller/webhook";',
    `import { ${kind} } from "./resource.ts";`,
    ...older.map(({ version, constant }) => `import { ${constant} } from "./resource_${version}.ts";`),
    "",
    `export const ${conversionName(names)} = converting(${kind}, [`,
    ...older.flatMap(({ constant }) => [
      `  convertible(${constant}, {`,
      "    toHub: ({ spec, ...rest }) => ({ ...rest, spec: { ...spec } }),",
      "    fromHub: ({ spec, ...rest }) => ({ ...rest, spec: { ...spec } }),",
      "  }),",
    ]),
    "]);",
  );
}

/** conversion_test.ts */
export function conversionTestText(project: ProjectSpec): string {
  const { names } = project;
  const { kind, constant } = names;
  const older = olderVersions(project);
  return text(
    `/** Tests of the conversion: random objects in memory, and an object that a user writes in an older version. */`,
    'import assert from "node:assert/strict";',
    'import test from "node:test";',
    'import { assertRoundTrips, World } from "@pintle/controller/testing";',
    `import { ${constant} } from "./controller.ts";`,
    `import { ${conversionName(names)} } from "./conversion.ts";`,
    `import { ${kind} } from "./resource.ts";`,
    ...older.map(({ version, constant }) => `import { ${constant} } from "./resource_${version}.ts";`),
    'import sample from "./sample.json" with { type: "json" };',
    "",
    "const { apiVersion, metadata: { name } } = sample;",
    "const key = `default/${name}`;",
    "",
    'test("nothing is lost from each version to each other one and back", () => {',
    `  assertRoundTrips(${conversionName(names)});`,
    "});",
    ...older.flatMap(({ version, constant: resource }) => [
      "",
      `test("an object of ${version} is reconciled, and both versions show it", async () => {`,
      `  const world = await World.start({ controllers: [${constant}] });`,
      "  try {",
      `    await world.create(${resource}, { name, spec: sample.spec });`,
      "    await world.settled();",
      `    assert.equal(world.get(${kind}, key).apiVersion, apiVersion);`,
      `    assert.equal(world.get(${resource}, key).status?.ready, true);`,
      "  } finally {",
      "    await world[Symbol.asyncDispose]();",
      "  }",
      "});",
    ]),
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
export function controllerText({ names, dependents, versions }: ProjectSpec): string {
  const { kind, constant, controller } = names;
  const isConverted = versions.length > 1;
  const checks = dependents.flatMap((dependent) => dependent.ready?.(variableOf(dependent)) ?? []);
  return text(
    `/** ${controller}: keeps the objects of each ${kind} in their desired state, and reports whether they are ready. */`,
    ...importLines([...kindsOf(dependents), "controller", "done", ...(isConverted ? ["withWebhooks"] : [])]),
    ...(isConverted ? [`import { ${conversionName(names)} } from "./conversion.ts";`] : []),
    `import { ${dependents.map((dependent) => `desired${dependent.kind}`).join(", ")} } from "./desired.ts";`,
    `import { ${kind} } from "./resource.ts";`,
    "",
    `${isConverted ? "const definition" : `export const ${constant}`} = controller("${controller}")`,
    `  .for(${kind})`,
    ...dependents.map((dependent) => `  .owns(${dependent.kind})`),
    "  .reconcile(async (ctx) => {",
    "    const object = ctx.object; // read-only, from the cache; never older than the last write of this controller",
    ...indented(dependents.map(applyLine), 2),
    `    const ready = ${checks.length === 0 ? "true" : checks.join(" &&\n      ")};`,
    "    await ctx.patchStatus({ ready });",
    "    return done; // or requeueAfter(60_000)",
    "  });",
    ...(isConverted
      ? ["", `export const ${constant} = withWebhooks(definition, [`, `  ${conversionName(names)},`, "]);"]
      : []),
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
export function text(...lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

/** The line of `deno fmt`; several when it would be too long. */
function importLines(names: readonly string[]): readonly string[] {
  const line = `import { ${sorted(names)} } from "@pintle/controller";`;
  if (line.length <= 120) return [line];
  return ["import {", ...sorted(names).split(", ").map((name) => `  ${name},`), '} from "@pintle/controller";'];
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
export function sampleText(project: ProjectSpec): string {
  const { names, dependents } = project;
  const spec = Object.fromEntries(fieldsOf(dependents).map(({ name, sample }) => [name, sample]));
  return json({
    apiVersion: `${names.group}/${hubOf(project)}`,
    kind: names.kind,
    metadata: { name: "hello" },
    spec,
  });
}

/** Writes JSON as `deno fmt` does. */
export function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** controller_test.ts */
export function testText({ names, dependents }: ProjectSpec): string {
  const { kind, constant, controller } = names;
  const each = (line: (kind: string) => string) => indented(kindsOf(dependents).map(line), 2);
  const body = (title: string, ...lines: readonly string[]) => [
    "",
    `test("${title}", async () => {`,
    "  await inWorld(async (world) => {",
    ...lines,
    "  });",
    "});",
  ];
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
    "/** Runs a test in a world in which the controller has reconciled the sample. */",
    "async function inWorld(body: (world: World) => Promise<void>): Promise<void> {",
    `  const world = await World.start({ controllers: [${constant}] });`,
    "  try {",
    `    await world.create(${kind}, { name, spec: sample.spec });`,
    "    await world.settled();",
    "    await body(world);",
    "  } finally {",
    "    await world[Symbol.asyncDispose]();",
    "  }",
    "}",
    "",
    `test("a ${kind} gets its objects and becomes ready", async () => {`,
    "  await inWorld((world) => {",
    ...dependents.map(({ kind, expected: [actual, field] }) =>
      `    assert.equal(${actual(`world.get(${kind}, key)`)}, sample.spec.${field});`
    ),
    `    assert.equal(world.get(${kind}, key).status?.ready, true);`,
    "    return Promise.resolve();",
    "  });",
    "});",
    ...body(
      "a deleted object is created again",
      ...each((kind) => `await world.delete(${kind}, key);`),
      "    await world.settled();",
      ...each((kind) => `assert.ok(world.find(${kind}, key));`),
    ),
    ...body(
      `the objects of a deleted ${kind} are deleted`,
      `    await world.delete(${kind}, key);`,
      "    await world.settled();",
      ...each((kind) => `assert.equal(world.find(${kind}, key), undefined);`),
    ),
    ...body(
      "a converged controller writes nothing",
      "    const { revision } = world;",
      "    await world.settled({ quietMs: 60_000 });",
      "    assert.equal(world.revision, revision);",
    ),
  );
}
