/** Tests of Cleanups: the order, errors, and moving. */
import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { Cleanups } from "./cleanups.ts";

test("Cleanups closes everything in the reverse order, and then throws the first error", async () => {
  const closed: string[] = [];
  const close = async () => {
    await using cleanups = new Cleanups();
    cleanups.use({ [Symbol.dispose]: () => void closed.push("a") });
    cleanups.defer(() => {
      closed.push("b");
      throw new Error("b is stuck");
    });
    cleanups.use({ [Symbol.asyncDispose]: async () => await Promise.resolve(void closed.push("c")) });
  };
  await assertRejects(close, /b is stuck/);
  assertEquals(closed, ["c", "b", "a"]);
});

test("what Cleanups has moved is closed by the new value only", async () => {
  const closed: string[] = [];
  const cleanups = new Cleanups();
  cleanups.defer(() => void closed.push("a"));
  const moved = cleanups.move();
  await cleanups[Symbol.asyncDispose]();
  assertEquals(closed, []);
  await moved[Symbol.asyncDispose]();
  assertEquals(closed, ["a"]);
});
