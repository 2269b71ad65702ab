import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { matchesLabels, parseLabelSelector as parseForUsers } from "../../api/mod.ts";
import { seededRandom } from "../../async/mod.ts";
import { parseLabelSelector, SelectorError } from "./label_selector.ts";

function selects(selector: string, labels: Readonly<Record<string, string>>): boolean {
  const matches = parseLabelSelector(selector);
  return matches === undefined || matches({ object: { metadata: { labels } }, labels });
}

const selections: readonly (readonly [string, Readonly<Record<string, string>>, boolean])[] = [
  ["", {}, true],
  ["a=1", { a: "1" }, true],
  ["a==1", { a: "2" }, false],
  ["a=1", {}, false],
  ["a!=1", {}, true],
  ["a!=1", { a: "1" }, false],
  ["a", { a: "" }, true],
  ["a", {}, false],
  ["!a", {}, true],
  ["!a", { a: "1" }, false],
  ["a in (1,2)", { a: "2" }, true],
  ["a in (1, 2)", { a: "3" }, false],
  ["a notin (1,2)", {}, true],
  ["a notin (1,2)", { a: "1" }, false],
  ["a in ()", { a: "" }, true],
  ["a in (x,)", { a: "" }, true],
  ["a=", { a: "" }, true],
  ["a>5", { a: "6" }, true],
  ["a>5", { a: "5" }, false],
  ["a<5", { a: "-7" }, true],
  ["a<5", { a: "x" }, false],
  ["a=1,b!=2", { a: "1", b: "3" }, true],
  [" a = 1 , b ", { a: "1", b: "" }, true],
  ["in=1", { in: "1" }, true],
  ["in in (notin)", { in: "notin" }, true],
  ["constructor", {}, false],
  ["example.com/a=1", { "example.com/a": "1" }, true],
];

for (const [selector, labels, expected] of selections) {
  test(`the selector "${selector}" ${expected ? "selects" : "does not select"} ${JSON.stringify(labels)}`, () => {
    assertEquals(selects(selector, labels), expected);
  });
}

/** Recorded from kube-apiserver 1.36.3. */
const malformed: readonly (readonly [string, string])[] = [
  ["=", "found '=', expected: !, identifier, or 'end of string'"],
  ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ["a,,b", "found ',', expected: identifier after ','"],
  ["!", "unable to parse requirement: found '', expected: identifier"],
  ["a=(", "unable to parse requirement: found '(', expected: identifier"],
  ["a in", "unable to parse requirement: found '' expected: '('"],
  ["a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ["a in (1 2)", "unable to parse requirement: found '2', expected: ',' or ')'"],
  ["a!", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
  ["a=b c", "found 'c', expected: ',' or 'end of string'"],
  [
    "a>x",
    "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
];

for (const [selector, message] of malformed) {
  test(`the selector "${selector}" is rejected with the message of kube-apiserver`, () => {
    const error = assertThrows(() => parseLabelSelector(selector));
    assert(error instanceof SelectorError);
    assertEquals(error.message, message);
  });
}

/** Selectors and near misses, from pieces of the grammar. */
const pieces = ["a", "b", "in", "notin", " ", " ", ",", "(", ")", "=", "==", "!=", "!", "x.y/a", "-", ">", "A_1", "/"];

test("the parser for users accepts and selects the same as the server's, except for > and <", () => {
  const random = seededRandom(7);
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random.next() * from.length)];
  const labels: readonly Readonly<Record<string, string>>[] = [{}, { a: "a" }, { a: "b", in: "" }, {
    "x.y/a": "A_1",
    b: "a",
  }, { notin: "in", A_1: "b" }];
  let accepted = 0;
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + Math.floor(random.next() * 9) }, () => pick(pieces)).join("");
    if (text.includes(">") || text.trim() === "") continue;
    const mine = outcome(() => parseForUsers(text));
    const theirs = outcome(() => parseLabelSelector(text));
    assertEquals(mine.ok, theirs.ok, JSON.stringify(text));
    if (!mine.ok || !theirs.ok) continue;
    accepted++;
    for (const one of labels) {
      const expected = theirs.value?.({ object: { metadata: { labels: one } }, labels: one }) ?? true;
      assertEquals(matchesLabels(mine.value, one), expected, `${JSON.stringify(text)} on ${JSON.stringify(one)}`);
    }
  }
  assert(accepted > 500, `only ${accepted} selectors were valid`);
});

function outcome<T>(parse: () => T): { readonly ok: true; readonly value: T } | { readonly ok: false } {
  try {
    return { ok: true, value: parse() };
  } catch {
    return { ok: false };
  }
}
