import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
import { nextTurn } from "../runtime/mod.ts";
import { LargeTexts } from "./large_texts.ts";

const never = new AbortController().signal;

test("[66] large texts are held one after the other, in the order in which they came", async () => {
  const texts = new LargeTexts({ maxHeldBytes: 10, collect: () => {} });
  const started: string[] = [];
  const take = async (name: string, bytes: number) => {
    const turn = await texts.take(bytes, never);
    started.push(name);
    return turn;
  };
  const first = await take("a", 20);
  const others = [take("b", 6), take("c", 6), take("d", 4)];
  await until(() => true, "a turn");
  assertEquals(started, ["a"]);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await until(() => started.length > 1, "the second");
  assertEquals(started, ["a", "b"]);
  (await others[0])?.[Symbol.dispose]();
  await until(() => started.length === 4, "the others");
  assertEquals(started, ["a", "b", "c", "d"]);
});

test("a text that does not wait any longer leaves its place to the next", async () => {
  const texts = new LargeTexts({ maxHeldBytes: 10, collect: () => {} });
  const first = await texts.take(8, never);
  const leaving = new AbortController();
  const left = assertRejects(() => texts.take(10, leaving.signal));
  let isNext = false;
  const next = texts.take(2, never).then(() => isNext = true);
  await until(() => true, "a turn");
  assertEquals(isNext, false);
  leaving.abort();
  await Promise.all([left, next]);
  first[Symbol.dispose]();
});

test("[66] the garbage of large texts is collected by their bytes, when a turn ends", async () => {
  let collections = 0;
  const texts = new LargeTexts({ collectEveryBytes: 100, collect: () => void collections++ });
  const pass = async (bytes: number, growth = 0) => {
    const turn = await texts.take(bytes, never);
    turn.add(growth);
    turn[Symbol.dispose]();
    await nextTurn();
  };
  for (let count = 0; count < 50; count++) await pass(10);
  assertEquals(collections, 5);
  await pass(1, 1_000);
  assertEquals(collections, 6);
});

test("[66] a very large text waits until the garbage of those before it, refused ones included, is collected", async () => {
  let collections = 0;
  const texts = new LargeTexts({ collectEveryBytes: 100, collect: () => void collections++ });
  using _turn = await texts.take(100, never);
  assertEquals(collections, 1);
});
