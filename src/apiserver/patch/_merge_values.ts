/**
 * mergeValues: what an object is after somebody applied a configuration to it, before the fields go that they no longer
 * apply. A leaf is taken from the configuration, everything it does not mention stays. The items of a list keep their order
 * as long as the configuration has nothing to say about it.
 */
import type { Json, ListSchema, TypeSchema } from "../model/mod.ts";
import { put } from "../model/mod.ts";
import { itemElement } from "./_element.ts";
import { FieldsError } from "./_fields_error.ts";
import { elementText } from "./_element.ts";
import { fieldsOf, fieldTypeOf, isHollow, itemsOf, shapeOf } from "./_shape.ts";

/**
 * The live value with the applied one merged into it. Parts that did not change are shared with the live one.
 *
 * @throws FieldsError when an item of a list cannot be told from others
 */
export function mergeValues(live: Json | undefined, applied: Json | undefined, type: TypeSchema): Json | undefined {
  if (applied === undefined || live === applied) return live;
  if (live === undefined) return applied;
  const shape = shapeOf(type, applied);
  if (shape === "leaf" || (isHollow(shape, live) && isHollow(shape, applied))) return applied;
  if (isHollow(shape, applied)) return live;
  return shape === "list" && type.kind === "list"
    ? mergeItems(itemsOf(live), itemsOf(applied), type)
    : mergeObjects(live, applied, type);
}

function mergeObjects(live: Json, applied: Json, type: TypeSchema): Json {
  const [old, config] = [fieldsOf(live), fieldsOf(applied)];
  const merged: Record<string, Json> = { ...old };
  let isChanged = false;
  for (const name of Object.keys(config)) {
    const before = Object.hasOwn(old, name) ? old[name] : undefined;
    const after = mergeValues(before, config[name], fieldTypeOf(type, name));
    if (after === before || after === undefined) continue;
    put(merged, name, after);
    isChanged = true;
  }
  return isChanged ? merged : old;
}

/** A list with its items by element. */
interface Indexed {
  readonly elements: readonly string[];
  /** The item of an element; undefined where several items have it, as those are not merged. */
  readonly items: ReadonlyMap<string, Json | undefined>;
}

function indexed(items: readonly Json[], type: ListSchema, mayRepeat: boolean): Indexed {
  const found = new Map<string, Json | undefined>();
  const elements: string[] = [];
  for (const item of items) {
    const element = itemElement(item, type);
    const isRepeated = found.has(element);
    if (isRepeated && !mayRepeat) {
      throw new FieldsError([{ path: "", message: `duplicate entries for key ${elementText(element)}` }]);
    }
    found.set(element, isRepeated ? undefined : item);
    elements.push(element);
  }
  return { elements, items: found };
}

/**
 * Items of both keep the order of the configuration, and the others their places between them: an item that only the live
 * list has goes before the next one both have.
 */
function mergeItems(live: readonly Json[], applied: readonly Json[], type: ListSchema): Json {
  const old = indexed(live, type, true);
  const config = indexed(applied, type, false);
  const shared = config.elements.filter((element) => old.items.has(element));
  const done = new Set<string>();
  const merged: Json[] = [];
  let [l, r, next] = [0, 0, 0];
  const take = (element: string): void => {
    const item = mergeValues(old.items.get(element), config.items.get(element), type.items);
    if (item !== undefined) merged.push(item);
    done.add(element);
    if (shared[next] === element) next++;
  };
  while (l < old.elements.length || r < config.elements.length) {
    const [ours, theirs] = [old.elements[l], config.elements[r]];
    if (ours !== undefined && ours === theirs) {
      take(ours);
      l++;
      r++;
    } else if (ours !== undefined && !config.items.has(ours)) {
      merged.push(live[l] ?? null);
      l++;
    } else if (ours !== undefined && theirs !== undefined && next < shared.length && shared[next] !== ours) {
      l++;
    } else if (theirs !== undefined) {
      if (ours !== undefined && done.has(ours)) l++;
      take(theirs);
      r++;
    } else l++;
  }
  return isSameList(merged, live) ? live : merged;
}

function isSameList(left: readonly Json[], right: readonly Json[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
