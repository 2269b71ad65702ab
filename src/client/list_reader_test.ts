/** Tests of ListReader: for any text in any chunks the same value as parseJson, and bounded. */
import fc from "fast-check";
import { InvalidResponseError } from "../api/mod.ts";
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { dropManagedFields, isObject, parseJson } from "./decoder.ts";
import { ListReader, type ListReaderOptions } from "./list_reader.ts";

const encoder = new TextEncoder();

/** Reads a text in chunks of `sizes` bytes, which repeat. */
function read(text: string | Uint8Array, sizes: readonly number[], options: Partial<ListReaderOptions> = {}): unknown {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const reader = new ListReader({ action: "list Foo", dropManagedFields: false, batchBytes: 1, ...options });
  for (let start = 0, chunk = 0; start < bytes.length; chunk++) {
    const end = start + (sizes[chunk % sizes.length] ?? 1);
    reader.push(bytes.subarray(start, end));
    start = end;
  }
  return reader.end();
}

/** The value, or "refused" for malformed text. */
function orRefused(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    assert(error instanceof SyntaxError, String(error));
    return "refused";
  }
}

/** Compares the reader with parseJson, for all chunks of one size, for every split in two, and for large batches. */
function assertSame(text: string): void {
  const bytes = encoder.encode(text);
  const expected = orRefused(() => parseJson(text.replace(/^\ufeff/, "")));
  for (const batchBytes of [1, 16, 1024]) {
    for (const sizes of [[1], [2, 3], [bytes.length + 1]]) {
      assertEquals(orRefused(() => read(bytes, sizes, { batchBytes })), expected, text);
    }
  }
  for (let at = 1; at < bytes.length; at++) {
    assertEquals(orRefused(() => read(bytes, [at, bytes.length])), expected, `${text}, split at ${at}`);
  }
}

test("a list is the value of its text, wherever its bytes are split", () => {
  const texts = [
    '{"kind":"FooList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"a":1},{"b":[2,3]},{"c":{}}]}',
    ' {"apiVersion" : "v1", "items" :\n[ {"a":1} ,\t{"b":2} ] , "kind":"FooList","metadata":{"continue":"t"}}\n',
    '{"items":[]}',
    '{"items":[ \n ]}',
    '{"items":null,"kind":"FooList"}',
    '{"kind":"FooList","metadata":{}}',
    '{"items":{"items":[1,2]}}',
    '{"metadata":{"items":[1,2]},"items":[{"items":[3,4]},{"x":{"items":[5]}}]}',
    '{"items":[1,2],"items":[3,4]}',
    '{"items":[1,2],"items":null}',
    '{"items":null,"items":[1,2]}',
    '{"items":[1,2],"item\\u0073":[3]}',
    '{"item\\u0073":[3,4],"items":[1,2]}',
    '{"x\\"items":[1],"a":"items","items ":[2],"item":[3],"itemss":[4],"items":"[5]"}',
    '{"items":["a\\"],[","\\\\","\\\\\\"]}",",",{"]":"}"}]}',
    '{"items":["é","€","😀","\\ud83d\\ude00","\\ud800"],"é":"\\u00e9"}',
    '{"items":[{"id":9007199254740993},{"id":-9223372036854775808}],"metadata":{"id":9007199254740993}}',
    '{"items":[{"__proto__":{"a":1}}],"__proto__":2}',
    '\ufeff{"items":[1,2]}',
    '{"items":[1,\ufeff2]}',
    "[]",
    '["items",[1,2]]',
    '"items"',
    "",
    " ",
  ];
  texts.forEach(assertSame);
});

test("malformed text is a SyntaxError, wherever its bytes are split", () => {
  const texts = [
    '{"items":[1,2',
    '{"items":[1,2]',
    '{"items":[1,2}}',
    '{"items":[1,2]]',
    '{"items":[{"a":1],{"b":2}]}',
    '{"items":[,1]}',
    '{"items":[1,,2]}',
    '{"items":[1,2,]}',
    '{"items":[1, ]}',
    '{"items":[,]}',
    '{"items":[1 2,3]}',
    '{"items":[1}],"items":[2]}',
    '{"items":[1],[2]}',
    '{"items":[1]} x',
    '{"items":[1]}{"items":[2]}',
    '{"items"[1]}',
    '{"a":"items":[1]}',
    '{"items":["\n",1]}',
    '{"items":["a]}',
    '{"items":[tru,1]}',
    ']]{{"items":[1]}',
  ];
  for (const text of texts) {
    assertEquals(orRefused(() => parseJson(text)), "refused", text);
    assertSame(text);
  }
});

test("random lists and random damage have the result of parseJson", () => {
  const key = fc.constantFrom("items", "kind", "metadata", "a", 'i"tems', "é");
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, true, 0, -1.5, "", "items", "\\", '"', "],[", "😀", "\u2028"),
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3 }),
    ),
  }));
  const list = fc.record({ kind: fc.constant("FooList"), items: fc.array(value, { maxLength: 8 }), a: value });
  const text = fc.tuple(list, fc.constantFrom(0, 1), fc.boolean()).map(([list, space, isReversed]) =>
    JSON.stringify(isReversed ? Object.fromEntries(Object.entries(list).reverse()) : list, null, space)
  );
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 });
  const damage = fc.option(fc.tuple(fc.nat(), fc.constantFrom("", ",", "[", "]", "{", "}", '"', "\\", "items", " ")));
  fc.assert(
    fc.property(text, sizes, damage, fc.integer({ min: 1, max: 64 }), (whole, sizes, damage, batchBytes) => {
      const [at, word] = damage ?? [0, undefined];
      const start = at % whole.length;
      const text = word === undefined ? whole : whole.slice(0, start) + word + whole.slice(start + 1);
      // A half of a pair of surrogates does not survive UTF-8.
      const expected = orRefused(() => parseJson(new TextDecoder().decode(encoder.encode(text))));
      assertEquals(orRefused(() => read(text, sizes, { batchBytes })), expected);
    }),
    { numRuns: 3000, seed: 21 },
  );
});

test("managedFields of the items are left out, and those elsewhere are not", () => {
  const item = (name: string) => ({ metadata: { name, managedFields: [{ manager: name }] }, managedFields: [1] });
  const list = { metadata: { managedFields: [2] }, items: [item("a"), item("b"), item("c")] };
  for (const batchBytes of [1, 1000]) {
    const value = read(JSON.stringify(list), [7], { dropManagedFields: true, batchBytes });
    const expected = structuredClone(list);
    expected.items.forEach(dropManagedFields);
    assertEquals(value, expected);
  }
});

test("[95] a list nests at most 512 levels, beside its items and in them", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const depthOf = (value: unknown): number => Array.isArray(value) ? 1 + depthOf(value[0]) : 0;
  const value = read(`{"a":${nested(511)},"items":[${nested(510)}]}`, [100]);
  assert(isObject(value) && depthOf(value.a) === 511 && depthOf(value.items) === 511);
  for (const text of [`{"a":${nested(512)}}`, `{"items":[${nested(511)}]}`]) {
    assertThrows(() => read(text, [100]), /nests deeper than 512 levels$/);
  }
});

test("[security 21] items, their bytes, their values and the text beside them are bounded", () => {
  const limits = { maxItemBytes: 200, maxItems: 4, maxValues: 12, bytesPerValue: 20 };
  const texts = (length: number) => `"${"a".repeat(length)}"`;
  const good = [
    `{"items":[${texts(198)},2,3,4]}`,
    '{"items":[[1,1,1,1,1,1,1]]}',
    `{"items":[[${'"aaaaaaaaaaaaaaaaaa",'.repeat(9)}1],[1,1,1,1,1]]}`,
    `{"a":${texts(190)}}`,
  ];
  for (const text of good) assertEquals(read(text, [3], limits), JSON.parse(text));
  const bad: readonly (readonly [string, RegExp])[] = [
    [`{"items":[${texts(199)}]}`, /^Cannot list Foo: the response has an item with more than 200 bytes$/],
    [`{"items":[1,${" ".repeat(201)}2]}`, /has an item with more than 200 bytes$/],
    ['{"items":[1,2,3,4,5]}', /has more than 4 items$/],
    ['{"items":[1],"items":[1,2],"items":[1,2,3,4]}', /has more than 4 items$/],
    ['{"items":[[1,1,1,1],[1,1,1,1],[1,1,1,1],[1,1]]}', /has more than 12 values, and more than one for 20 bytes$/],
    [`{"a":${texts(200)}}`, /has more than 200 bytes beside its items$/],
    [" ".repeat(201), /has more than 200 bytes beside its items$/],
    [`{${'"items":[],'.repeat(5)}`, /has more than 200 bytes beside its items$/],
  ];
  for (const [text, message] of bad) {
    for (const size of [1, 5, 1000]) {
      const error = assertThrows(() => read(text, [size], limits), message);
      assert(error instanceof InvalidResponseError);
    }
  }
});
