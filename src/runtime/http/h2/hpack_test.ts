/** Tests of HPACK: the examples of RFC 7541, appendix C, what the encoder writes, and blocks that must be refused. */
import { assert, assertEquals, assertThrows, test } from "../../../../tests/testing.ts";
import { encodedFields, type Field, HpackDecoder } from "./hpack.ts";
import { huffmanDecoded } from "./huffman.ts";

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.replaceAll(" ", "").match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function decodedWith(decoder: HpackDecoder, block: Uint8Array): readonly string[] {
  const fields: string[] = [];
  decoder.decode(block, ([name, value]) => fields.push(`${name}: ${value}`));
  return fields;
}

const request = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
const examples: Readonly<Record<string, readonly (readonly [hex: string, fields: readonly string[]])[]>> = {
  "C.3, requests without the Huffman code": [
    ["828684410f7777772e6578616d706c652e636f6d", request],
    ["828684be58086e6f2d6361636865", [...request, "cache-control: no-cache"]],
    [
      "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
      [
        ":method: GET",
        ":scheme: https",
        ":path: /index.html",
        ":authority: www.example.com",
        "custom-key: custom-value",
      ],
    ],
  ],
  "C.4, requests with the Huffman code": [
    ["828684418cf1e3c2e5f23a6ba0ab90f4ff", request],
    ["828684be5886a8eb10649cbf", [...request, "cache-control: no-cache"]],
    [
      "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
      [
        ":method: GET",
        ":scheme: https",
        ":path: /index.html",
        ":authority: www.example.com",
        "custom-key: custom-value",
      ],
    ],
  ],
};

for (const [name, blocks] of Object.entries(examples)) {
  test(`the decoder reads the example ${name}`, () => {
    const decoder = new HpackDecoder();
    for (const [hex, fields] of blocks) assertEquals(decodedWith(decoder, bytesOf(hex)), fields);
  });
}

test("the decoder evicts the oldest entries at the size that the client chooses, as in example C.5", () => {
  const decoder = new HpackDecoder();
  const first = bytesOf(
    "3fe101 4803333032 580770726976617465 611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54" +
      "6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
  );
  const rest = [
    "cache-control: private",
    "date: Mon, 21 Oct 2013 20:13:21 GMT",
    "location: https://www.example.com",
  ];
  assertEquals(decodedWith(decoder, first), [":status: 302", ...rest]);
  assertEquals(decodedWith(decoder, bytesOf("4803333037c1c0bf")), [":status: 307", ...rest]);
  // Five entries would have 262 bytes; the status 302 has left.
  assertEquals(decodedWith(decoder, bytesOf("be")), [":status: 307"]);
  assertThrows(() => decodedWith(decoder, bytesOf("c2")), /an index has no entry/);
});

test("the decoder reads what the encoder writes, and the encoder uses no table", () => {
  const fields: readonly Field[] = [
    [":status", "200"],
    [":status", "418"],
    ["content-type", "application/json"],
    ["content-length", "0"],
    ["x-own", ""],
    ["x-long", "a".repeat(70_000)],
    ["x-bytes", "\x80\xff"],
  ];
  const decoder = new HpackDecoder();
  for (const tellsTableSize of [true, false]) {
    const block = encodedFields(fields, { tellsTableSize });
    assertEquals(decodedWith(decoder, block), fields.map(([name, value]) => `${name}: ${value}`));
    assertThrows(() => decodedWith(decoder, bytesOf("be")), /an index has no entry/);
  }
});

test("a block that is malformed ends the connection", () => {
  const cases: readonly (readonly [hex: string, reason: RegExp])[] = [
    ["80", /an index has no entry/],
    ["be", /an index has no entry/],
    ["ffffffffff7f", /a number is too large/],
    ["7f80ff7f", /an index has no entry/],
    ["3fe23f", /a table size is above the limit/],
    ["8220", /a table size is not at the start/],
    ["000561", /a string is longer than its block/],
    ["000161", /a block ends in the middle of a field/],
    ["0f", /a block ends in the middle of a field/],
    ["000161 84ffffffff", /it contains the end of the string/],
    ["000161 82 1fff", /its padding is wrong/],
    ["000161 81 18", /its padding is wrong/],
  ];
  for (const [hex, reason] of cases) assertThrows(() => decodedWith(new HpackDecoder(), bytesOf(hex)), reason);
});

test("the table holds at most 4096 bytes, and an entry above that empties it", () => {
  const decoder = new HpackDecoder();
  const entry = (value: string) =>
    new Uint8Array([0x40, 1, 0x78, ...numberOf(value.length), ...new TextEncoder().encode(value)]);
  decodedWith(decoder, entry("a".repeat(4063)));
  assertEquals(decodedWith(decoder, bytesOf("be")).length, 1);
  decodedWith(decoder, entry("a".repeat(4064)));
  assertThrows(() => decodedWith(decoder, bytesOf("be")), /an index has no entry/);
});

function numberOf(length: number): readonly number[] {
  const rest = length - 127;
  return [127, rest % 128 + 128, rest >> 7];
}

test("strings in the Huffman code are decoded, those of the last and the first byte too", () => {
  assertEquals(huffmanDecoded(bytesOf("")), "");
  // Appendix B: the code of byte 255 has 26 bits, the one of byte 0 has 13.
  assertEquals(huffmanDecoded(bytesOf("fffffbbf")), "\xff");
  assertEquals(huffmanDecoded(bytesOf("ffc7")), "\0");
  assert(
    huffmanDecoded(
      bytesOf("94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007"),
    )
      .startsWith("foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600"),
  );
});
