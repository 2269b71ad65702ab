import { assertEquals, test } from "../../tests/testing.ts";
import { RepetitionFilter } from "./repetition_filter.ts";

/** A filter, and what it has written: the item, and how many it stands for if that is more than one. */
function recorded() {
  const written: string[] = [];
  const write = (item: string, repeated: number) => void written.push(repeated === 1 ? item : `${item} (${repeated})`);
  return { filter: new RepetitionFilter<string>(write), written };
}

test("the first item is written at once, identical ones are counted for 30 s", () => {
  const { filter, written } = recorded();
  for (let at = 0; at < 30_000; at += 1_000) filter.add("a", `a${at / 1_000}`, at);
  assertEquals(written, ["a0"]);
  filter.add("a", "a30", 30_000);
  assertEquals(written, ["a0", "a30 (30)"]);
});

test("other items are written meanwhile; the count of a repetition that has ended comes with the next item", () => {
  const { filter, written } = recorded();
  filter.add("a", "a1", 0);
  filter.add("a", "a2", 10);
  filter.add("a", "a3", 20);
  filter.add("b", "b1", 30);
  filter.add("c", "c1", 40_000);
  assertEquals(written, ["a1", "b1", "a3 (2)", "c1"]);
});

test("flush() writes the counts that are left, once", () => {
  const { filter, written } = recorded();
  filter.add("a", "a1", 0);
  filter.add("a", "a2", 1);
  filter.flush();
  filter.flush();
  assertEquals(written, ["a1", "a2"]);
});

test("a clock that was set back does not silence a repetition", () => {
  const { filter, written } = recorded();
  filter.add("a", "a1", 1_000_000);
  filter.add("a", "a2", 5);
  assertEquals(written, ["a1", "a2"]);
});

test("with more than a thousand identities the oldest is forgotten, and its count is written", () => {
  const { filter, written } = recorded();
  filter.add("first", "first", 0);
  filter.add("first", "again", 0);
  for (let n = 0; n < 1_000; n++) filter.add(`n${n}`, `n${n}`, 1);
  assertEquals([written.length, written.at(-1)], [1_002, "again"]);
});
