/**
 * The files that `new` writes: kind, desired state, controller, program, test and sample. They are the
 * same for all runtimes; runtime_files.ts has the others.
 *
 * Guarantees: `deno fmt` leaves the sources unchanged, whatever the names: parts that can become long have their own line.
 */
import { type DependentKind, fieldsOf, indented, sampleValue, type ValueOf, variableOf } from "./dependent_kinds.ts";
import type { Names } from "./names.ts";
import type { SampleObject } from "./sample_object.ts";

/** What the files are written from. */
export interface ProjectSpec {
  readonly names: Names;
  readonly dependents: readonly DependentKind[];
  /** The versions of the kind, oldest first. The controller works with the last one. */
  readonly versions: readonly string[];
  /** Whether it has webhooks for defaults and validation. */
  readonly hasWebhooks: boolean;
  /** The kind of another program: the controller knows nothing about its fields. Undefined for a new kind. */
  readonly imported: ImportedProject | undefined;
}

/** What the files need of the kind of another program. */
export interface ImportedProject {
  /** resource.ts */
  readonly text: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly sample: SampleObject;
}

/** The expression for a field of the spec. */
function specOf({ imported }: ProjectSpec): ValueOf {
  return (field) => imported === undefined ? `object.spec.${field}` : sampleValue(field);
}

/** The key of the sample, as source text. */
function sampleKey({ imported }: ProjectSpec): string {
  return imported?.scope === "Cluster" ? "name" : "`default/${name}`";
}

/** The version that the controller works with, and that is stored. */
function hubOf({ versions }: ProjectSpec): string {
  return versions.at(-1) ?? "";
}

/** resource.ts, or `resource_v1.ts` of an older version. */
export function resourceText(project: ProjectSpec, version = hubOf(project)): string {
  const { names, dependents, imported } = project;
  if (imported !== undefined) return imported.text;
  const { kind, type, group } = names;
  const isHub = version === hubOf(project);
  const constant = isHub ? type : olderKind(type, version);
  const fields = fieldsOf(dependents).map(({ name, schema }) => `${name}: ${schema},`);
  const isImmutable = fields.some((field) => field.includes("immutable("));
  return text(
    `/** ${constant}: the kind. The schema is the TypeScript type, the CRD and the validation at the same time. */`,
    `import { defineResource,${isImmutable ? " immutable," : ""}${
      isHub ? " type Infer," : ""
    } z } from "@pintle/controller";`,
    "",
    `export const ${constant} = defineResource({`,
    `  group: "${group}",`,
    `  version: "${version}",`,
    `  kind: "${kind}",`,
    '  scope: "Namespaced",',
    `  description: "${sentence(names)}",`,
    ...(fields.length === 0 ? ["  spec: z.object({}),"] : ["  spec: z.object({", ...indented(fields, 2), "  }),"]),
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
    ...(isHub ? [`export type ${type} = Infer<typeof ${type}>;`] : []),
  );
}

/** `WebsiteV1`. */
function olderKind(type: string, version: string): string {
  return `${type}${version.slice(0, 1).toUpperCase()}${version.slice(1)}`;
}

/** `websiteConversion`. */
function conversionName({ constant }: Names): string {
  return constant.replace(/Controller$/, "Conversion");
}

/** The older versions, with the names of their resources. */
function olderVersions({ names, versions }: ProjectSpec) {
  return versions.slice(0, -1).map((version) => ({ version, constant: olderKind(names.type, version) }));
}

/** conversion.ts */
export function conversionText(project: ProjectSpec): string {
  const { names } = project;
  const { type: kind } = names;
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
  const { type: kind, constant } = names;
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
export function desiredText(project: ProjectSpec): string {
  const { names: { kind, type, group, singular }, dependents } = project;
  const bodies = dependents.map((dependent) => ({ kind: dependent.kind, body: dependent.body(specOf(project)) }));
  const needsLabels = bodies.some(({ body }) => body.join().includes("labelsOf"));
  // An object in no namespace still owns objects in one.
  const namespace = project.imported?.scope === "Cluster" ? '"default"' : "object.metadata.namespace";
  return text(
    `/** The objects that ${article(kind)} ${kind} needs: pure functions from the object to its desired state. */`,
    ...new Set(dependents.flatMap(({ imports = [] }) => imports)),
    ...importLines([...kindsOf(dependents), "manifest"]),
    `import type { ${type} } from "./resource.ts";`,
    "",
    ...bodies.flatMap(({ kind, body }) => [
      `export function desired${kind}(object: ${type}) {`,
      `  return manifest(${kind}, {`,
      "    metadata: metadataOf(object),",
      ...indented(body, 2),
      "  });",
      "}",
      "",
    ]),
    `function metadataOf(object: ${type}) {`,
    needsLabels
      ? `  return { name: nameOf(object), namespace: ${namespace}, labels: labelsOf(object) };`
      : `  return { name: nameOf(object), namespace: ${namespace} };`,
    "}",
    "",
    ...(needsLabels
      ? [
        `function labelsOf(object: ${type}): Readonly<Record<string, string>> {`,
        "  return {",
        `    "${group}/${singular}": nameOf(object),`,
        "  };",
        "}",
        "",
      ]
      : []),
    `function nameOf(object: ${type}): string {`,
    '  return object.metadata.name ?? "";',
    "}",
  );
}

function article(kind: string): string {
  return /^[AEIOU]/.test(kind) ? "an" : "a";
}

/** controller.ts */
export function controllerText(project: ProjectSpec): string {
  const { names, dependents, versions, hasWebhooks, imported } = project;
  const { kind, type, constant, controller } = names;
  const isConverted = versions.length > 1;
  const isWrapped = isConverted || hasWebhooks;
  const checks = dependents.flatMap((dependent) => dependent.ready?.(variableOf(dependent), specOf(project)) ?? []);
  const about = imported === undefined
    ? "keeps the objects of each ${kind} in their desired state, and reports whether they are ready"
    : "keeps the objects of each ${kind} in their desired state";
  return text(
    `/** ${controller}: ${about.replace("${kind}", kind)}. */`,
    ...importLines([...kindsOf(dependents), "controller", "done", ...(isWrapped ? ["withWebhooks"] : [])]),
    ...(isConverted ? [`import { ${conversionName(names)} } from "./conversion.ts";`] : []),
    ...importLines(dependents.map((dependent) => `desired${dependent.kind}`), "./desired.ts"),
    `import { ${type} } from "./resource.ts";`,
    ...(hasWebhooks ? [`import { ${webhooksName(names)} } from "./webhooks.ts";`] : []),
    "",
    `${isWrapped ? "const definition" : `export const ${constant}`} = controller("${controller}")`,
    `  .for(${type})`,
    ...dependents.map((dependent) => `  .owns(${dependent.kind})`),
    "  .reconcile(async (ctx) => {",
    "    const object = ctx.object; // read-only, from the cache; never older than the last write of this controller",
    ...indented(dependents.map((dependent) => applyLine(dependent, imported === undefined)), 2),
    ...(imported === undefined
      ? [
        `    const ready = ${checks.length === 0 ? "true" : checks.join(" &&\n      ")};`,
        "    await ctx.patchStatus({ ready });",
      ]
      : []),
    "    return done; // or requeueAfter(60_000)",
    "  });",
    ...(isWrapped
      ? [
        "",
        `export const ${constant} = withWebhooks(definition, [`,
        ...(isConverted ? [`  ${conversionName(names)},`] : []),
        ...(hasWebhooks ? [`  ...${webhooksName(names)},`] : []),
        "]);",
      ]
      : []),
  );
}

/** The desired state is applied in every reconcile; a request is sent only when the live object differs. */
function applyLine(dependent: DependentKind, isRead: boolean): string {
  const apply = `await ctx.apply(desired${dependent.kind}(object));`;
  return dependent.ready === undefined || !isRead ? apply : `const ${variableOf(dependent)} = ${apply}`;
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
function importLines(names: readonly string[], source = "@pintle/controller"): readonly string[] {
  const line = `import { ${sorted(names)} } from "${source}";`;
  if (line.length <= 120) return [line];
  return ["import {", ...sorted(names).split(", ").map((name) => `  ${name},`), `} from "${source}";`];
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
  const { names, dependents, imported } = project;
  if (imported !== undefined) return json(imported.sample.object);
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

/** The lines that create the sample in a world. */
function createSample({ names: { type }, imported }: ProjectSpec): string {
  return imported === undefined
    ? `await world.create(${type}, { name, spec: sample.spec });`
    : `await world.client.create(${type}, ${type}.parse(sample));`;
}

/** controller_test.ts */
export function testText(project: ProjectSpec): string {
  const { names: { kind, type, constant, controller }, dependents, imported } = project;
  const isNamespaced = imported?.scope !== "Cluster";
  const childKey = isNamespaced ? "key" : "childKey";
  const each = (line: (kind: string) => string) => indented(kindsOf(dependents).map(line), 2);
  const valueOf = (field: string) => imported === undefined ? `sample.spec.${field}` : sampleValue(field);
  const body = (title: string, ...lines: readonly string[]) => [
    "",
    `test("${title}", async () => {`,
    "  await inWorld(async (world) => {",
    ...lines,
    "  });",
    "});",
  ];
  const checks = dependents.map(({ kind, expected }) =>
    expected === undefined
      ? `    assert.ok(world.find(${kind}, ${childKey}));`
      : `    assert.equal(${expected[0](`world.get(${kind}, ${childKey})`)}, ${valueOf(expected[1])});`
  );
  return text(
    `/** Tests of ${controller} in memory: an API server, a cluster, and a clock that the test advances. */`,
    'import assert from "node:assert/strict";',
    'import test from "node:test";',
    ...importLines(kindsOf(dependents)),
    'import { World } from "@pintle/controller/testing";',
    `import { ${constant} } from "./controller.ts";`,
    `import { ${type} } from "./resource.ts";`,
    'import sample from "./sample.json" with { type: "json" };',
    "",
    "const { name } = sample.metadata;",
    `const key = ${sampleKey(project)};`,
    ...(isNamespaced ? [] : ["const childKey = `default/${name}`;"]),
    "",
    "/** Runs a test in a world in which the controller has reconciled the sample. */",
    "async function inWorld(body: (world: World) => Promise<void>): Promise<void> {",
    `  const world = await World.start({ controllers: [${constant}] });`,
    "  try {",
    `    ${createSample(project)}`,
    "    await world.settled();",
    "    await body(world);",
    "  } finally {",
    "    await world[Symbol.asyncDispose]();",
    "  }",
    "}",
    "",
    `test("${article(kind)} ${kind} gets its objects${
      imported === undefined ? " and becomes ready" : ""
    }", async () => {`,
    "  await inWorld((world) => {",
    ...checks,
    ...(imported === undefined ? [`    assert.equal(world.get(${type}, key).status?.ready, true);`] : []),
    "    return Promise.resolve();",
    "  });",
    "});",
    ...body(
      "a deleted object is created again",
      ...each((kind) => `await world.delete(${kind}, ${childKey});`),
      "    await world.settled();",
      ...each((kind) => `assert.ok(world.find(${kind}, ${childKey}));`),
    ),
    ...body(
      `the objects of a deleted ${kind} are deleted`,
      `    await world.delete(${type}, key);`,
      "    await world.settled();",
      ...each((kind) => `assert.equal(world.find(${kind}, ${childKey}), undefined);`),
    ),
    ...body(
      "a converged controller writes nothing",
      "    const { revision } = world;",
      "    await world.settled({ quietMs: 60_000 });",
      "    assert.equal(world.revision, revision);",
    ),
  );
}

/** `websiteWebhooks`. */
function webhooksName({ constant }: Names): string {
  return constant.replace(/Controller$/, "Webhooks");
}
