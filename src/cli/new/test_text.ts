/** The test that `new` writes: the controller in a world in memory, with the sample as its object. */
import { indented } from "./children.ts";
import { kindsOf, sorted, type Subject, text } from "./source_texts.ts";

/** controller_test.ts */
export function testText({ names, children }: Subject): string {
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
