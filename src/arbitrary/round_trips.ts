/**
 * assertRoundTrips(): tests a conversion with random valid objects: from each version to each other one and back, nothing is
 * lost. It does what the API server does: after each conversion it drops unknown fields and sets defaults.
 *
 * Guarantees: the same seed gives the same objects. The error shows the smallest object that fast-check finds.
 */
import fc from "fast-check";
import { apiVersionOf, parseExactJson, printExactJson } from "../api/mod.ts";
import { type VersionSchema, versionSchemaOf } from "../apiserver/mod.ts";
import { customDefinitions } from "../manager/mod.ts";
import type { Crd, CrdVersion, Json } from "../schema/mod.ts";
import type { ConversionWebhook } from "../webhook/mod.ts";
import { arbitraryObject, type JsonObject } from "./arbitrary_object.ts";

/** Options of {@link assertRoundTrips}. */
export interface RoundTripOptions {
  /** Objects for each pair of versions. @default 100 */
  readonly runs?: number;
  /** The source of the objects. @default 1 */
  readonly seed?: number;
  /**
   * Values of fields whose rules random values do not satisfy, by path: `"spec.schedule"`, `"spec.items[].name"` for an item
   * of a list, `"spec.labels.*"` for a value of a map. They apply to all versions.
   * @default none
   */
  readonly values?: Readonly<Record<string, readonly Json[]>>;
}

/**
 * Fails unless random valid objects survive the way from each version of a kind to each other version and back. Call it in a
 * test of each conversion.
 *
 * Everything must come back but labels and annotations that the conversion adds: those may store what the other version does
 * not have. The converted object must be valid in its version, too, because nobody could update it otherwise.
 *
 * @param webhook The conversion of the kind.
 * @throws Error that shows the smallest object that is not converted, becomes invalid, or loses something
 *
 * @example
 * ```ts
 * import { defineResource, z } from "@pintle/controller";
 * import { assertRoundTrips } from "@pintle/controller/testing";
 * import { convertible, converting } from "@pintle/controller/webhook";
 *
 * const base = { group: "example.dev", kind: "Site", scope: "Namespaced" } as const;
 * const SiteV1 = defineResource({ ...base, version: "v1", spec: z.object({ host: z.string() }) });
 * const SiteV2 = defineResource({ ...base, version: "v2", spec: z.object({ hosts: z.array(z.string()).min(1).max(1) }) });
 * const conversion = converting(SiteV2, [
 *   convertible<typeof SiteV1, typeof SiteV2>(SiteV1, {
 *     toHub: ({ spec, ...rest }) => ({ ...rest, spec: { hosts: [spec.host] } }),
 *     fromHub: ({ spec, ...rest }) => ({ ...rest, spec: { host: spec.hosts[0] ?? "" } }),
 *   }),
 * ]);
 * assertRoundTrips(conversion);
 * ```
 */
export function assertRoundTrips(webhook: ConversionWebhook, options: RoundTripOptions = {}): void {
  const versions = versionsOf(webhook);
  for (const from of versions) {
    for (const to of versions) if (from !== to) assertRoundTrip(webhook, { from, to, options });
  }
}

/** One version of the kind. */
interface Version {
  readonly name: string;
  readonly apiVersion: string;
  readonly definition: CrdVersion;
  readonly isNamespaced: boolean;
  readonly server: VersionSchema;
}

function versionsOf(webhook: ConversionWebhook): readonly Version[] {
  const [crd] = customDefinitions([{ watches: [], webhooks: [webhook] }]);
  if (crd === undefined) {
    throw new TypeError(`Cannot test the conversion of ${webhook.resource.kind}: it is not made by defineResource()`);
  }
  return crd.spec.versions.map((definition) => versionOf(crd, definition));
}

function versionOf({ spec: { group, scope } }: Crd, definition: CrdVersion): Version {
  const { name, schema: { openAPIV3Schema: schema } } = definition;
  return {
    name,
    apiVersion: apiVersionOf({ group, version: name }),
    definition,
    isNamespaced: scope === "Namespaced",
    server: versionSchemaOf(JSON.parse(JSON.stringify(schema))),
  };
}

interface RoundTrip {
  readonly from: Version;
  readonly to: Version;
  readonly options: RoundTripOptions;
}

function assertRoundTrip(webhook: ConversionWebhook, { from, to, options }: RoundTrip): void {
  const { runs = 100, seed = 1, values = {} } = options;
  const { kind } = webhook.resource;
  const { apiVersion, isNamespaced, definition: { schema } } = from;
  const objects = arbitraryObject({ apiVersion, kind, isNamespaced, schema: schema.openAPIV3Schema, values });
  const isLossless = (object: JsonObject) => problemOf(webhook, object, { from, to }) === undefined;
  const { counterexample, failed, errorInstance } = fc.check(fc.property(objects, isLossless), { numRuns: runs, seed });
  if (!failed) return;
  const [object] = counterexample ?? [];
  if (object === undefined) throw errorInstance;
  const problem = problemOf(webhook, object, { from, to }) ?? String(errorInstance);
  throw new Error(
    `Cannot convert ${kind} from ${from.name} to ${to.name} and back: ${problem}\n` +
      `Object: ${printExactJson(object, 2)}\nFound with seed ${seed}`,
  );
}

/** Why an object does not survive; undefined when it does. */
function problemOf(
  webhook: ConversionWebhook,
  object: JsonObject,
  { from, to }: Pick<RoundTrip, "from" | "to">,
): string | undefined {
  let step = `the conversion to ${to.name}`;
  try {
    const there = to.server.normalized(converted(webhook, object, to));
    const [problem] = to.server.problems(there);
    if (problem !== undefined) return `${step} gives an invalid object: ${problem}`;
    step = `the conversion back to ${from.name}`;
    const back = from.server.normalized(converted(webhook, there, from));
    const lost = firstDifference(object, back, "");
    return lost === undefined ? undefined : `${lost}. Keep what ${to.name} does not have in an annotation`;
  } catch (error) {
    return `${step} throws: ${error instanceof Error ? error.message : error}`;
  }
}

/** Converts a copy, as the webhook gets one over the network. */
function converted(webhook: ConversionWebhook, object: JsonObject, { apiVersion }: Version): JsonObject {
  const copy = webhook.convert(structuredClone(object), apiVersion);
  return parseExactJson(printExactJson(copy)) as JsonObject;
}

/** A conversion may add to these. */
const extensible: ReadonlySet<string> = new Set(["metadata.labels", "metadata.annotations"]);

/** The first value that differs, as a sentence without a full stop. */
function firstDifference(before: Json | undefined, after: Json | undefined, path: string): string | undefined {
  const [old, current] = [fieldsOf(before), fieldsOf(after)];
  if (old === undefined || current === undefined || Array.isArray(before) !== Array.isArray(after)) {
    const isEqual = printExactJson(before) === printExactJson(after) || (extensible.has(path) && before === undefined);
    return isEqual ? undefined : `${path} was ${shown(before)} and is ${shown(after)}`;
  }
  const added = extensible.has(path) ? [] : [...current.keys()].filter((key) => !old.has(key));
  for (const key of [...old.keys(), ...added]) {
    const at = Array.isArray(before) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    const found = firstDifference(old.get(key), current.get(key), at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function fieldsOf(value: Json | undefined): ReadonlyMap<string, Json> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

function shown(value: Json | undefined): string {
  return value === undefined ? "absent" : printExactJson(value);
}
