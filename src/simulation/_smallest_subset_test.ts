/** Tests that only what is needed remains, and how many tries that takes. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { smallestSubset } from "./_smallest_subset.ts";

/** The subset, and the number of tries. @param needed the items that are needed together */
async function smallest(
  count: number,
  needed: readonly number[],
  maxTries?: number,
): Promise<{ readonly subset: readonly number[]; readonly tries: number }> {
  let tries = 0;
  const items = Array.from({ length: count }, (_, index) => index + 1);
  const subset = await smallestSubset(items, (some) => {
    tries++;
    return Promise.resolve(needed.every((one) => some.includes(one)));
  }, { maxTries });
  return { subset, tries };
}

for (const needed of [[1], [8], [3, 4], [1, 5, 8], [1, 2, 3, 4, 5, 6, 7, 8]]) {
  test(`smallestSubset() of 8 items keeps ${needed.join(", ")}, which are needed`, async () => {
    assertEquals((await smallest(8, needed)).subset, needed);
  });
}

test("smallestSubset() finds one of a hundred items in few tries", async () => {
  const { subset, tries } = await smallest(100, [77]);
  assertEquals(subset, [77]);
  assert(tries < 25, `${tries} tries`);
});

test("smallestSubset() returns the smallest subset that it knows when there are no more tries", async () => {
  const { subset, tries } = await smallest(8, [1], 1);
  assertEquals([tries, subset.length], [1, 8]);
  assertEquals((await smallest(8, [1], 2)).subset, [1, 2, 3, 4]);
});

test("smallestSubset() never tries the empty subset", async () => {
  assertEquals((await smallest(3, [])).subset.length, 1);
  assertEquals((await smallest(1, [])).tries, 0);
});
