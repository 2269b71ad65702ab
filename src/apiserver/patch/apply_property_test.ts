import fc from "fast-check";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { isSameJson, type Json, type JsonObject, read } from "../model/mod.ts";
import { compareFields, ownedFields } from "./compare_fields.ts";
import { type FieldSet, hasField, intersectionOf, isEmptySet, pathsOf, unionOf } from "./field_set.ts";
import { managedFieldsOf, type Managers, readManagers } from "./managed_fields.ts";
import { mergeValues } from "./updater.ts";
import { thing, ThingStore, thingType } from "./testing/things.ts";

const word = fc.constantFrom("a", "b", "c");
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 3 });
const map = fc.dictionary(word, word, { minKeys: 1, maxKeys: 3 }).map((value): JsonObject => ({ ...value }));
const item = fc.record({ name: word, value: word, tags: words, options: map }, { requiredKeys: ["name"] });
const items = fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: ({ name }) => name });

/** Configurations that fit the type, without null and empty values: an empty list has no owner. */
const spec: fc.Arbitrary<JsonObject> = fc.record({
  alpha: word,
  replicas: fc.constantFrom(1, 2),
  labels: map,
  items,
  tags: words,
  args: words,
  wholeMap: map,
  template: item,
  free: fc.record({ p: fc.record({ q: word, r: words }, { requiredKeys: ["q"] }) }),
}, { requiredKeys: ["alpha"] }).map((value): JsonObject => JSON.parse(JSON.stringify(value)));

/** An apply or update of one manager. */
const write = fc.record({ who: fc.constantFrom("alice", "bob", "carol"), spec, isUpdate: fc.boolean() });
const history = fc.array(write, { maxLength: 5 });

function replayed(writes: readonly { who: string; spec: JsonObject; isUpdate: boolean }[]): ThingStore {
  const store = new ThingStore();
  for (const { who, spec, isUpdate } of writes) {
    if (isUpdate) store.update(who, { ...store.live, ...thing(spec) });
    else store.apply(who, thing(spec), { isForced: true });
  }
  return store;
}

function managersOf(store: ThingStore): Managers {
  return readManagers(store.live === undefined ? undefined : managedFieldsOf(store.live));
}

function fieldsOf(store: ThingStore, name: string): FieldSet {
  for (const manager of managersOf(store).values()) {
    if (manager.name === name && manager.operation === "Apply") return manager.fields;
  }
  return {};
}

const specPart = (config: JsonObject) => ownedFields({ spec: read(config, "spec") ?? null }, thingType);

test("a repeated apply changes nothing", () => {
  fc.assert(fc.property(history, spec, (writes, config) => {
    const store = replayed(writes);
    store.apply("alice", thing(config), { isForced: true });
    const once = store.live;
    store.apply("alice", thing(config));
    assertEquals(JSON.stringify(store.live), JSON.stringify(once));
  }));
});

test("after an apply, the manager owns exactly the fields of its configuration, with their values", () => {
  fc.assert(fc.property(history, spec, (writes, config) => {
    const store = replayed(writes);
    store.apply("alice", thing(config), { isForced: true });
    const { live } = store;
    assert(live !== undefined);
    assertEquals(JSON.stringify(fieldsOf(store, "alice")), JSON.stringify(specPart(thing(config))));
    assert(isSameJson(mergeValues(live, thing(config), thingType), live));
  }));
});

test("a second manager conflicts exactly on the fields of other managers with other values", () => {
  fc.assert(fc.property(history, spec, (writes, config) => {
    const store = replayed(writes);
    const { live } = store;
    if (live === undefined) return;
    const others = [...managersOf(store).values()].filter(({ name, operation }) =>
      name !== "alice" || operation !== "Apply"
    );
    const owned = others.reduce((set: FieldSet, { fields }) => unionOf(set, fields), {});
    const merged: Json = mergeValues(live, thing(config), thingType) ?? null;
    const comparison = compareFields(live, merged, thingType);
    const changed = comparison === undefined ? {} : unionOf(comparison.added, comparison.modified);
    const expected = intersectionOf(owned, changed);
    const outcome = store.try("alice", thing(config));
    if (isEmptySet(expected)) assertEquals(outcome.kind, "merged");
    else {
      assert(outcome.kind === "conflicts");
      const found = outcome.conflicts.map(({ path }) => path.join(" "));
      assertEquals([...new Set(found)].sort(), [...pathsOf(expected)].map((path) => path.join(" ")).sort());
    }
  }));
});

test("an apply removes the fields it leaves out, except those that other managers own", () => {
  fc.assert(fc.property(history, spec, spec, (writes, first, then) => {
    const store = replayed(writes);
    store.apply("alice", thing(first), { isForced: true });
    const others = [...managersOf(store).values()].filter(({ name, operation }) =>
      name !== "alice" || operation !== "Apply"
    );
    const before = store.live ?? {};
    store.apply("alice", thing(then), { isForced: true });
    const after = ownedFields(store.live ?? {}, thingType);
    const now = specPart(thing(then));
    // An item is removed with all its updated fields, unless another manager owns the item.
    for (const { fields } of others.filter(({ operation }) => operation === "Apply")) {
      for (const path of pathsOf(intersectionOf(fields, ownedFields(before, thingType)))) {
        assert(hasField(after, path), path.join(" "));
      }
    }
    for (const path of pathsOf(specPart(thing(first)))) {
      const isOwned = others.some(({ fields }) => isUnder(fields, path));
      if (!isOwned && !isUnder(now, path)) assert(!hasField(after, path), path.join(" "));
    }
  }));
});

/** True when the field, or something below it, is in the set. */
function isUnder(set: FieldSet, path: readonly string[]): boolean {
  let current: FieldSet | undefined = set;
  for (const element of path) {
    current = current !== undefined && Object.hasOwn(current, element) ? current[element] : undefined;
  }
  return current !== undefined;
}

test("after any sequence of writes, managers own only existing fields", () => {
  fc.assert(fc.property(history, (writes) => {
    const store = replayed(writes);
    if (store.live === undefined) return;
    const all = ownedFields(store.live, thingType);
    const created = unionOf(all, compareFields({}, store.live, thingType)?.added ?? {});
    for (const { fields } of managersOf(store).values()) {
      for (const path of pathsOf(fields)) assert(hasField(created, path), path.join(" "));
    }
  }));
});
