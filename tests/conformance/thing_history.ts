/**
 * A history of writes to a Thing by patch/, and its part that can be compared with Kubernetes' libraries: all except
 * times and the order of Go maps.
 */
import {
  draftOf,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  put,
  read,
  StatusError,
} from "../../src/apiserver/model/mod.ts";
import {
  applyConfiguration,
  applyConflict,
  type Convert,
  type FieldContext,
  fieldSetOf,
  updateManagedFields,
  withManagedFields,
} from "../../src/apiserver/patch/mod.ts";
import { thingTypes } from "../../src/apiserver/patch/testing/things.ts";
import type { ThingWrite } from "./arbitrary_writes.ts";

const stored = "example.dev/v1";

/** A Thing in another version, where `spec.alpha` is called `spec.beta`. */
const convert: Convert = (object, apiVersion) => {
  const type = thingTypes.get(apiVersion);
  if (type === undefined) return undefined;
  if (object["apiVersion"] === apiVersion) return { object, type };
  const [from, to] = apiVersion === stored ? ["beta", "alpha"] : ["alpha", "beta"];
  const converted: JsonObject = { ...object, apiVersion };
  const { spec } = object;
  if (!isJsonObject(spec) || !Object.hasOwn(spec, from)) return { object: converted, type };
  const renamed: Record<string, Json> = {};
  for (const [name, value] of Object.entries(spec)) put(renamed, name === from ? to : name, value);
  return { object: { ...converted, spec: renamed }, type };
};

async function inVersion(object: JsonObject, apiVersion: string): Promise<JsonObject> {
  return (await convert(object, apiVersion))?.object ?? object;
}

function contextOf(write: ThingWrite, isLate: boolean): FieldContext {
  const apiVersion = `example.dev/${write.version}`;
  const type = thingTypes.get(apiVersion);
  if (type === undefined) throw new RangeError(`Cannot write a Thing of ${apiVersion}: the version does not exist`);
  const fields = fieldSetOf(write.subresource === "" ? [["f:status"]] : [["f:metadata"], ["f:spec"]]);
  return {
    type,
    apiVersion,
    subresource: write.subresource,
    manager: write.manager,
    now: 0,
    resetFields: new Map([...thingTypes.keys()].map((version) => [version, fields])),
    convert: isLate ? async (object, version) => await convert(object, version) : convert,
  };
}

/** The object after each write, or the error, in the form of the libraries. */
export async function replay(writes: readonly ThingWrite[]): Promise<readonly Json[]> {
  const outcomes: Json[] = [];
  let live: JsonObject | undefined;
  for (const [index, write] of writes.entries()) {
    const context = contextOf(write, index % 2 === 1);
    const before = live === undefined ? undefined : await inVersion(live, context.apiVersion);
    const object: JsonObject = { ...write.object, apiVersion: context.apiVersion, kind: "Thing" };
    try {
      const after = await written(write, context, before, object);
      live = draftOf(await inVersion(withUid(after), stored));
      outcomes.push({ live });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      outcomes.push({ status: JSON.parse(JSON.stringify(error.status)), error: error.message });
    }
  }
  return outcomes;
}

async function written(
  write: ThingWrite,
  context: FieldContext,
  live: JsonObject | undefined,
  object: JsonObject,
): Promise<JsonObject> {
  if (write.how === "update") {
    const updated = live === undefined ? object : withUid(object);
    return withManagedFields(updated, await updateManagedFields({ ...context, live, updated }));
  }
  const { isForced } = write;
  const outcome = await applyConfiguration({ ...context, live, applied: object, kind: "Thing", isForced });
  if (outcome.kind === "conflicts") throw applyConflict(outcome.conflicts);
  return withManagedFields(outcome.object, outcome.managedFields);
}

function withUid(object: JsonObject): JsonObject {
  const metadata = read(object, "metadata");
  return { ...object, metadata: { ...(isJsonObject(metadata) ? metadata : {}), uid: "u" } };
}

/** A response without values that may differ. */
export function comparable(outcome: Json): Json {
  if (!isJsonObject(outcome)) return outcome;
  const live = read(outcome, "live");
  if (isJsonObject(live)) return ordered(live);
  const status = read(outcome, "status");
  const details = isJsonObject(status) ? read(status, "details") : undefined;
  const causes = isJsonObject(details) ? read(details, "causes") : undefined;
  // Only the end of the real server's text for a 500 comes from the libraries.
  if (!isJsonArray(causes)) return linesOf(String(read(outcome, "error")).replace(/^failed to [^:]*: (?=[.e])/, ""));
  return [linesOf(String(read(outcome, "error"))), causes.map((cause) => JSON.stringify(ordered(cause))).sort()];
}

function linesOf(text: string): Json {
  return text.replace(/^.*?failed to (prune|compare|convert|create)[^.]*?: (?=[.e])/, "").split("\n").sort();
}

/** Sorts keys and entries of managed fields, and reduces times to their presence. */
function ordered(value: Json): Json {
  if (isJsonArray(value)) return value.map(ordered);
  if (!isJsonObject(value)) return value;
  const result: [string, Json][] = [];
  for (const key of Object.keys(value).sort()) {
    const field = read(value, key) ?? null;
    if (key === "managedFields" && isJsonArray(field)) {
      result.push([key, field.map((entry) => JSON.stringify(ordered(withoutTime(entry)))).sort()]);
    } else result.push([key, ordered(field)]);
  }
  return result;
}

function withoutTime(entry: Json): Json {
  return isJsonObject(entry) && Object.hasOwn(entry, "time") ? { ...entry, time: "some" } : entry;
}
