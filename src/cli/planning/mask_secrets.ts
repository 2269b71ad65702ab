/**
 * maskedPair(): the two states of an object without the values of Secrets, as `kubectl diff` masks them: `***` for a value
 * that stays, `*** (before)` and `*** (after)` for one that changes.
 *
 * Guarantees: neither values nor their lengths or hashes remain, also not in the annotation in which kubectl keeps what it
 * applied last.
 */
import { isDeepEqual, isJsonObject } from "../../api/mod.ts";
import type { JsonObject } from "./object_state.ts";

/** The states of an object before and after a change; absent where it does not exist. */
export interface StatePair {
  readonly before?: JsonObject;
  readonly after?: JsonObject;
}

/** The fields of a Secret with values. */
const valueFields = ["data", "stringData"];

/** The annotation with the whole object as JSON. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Returns both states; those of a Secret masked. @param collection `secrets` */
export function maskedPair(
  collection: string,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): StatePair {
  const [shownBefore, shownAfter] = collection === "secrets"
    ? [before && masked(before, after, "before"), after && masked(after, before, "after")]
    : [before, after];
  return {
    ...(shownBefore === undefined ? {} : { before: shownBefore }),
    ...(shownAfter === undefined ? {} : { after: shownAfter }),
  };
}

function masked(object: JsonObject, other: JsonObject | undefined, when: "before" | "after"): JsonObject {
  const fields = Object.entries(object).map(([field, value]) => {
    if (valueFields.includes(field)) return [field, maskedMap(value, other?.[field], when)];
    if (field !== "metadata" || !isJsonObject(value) || !isJsonObject(value.annotations)) return [field, value];
    const known = isJsonObject(other?.metadata) ? other.metadata.annotations : undefined;
    const annotations = Object.entries(value.annotations).map(([name, text]) =>
      name === lastApplied ? [name, maskOf(text, valueIn(known, name), when)] : [name, text]
    );
    return [field, { ...value, annotations: Object.fromEntries(annotations) }];
  });
  return Object.fromEntries(fields);
}

function maskedMap(values: unknown, others: unknown, when: "before" | "after"): unknown {
  if (!isJsonObject(values)) return "***";
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, maskOf(value, valueIn(others, name), when)]),
  );
}

function valueIn(map: unknown, name: string): unknown {
  return isJsonObject(map) && Object.hasOwn(map, name) ? map[name] : undefined;
}

function maskOf(value: unknown, other: unknown, when: "before" | "after"): string {
  return other === undefined || isDeepEqual(value, other) ? "***" : `*** (${when})`;
}
