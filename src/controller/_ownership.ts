/**
 * Reads `metadata.managedFields`: which of the fields that our field manager owns by Apply are more than what is wanted
 * now, so that an apply would take them away. Values the server defaulted in fields that we never named do not count:
 * they are not ours.
 *
 * Format: structured-merge-diff, `fieldpath/serialize`. A field without fields below it is owned as a whole: if there is
 * more in it than is wanted, either we wanted more of it once or the server fills it in. Only an apply can tell
 * (`_filled_in.ts`).
 */
import type { KubeObject } from "../api/mod.ts";
import { type Deviation, holds } from "./_same.ts";

type Json = Readonly<Record<string, unknown>>;

/** The fields that `manager` owns by Apply in `live` and that are more than `wanted`. */
export function surplusOf(live: KubeObject, wanted: unknown, manager: string): readonly Deviation[] {
  const found: Deviation[] = [];
  for (const entry of live.metadata.managedFields ?? []) {
    const isOurs = entry.manager === manager && entry.operation === "Apply" && entry.subresource === undefined;
    if (isOurs && entry.fieldsV1 !== undefined) collect(entry.fieldsV1, { live, wanted, field: "" }, found);
  }
  return found;
}

function collect(fields: Json, place: Deviation, found: Deviation[]): void {
  for (const [step, below] of Object.entries(fields)) {
    if (step === ".") continue;
    const field = `${place.field}${place.field === "" ? "" : "."}${step.slice(2)}`;
    const here = { field, live: follow(place.live, step), wanted: follow(place.wanted, step) };
    const isWhole = !isObject(below) || Object.keys(below).length === 0;
    if (here.wanted === undefined) found.push(here);
    else if (!isWhole) collect(below, here, found);
    else if (!step.startsWith("v:") && holdsMore(here.live, here.wanted)) found.push(here);
  }
}

/** True when there is a key somewhere in `live` that is not in `wanted`. */
function holdsMore(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(live) && Array.isArray(wanted)) return live.some((item, at) => holdsMore(item, wanted[at]));
  if (!isObject(live) || !isObject(wanted)) return false;
  return Object.keys(live).some((key) => {
    const below = Object.hasOwn(wanted, key) ? wanted[key] : undefined;
    return below === undefined || holdsMore(live[key], below);
  });
}

function follow(value: unknown, step: string): unknown {
  const selector = step.slice(2);
  switch (step.slice(0, 2)) {
    case "f:":
      return isObject(value) && Object.hasOwn(value, selector) ? value[selector] : undefined;
    case "k:": {
      const keys: unknown = JSON.parse(selector);
      return Array.isArray(value) ? value.find((item) => hasKeys(item, keys)) : undefined;
    }
    case "v:": {
      const wanted: unknown = JSON.parse(selector);
      return Array.isArray(value) && value.some((item) => holds(item, wanted)) ? value : undefined;
    }
    case "i:":
      return Array.isArray(value) ? value[Number(selector)] : undefined;
    default:
      return undefined;
  }
}

/** Keys that the server defaults (a port's protocol) may be missing in what we wrote: then they do not decide. */
function hasKeys(item: unknown, keys: unknown): boolean {
  if (!isObject(item) || !isObject(keys)) return false;
  return Object.entries(keys).every(([key, value]) => item[key] === undefined || holds(item[key], value));
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
