import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  test,
} from "../../../tests/testing.ts";
import { loadModule } from "../../../tests/fakes/load_module.ts";
import { parseExactJson, printExactJson } from "../../api/mod.ts";
import { versionSchemaOf } from "../../apiserver/mod.ts";
import { type Crd, crdChanges, type CustomResource, type Json, type StructuralSchema } from "../../schema/mod.ts";
import { packageCommands } from "../package_cli.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";
import { importKind } from "./imported_kind.ts";
import { normalDefinition } from "./normal_definition.ts";
import { readDefinition } from "./read_definitions.ts";
import { sampleObject } from "./sample_object.ts";
import { richDefinition } from "./testing/rich_definition.ts";

const library = new URL("../../mod.ts", import.meta.url).href;

/** Loads the written file, as a program that imports it. */
async function load(text: string, name: string): Promise<CustomResource> {
  const folder = await mkdtemp(join(tmpdir(), "pintle-from-crd-"));
  try {
    const path = join(folder, "resource.ts");
    await writeFile(path, text.replace('"@pintle/controller"', JSON.stringify(library)));
    return (await loadModule(pathToFileURL(path).href))[name] as CustomResource;
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("the definition that the written kind makes is the one that was read", async () => {
  const { crd } = await readDefinition(richDefinition, "crd.yaml", undefined);
  const { text } = importKind(crd);
  const Machine = await load(text, "Machine");
  assertEquals(crdChanges(normalDefinition(crd), normalDefinition(Machine.crd)), []);
  for (
    const part of [
      "z.enum(",
      "int64({ min: 0 })",
      "z.int32().min(0).lt(100).default(3)",
      "refSchema",
      "openapi: { format",
    ]
  ) {
    assertStringIncludes(text, part);
  }
});

test("1,000 objects get the same verdict, and zod accepts each one that the API server accepts", async () => {
  const { crd } = await readDefinition(richDefinition, "crd.yaml", undefined);
  const Machine = await load(importKind(crd).text, "Machine");
  const schemaOf = ({ spec }: Crd) => spec.versions.find(({ name }) => name === "v1")?.schema.openAPIV3Schema ?? {};
  const asJson = (schema: StructuralSchema) =>
    parseExactJson(printExactJson(schema)) as { readonly [key: string]: Json };
  const [read, made] = [versionSchemaOf(asJson(schemaOf(crd))), versionSchemaOf(asJson(schemaOf(Machine.crd)))];
  const { object } = sampleObject(importKind(crd));
  const { spec } = schemaOf(crd).properties ?? {};
  const names = Object.keys(spec?.properties ?? {});
  const value = fc.oneof(
    fc.constantFrom<Json>(
      "A",
      "x",
      "",
      1,
      0,
      5,
      100,
      -10,
      true,
      null,
      "25%",
      {},
      [],
      ["a"],
      ["a", "a"],
      "2030-01-01T00:00:00Z",
    ),
    fc.constantFrom<Json>({ name: "a" }, { size: "S" }, [{ port: 1, protocol: "TCP" }], { a: "b" }, { a: [{}] }, 0.75),
    fc.constant<Json>({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }),
  );
  const changes = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 });
  const counts = { valid: 0, invalid: 0 };
  for (const change of fc.sample(changes, { numRuns: 1_000, seed: 7 })) {
    const tried = parseExactJson(
      printExactJson({ ...object, spec: { ...Object(object.spec), ...change } }),
    ) as { readonly [key: string]: Json };
    const [left, right] = [read, made].map((server) => {
      const normalized = server.normalized(tried);
      return { normalized, isValid: server.problems(normalized).length === 0 };
    });
    assertEquals(right, left, printExactJson(tried));
    const isValid = left?.isValid === true;
    counts[isValid ? "valid" : "invalid"]++;
    if (isValid) assertEquals(Machine.safeParse(left?.normalized).kind, "valid", printExactJson(tried));
  }
  assert(counts.valid > 100 && counts.invalid > 100, JSON.stringify(counts));
});

test("the sample of an imported kind is valid", async () => {
  const { crd } = await readDefinition(richDefinition, "crd.yaml", undefined);
  assertEquals(sampleObject(importKind(crd)).problem, undefined);
});

/** A small definition with a part of its schema. */
function small(spec: string, kind = "Site"): string {
  const plural = `${kind.toLowerCase()}s`;
  return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${plural}.example.com }
spec:
  group: example.com
  scope: Cluster
  names: { kind: ${kind}, plural: ${plural} }
  versions:
  - name: v1
    served: true
    storage: true
    schema: { openAPIV3Schema: { type: object, properties: { spec: ${spec} } } }
`;
}

const refusals: readonly (readonly [title: string, text: string, message: RegExp])[] = [
  ["YAML that is none", "a: [", /line 1: /],
  ["a syntax error in the second document", `a: 1\n---\nb: 2\n---\nc: "x\n`, /line 6: /],
  ["a key that appears twice", small("{ type: object }") + "kind: Other\n", /line 13: the key appears a second time/],
  ["a document without a definition", "kind: ConfigMap\n", /it has no CustomResourceDefinition/],
  [
    "several definitions",
    `${small("{ type: object }")}---\n${small("{ type: object }", "Page")}`,
    /it has 2 definitions, of Site, Page/,
  ],
  [
    "an old version",
    "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n",
    /line 1: it is of apiextensions\.k8s\.io\/v1beta1/,
  ],
  ["an unknown keyword", small("{ type: object, minimun: 3 }"), /the API server rejects it: .*unknown field .*minimun/],
  ["a field without a type", small("{ type: object, properties: { a: {} } }"), /properties\[a\].*type: Required value/],
  [
    "a pattern that RE2 lacks",
    small("{ type: object, properties: { a: { type: string, pattern: '(?=a)' } } }"),
    /rejects it/,
  ],
  [
    "aliases that multiply",
    `a: &a [x, x]\nb: &b [*a, *a]\n${Array.from({ length: 120 }, (_, index) => `c${index}: *b`).join("\n")}\n`,
    /line 1: /,
  ],
  ["deep nesting", `a: ${"[".repeat(5_000)}`, /line 1: .*collections inside each other/],
];

for (const [title, text, message] of refusals) {
  test(`new --from-crd refuses ${title}, by name and line`, async () => {
    await assertRejects(() => readDefinition(text, "crd.yaml", undefined), message);
  });
}

test("new --from-crd takes one of several definitions, of a List too, and keeps __proto__ a field", async () => {
  const list = `apiVersion: v1\nkind: List\nitems:\n- ${
    small("{ type: object }", "Page").trimEnd().replaceAll("\n", "\n  ")
  }\n`;
  const site = small('{ type: object, properties: { "__proto__": { type: string } } }');
  assertEquals((await readDefinition(`${list}---\n${site}`, "f", "Page")).crd.spec.names.kind, "Page");
  const { crd } = await readDefinition(`${list}---\n${site}`, "f", "Site");
  const { text } = importKind(crd);
  assertStringIncludes(text, '["__proto__"]: z.unknown().meta({ openapi: { type: "string" } }).optional()');
  assertEquals(crdChanges(normalDefinition(crd), normalDefinition((await load(text, "Site")).crd)), []);
});

test("a hostile pattern beside a long default is written without being run", async () => {
  const text = small(
    `{ type: object, properties: { a: { type: string, pattern: '^(a+)+$', default: ${"a".repeat(40)} } } }`,
  );
  const { crd } = await readDefinition(text, "f", undefined);
  assertStringIncludes(importKind(crd).text, 'openapi: { pattern: "^(a+)+$"');
});

const fromCrd = (words: readonly string[], input: readonly string[]): Promise<CommandResult> =>
  runCommandLine({ name: "controller", controllers: [] }, ["new", ...words], {
    commands: packageCommands,
    terminal: { answers: input },
  });

test("new --from-crd - reads standard input, and names the project after the kind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pintle-from-crd-"));
  try {
    const dir = join(folder, "machine");
    const words = ["--from-crd", "-", "--owns", "Job", "--webhook", "--dir", dir, "--runtime", "bun"];
    const { code, err } = await fromCrd(words, richDefinition.split("\n"));
    assertEquals(code, 0, err);
    assertMatch(await readFile(join(dir, "controller.ts"), "utf8"), /machineController = withWebhooks\(/);
    assertMatch(await readFile(join(dir, "desired.ts"), "utf8"), /image: "busybox:1\.37"/);
    const sample = JSON.parse(await readFile(join(dir, "sample.json"), "utf8"));
    assertEquals([sample.apiVersion, sample.kind], ["shop.example.com/v1", "Machine"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("new --from-crd - reads what kubectl get -o yaml prints, with the fields of the server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pintle-from-crd-"));
  try {
    const live = [
      "  uid: 6b6f1a0e-8f8e-4d44-9d4a-0f5b7d7e9c11",
      '  resourceVersion: "41"',
      "  generation: 3",
      "  managedFields: [{ manager: kubectl, operation: Apply, apiVersion: apiextensions.k8s.io/v1 }]",
    ];
    const shown = richDefinition.replace("creationTimestamp: null", 'creationTimestamp: "2026-01-01T00:00:00Z"').split(
      "\n",
    )
      .flatMap((line) => line === "metadata:" ? [line, ...live] : [line]);
    assertEquals(shown.length, richDefinition.split("\n").length + live.length);
    const dir = join(folder, "machine");
    const { code, err } = await fromCrd(["--from-crd", "-", "--dir", dir, "--runtime", "node"], shown);
    assertEquals(code, 0, err);
    assert(!/6b6f1a0e|managedFields/.test(await readFile(join(dir, "resource.ts"), "utf8")));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("new --from-crd refuses flags that the definition answers, and a file that is missing", async () => {
  const clash = await fromCrd(["--from-crd", "-", "--versions", "v1,v2"], []);
  assertEquals([clash.code, clash.out], [2, ""]);
  assertStringIncludes(clash.err, "Cannot use --versions with --from-crd: the definition has it already");
  const missing = await fromCrd(["--from-crd", "/nonexistent/crd.yaml"], []);
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.err, 'Cannot read the definition in "/nonexistent/crd.yaml": ENOENT');
});
