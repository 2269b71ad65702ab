import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { shardHash } from "../../api/mod.ts";
import { seededRandom } from "../../async/mod.ts";
import { allSlots, assignSlots, parseSlots, printSlots, shardSelector, slotCount, slotOf } from "./slots.ts";

test("the slot of a shard key is the first byte of its hash", () => {
  for (const text of ["", "a", "default", "0b5e2b3c-6f3c-4f0e-9c38-2f6d4c1e7a55"]) {
    assertEquals(slotOf(text), Number.parseInt(shardHash(text).slice(0, 2), 16));
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
