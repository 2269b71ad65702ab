/**
 * Histories of writes to a Thing (see thing_schema_test_data.ts), for the comparison with Kubernetes' own libraries: any
 * manager applies or updates, in either version, with few names and values, so that conflicts are frequent.
 */
import fc from "fast-check";
import type { Json, JsonObject } from "../../src/apiserver/model/mod.ts";

/** One write. */
export interface ThingWrite {
  readonly how: "apply" | "update";
  readonly version: "v1" | "v2";
  readonly manager: string;
  readonly isForced: boolean;
  readonly subresource: "" | "status";
  readonly object: JsonObject;
}

const word = fc.constantFrom("a", "b", "c");
const number = fc.constantFrom(1, 2, 3);

/** A value, and now and then null. */
function nullable<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ arbitrary: value, weight: 14 }, { arbitrary: fc.constant(null), weight: 1 });
}

/** An object that may lack any of its fields. */
function partial(fields: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<JsonObject> {
  const all = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, nullable(field)]));
  return fc.record(all, { requiredKeys: [] }).map((object) => JSON.parse(JSON.stringify(object)));
}

/** An object with keys that are anything. */
function mapOf(values: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  const key = fc.constantFrom("a", "b", "x<y", "__proto__", "toString");
  return fc.dictionary(key, values, { maxKeys: 3 }).map((object) => JSON.parse(JSON.stringify(object)));
}

/** A list whose items differ, mostly. */
function listOf(items: fc.Arbitrary<Json>, selector: (item: Json) => unknown): fc.Arbitrary<Json> {
  return fc.oneof(
    { arbitrary: fc.uniqueArray(items, { maxLength: 3, selector }), weight: 20 },
    { arbitrary: fc.array(items, { maxLength: 4 }), weight: 1 },
  );
}

const words = listOf(word, (item) => item);
const item = partial({ name: word, value: word, tags: words, options: mapOf(word) });
const namedItem = fc.tuple(word, item).map(([name, rest]): JsonObject => ({ ...rest, name }));
const port = fc.tuple(number, fc.option(fc.constantFrom("TCP", "UDP")), fc.option(word))
  .map(([port, protocol, name]): JsonObject => ({
    port,
    ...(protocol === null ? {} : { protocol }),
    ...(name === null ? {} : { name }),
  }));

const anything: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    word,
    number,
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 2 }),
    mapOf(tie("value")),
  ),
})).value;

function keyOf(item: Json): unknown {
  return JSON.stringify(item, ["name"]);
}

function portKey(item: Json): unknown {
  return JSON.stringify({ protocol: "TCP", ...JSON.parse(JSON.stringify(item, ["port", "protocol"])) });
}

function specOf(renamed: string): fc.Arbitrary<JsonObject> {
  return partial({
    [renamed]: word,
    replicas: number,
    paused: fc.boolean(),
    labels: mapOf(word),
    groups: mapOf(item),
    items: listOf(namedItem, keyOf),
    ports: listOf(port, portKey),
    tags: words,
    numbers: listOf(number, (item) => item),
    args: fc.array(word, { maxLength: 2 }),
    volumes: fc.array(item, { maxLength: 2 }),
    selector: item,
    template: item,
    wholeMap: mapOf(word),
    free: mapOf(anything),
    open: fc.tuple(mapOf(anything), partial({ known: word })).map(([rest, known]): JsonObject => ({
      ...rest,
      ...known,
    })),
    anything,
  });
}

/** Specs that do not fit the type; only appliers send them, as an update is validated before it is tracked. */
const misfit = fc.constantFrom<Json>(
  { nothing: 1 },
  { replicas: "x" },
  { paused: 1 },
  { items: [{ value: "a" }] },
  { items: {} },
  { tags: [null] },
  { tags: [{}] },
  { labels: "x" },
  { labels: { a: [1, { b: null }] } },
  { ports: [null] },
  { volumes: [{ nothing: 1 }] },
  "x",
);

const metadata = partial({ labels: mapOf(word), annotations: mapOf(word), finalizers: words })
  .map((rest): JsonObject => ({ ...rest, name: "t", namespace: "d" }));
const status = partial({ ready: number, conditions: fc.array(item, { maxLength: 2 }) });

function write(how: "apply" | "update", version: "v1" | "v2"): fc.Arbitrary<ThingWrite> {
  const spec: fc.Arbitrary<Json> = specOf(version === "v1" ? "alpha" : "beta");
  const specs = how === "update" ? spec : fc.oneof({ arbitrary: spec, weight: 25 }, { arbitrary: misfit, weight: 1 });
  return fc.record({
    how: fc.constant(how),
    version: fc.constant(version),
    manager: fc.constantFrom("m1", "m2", "m3", "kubectl"),
    isForced: fc.boolean(),
    subresource: fc.constantFrom<"" | "status">("", "", "", "status"),
    object: fc.record({ metadata, spec: specs, status }, { requiredKeys: ["metadata"] }),
  });
}

/** Up to eight writes to one Thing. */
export const arbitraryHistory: fc.Arbitrary<readonly ThingWrite[]> = fc.array(
  fc.oneof(
    write("apply", "v1"),
    write("apply", "v1"),
    write("update", "v1"),
    write("apply", "v2"),
    write("update", "v2"),
  ),
  { minLength: 1, maxLength: 8 },
);
