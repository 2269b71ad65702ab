import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
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

test("[66] the garbage of large texts is collected by their bytes, not by their number", async () => {
  let collections = 0;
  const texts = new LargeTexts({ collectEveryBytes: 100, collect: () => void collections++ });
  for (let count = 0; count < 50; count++) (await texts.take(10, never))[Symbol.dispose]();
  assertEquals(collections, 4);
  const growing = await texts.take(1, never);
  growing.add(1_000);
  growing[Symbol.dispose]();
  (await texts.take(1, never))[Symbol.dispose]();
  assertEquals(collections, 6);
});
