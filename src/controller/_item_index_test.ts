import { assert, assertEquals, test } from "../../tests/testing.ts";
import { findExtraFields, hasDesiredValues } from "./_diff.ts";
import { itemIndexOf } from "./_item_index.ts";

const length = 2_000;

/** The first item with these keys, or without some of them: what a search finds. */
function searched(items: readonly Record<string, unknown>[], selected: Record<string, unknown>): unknown {
  return items.find((item) =>
    Object.entries(selected).every(([key, value]) => item[key] === undefined || hasDesiredValues(item[key], value))
  );
}

test("itemIndexOf() finds what a search finds, also for items that lack keys, and for equal numbers of two types", () => {
  const protocols = ["TCP", "UDP", undefined];
  const ports = [80, "80", 2 ** 60, 2n ** 60n, true, null, undefined];
  const items = Array.from({ length: 100 }, (_, at) => ({ port: ports[at % 7], protocol: protocols[at % 3], at }));
  const index = itemIndexOf([...items, ...items, "x", null]);
  for (const port of ports.filter((one) => one !== undefined)) {
    for (const protocol of ["TCP", "UDP", "SCTP"]) {
      const selected = { port, protocol };
      assertEquals(index?.find(selected), searched(items, selected));
      assertEquals(index?.find({ port }), searched(items, { port }));
    }
  }
  assertEquals(index?.find("port"), undefined);
  assertEquals(["x", "y", "null"].map((text) => index?.has(text)), [true, false, false]);
});

test("itemIndexOf() has no index for what is no list, or a short one", () => {
  assertEquals([undefined, {}, "x", [1, 2]].map(itemIndexOf), [undefined, undefined, undefined, undefined]);
});

test("findExtraFields() reads each item of a long list a few times, not once for each other item", () => {
  let reads = 0;
  const item = (at: number) => ({
    get name() {
      reads++;
      return `item-${at}`;
    },
  });
  const items = Array.from({ length }, (_, at) => item(at));
  const tags = items.map(({ name }) => name);
  const keys = Object.fromEntries(tags.map((name) => [`k:{"name":"${name}"}`, { ".": {}, "f:name": {} }]));
  const values = Object.fromEntries(tags.map((name) => [`v:"${name}"`, {}]));
  const fieldsV1 = {
    "f:spec": { "f:items": { ...keys, 'k:{"name":"old"}': {} }, "f:tags": { ...values, 'v:"old"': {} } },
  };
  const live = {
    apiVersion: "example.dev/v1",
    kind: "Foo",
    metadata: { name: "a", managedFields: [{ manager: "foo", operation: "Apply" as const, fieldsV1 }] },
    spec: { items, tags },
  };
  reads = 0;
  const found = findExtraFields(live, { spec: { items, tags } }, "foo").map(({ field }) => field);
  assertEquals(found, ['spec.items.{"name":"old"}', 'spec.tags."old"']);
  assert(reads <= 10 * length, `${reads} reads of ${length} items`);
});
