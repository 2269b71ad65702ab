/** A sample of the corpus for the gate: `deno task corpus` judges all 64 operators with all faults. */
import { assert, assertEquals, test } from "../testing.ts";
import { checkCase } from "./corpus/_check_case.ts";
import { corpus } from "./corpus/mod.ts";

/** One of each class that is found soon. */
const bugs = [
  "claims-keep-their-size",
  "withdrawn-only-on-event",
  "cleanup-not-repeatable",
  "finalizer-of-others-dropped",
  "generated-twice",
  "worker-deleted-twice",
  "deleted-by-label",
  "old-config-stays",
  "status-on-each-pass",
];

const correct = ["generated-once", "job-replaced", "times-in-status", "conflict-reported", "workers-counted-on-server"];

function find(name: string) {
  const one = corpus.find((one) => one.name === name);
  assert(one !== undefined, name);
  return one;
}

test("the corpus has 42 operators with a bug and 22 correct ones, each with a name of its own", () => {
  const count = (kind: string) => corpus.filter((one) => one.kind === kind).length;
  assertEquals([count("bug"), count("correct")], [42, 22]);
  assertEquals(new Set(corpus.map(({ name }) => name)).size, corpus.length);
  for (const { name, kind, expected = [] } of corpus) assertEquals(expected.length > 0, kind === "bug", name);
});

for (const name of bugs) {
  test(`the bug of the operator ${name} is caught`, async () => {
    const { verdict, found } = await checkCase(find(name), { seeds: 0 });
    assertEquals(verdict, "caught", found?.text);
  });
}

for (const name of correct) {
  test(`the correct operator ${name} is not accused under a sample of faults`, async () => {
    const { verdict, found } = await checkCase(find(name), { seeds: 4, points: 60 });
    assertEquals(verdict, "clean", found?.text);
  });
}
