import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { seededRandom } from "../../async/mod.ts";
import { allSlots, assignSlots, parseSlots, printSlots, shardHash, shardSelector, slotCount, slotOf } from "./slots.ts";

/** FNV-1a as its definition says. */
function definedHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

test("shardHash() is 64-bit FNV-1a, and the slot is its first byte", () => {
  const random = seededRandom(1);
  const texts = ["", "a", "default", "größe", "日本", "0b5e2b3c-6f3c-4f0e-9c38-2f6d4c1e7a55"];
  for (let length = 0; length < 200; length++) {
    texts.push(Array.from({ length: length % 40 }, () => String.fromCharCode(32 + random.next() * 600)).join(""));
  }
  assertEquals(shardHash("a"), "af63dc4c8601ec8c"); // the value of the reference implementation
  for (const text of texts) {
    assertEquals(shardHash(text), definedHash(text), text);
    assertEquals(slotOf(text), Number.parseInt(definedHash(text).slice(0, 2), 16));
  }
});

test("shardSelector() joins neighbours, and ends with 2^64", () => {
  const field = "object.metadata.uid";
  assertEquals(
    shardSelector(new Set([0, 1, 5, 254, 255]), field),
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x0200000000000000') || " +
      "shardRange(object.metadata.uid, '0x0500000000000000', '0x0600000000000000') || " +
      "shardRange(object.metadata.uid, '0xfe00000000000000', '0x10000000000000000')",
  );
  assertEquals(shardSelector(allSlots, field), undefined);
  assertEquals(
    shardSelector(new Set(), "object.metadata.namespace"),
    "shardRange(object.metadata.namespace, '0x0000000000000000', '0x0000000000000001')",
  );
});

test("parseSlots() reads what printSlots() writes, and nothing else", () => {
  const random = seededRandom(2);
  for (let round = 0; round < 50; round++) {
    const slots = new Set([...allSlots].filter(() => random.next() < round / 49));
    assertEquals([...parseSlots(printSlots(slots)) ?? []], [...slots]);
  }
  for (const text of ["", "0", "f".repeat(63), "f".repeat(65), "F".repeat(64), "g".repeat(64)]) {
    assertEquals(parseSlots(text), undefined);
  }
});

test("assignSlots() gives each member its part, and does not depend on the order of the members", () => {
  for (let members = 1; members <= 20; members++) {
    const names = Array.from({ length: members }, (_, index) => `operator-${index * 7919 % 1000}-x`);
    const assigned = assignSlots(names);
    assertEquals(assignSlots([...names].reverse()), assigned);
    for (const name of names) {
      const part = assigned.filter((one) => one === name).length;
      const fair = slotCount / members;
      assert(part <= Math.ceil(fair * 1.05) && part >= fair * 0.5, `${name} of ${members} has ${part}`);
    }
  }
});

test("assignSlots() moves little more than its part when a member joins or leaves", () => {
  for (let members = 1; members <= 10; members++) {
    for (let round = 0; round < 20; round++) {
      const names = Array.from({ length: members }, (_, index) => `pod-${round}-${index}`);
      const before = assignSlots(names);
      const after = assignSlots([...names, `pod-${round}-new`]);
      const moved = before.filter((name, slot) => after[slot] !== name).length;
      const part = slotCount / (members + 1);
      assert(moved <= part * 1.25 + 4, `${moved} of ${slotCount} slots moved when member ${members + 1} joined`);
    }
  }
});
