/** When a run may go on although keys still fail. */
import { assertEquals, test } from "../../tests/testing.ts";
import { type Retried, Retries } from "./_retries.ts";

const never = -Infinity;

function failing(retries: number): Retried {
  return { id: 1, manager: { retrying: () => [{ controller: "c", key: "default/a", retries }] } };
}

test("a key that failed is waited for until it was tried once more after the last fault", () => {
  const retries = new Retries();
  assertEquals(retries.isWaitedFor([failing(3)], 1_000, never), false);
  assertEquals(retries.isWaitedFor([failing(3)], 90_000, 1_000), true);
  assertEquals(retries.isWaitedFor([failing(4)], 90_001, 1_000), false);
  assertEquals(retries.isWaitedFor([failing(4)], 90_002, 90_001), true);
  assertEquals(retries.isWaitedFor([{ id: 1, manager: { retrying: () => [] } }], 90_003, 90_001), false);
});
