import { assertEquals, test } from "../../tests/testing.ts";
import { seededRandom } from "../async/mod.ts";
import { shardHash } from "./shard_hash.ts";

/** FNV-1a as its definition says. */
function definedHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

test("shardHash() is 64-bit FNV-1a of the UTF-8 of a text", () => {
  const random = seededRandom(1);
  const texts = ["", "a", "default", "größe", "日本", "0b5e2b3c-6f3c-4f0e-9c38-2f6d4c1e7a55"];
  for (let length = 0; length < 200; length++) {
    texts.push(Array.from({ length: length % 40 }, () => String.fromCharCode(32 + random.next() * 600)).join(""));
  }
  assertEquals(shardHash("a"), "af63dc4c8601ec8c"); // the value of the reference implementation
  for (const text of texts) {
    assertEquals(shardHash(text), definedHash(text), text);
  }
});
