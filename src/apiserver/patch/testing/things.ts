/** Things (see thing_schema.ts) for tests: their types, and an object with several managers. */
import { parseExactJson, printExactJson } from "../../../api/mod.ts";
import { type JsonObject, TypeLibrary, type TypeSchema } from "../../model/mod.ts";
import { applyConfiguration, applyConflict, type ApplyOutcome } from "../apply.ts";
import { type FieldSet, fieldSetOf } from "../field_set.ts";
import { type ManagedFields, withManagedFields } from "../managed_fields.ts";
import { thingComponents } from "./thing_schema.ts";
import { updateManagedFields } from "../update.ts";
import fc from "fast-check";

const library = new TypeLibrary(thingComponents);

/** The types of a Thing by apiVersion. */
export const thingTypes: ReadonlyMap<string, TypeSchema> = new Map([
  ["example.dev/v1", library.named("ThingV1")],
  ["example.dev/v2", library.named("ThingV2")],
]);

/** The type of a Thing in its first version. */
export const thingType: TypeSchema = library.named("ThingV1");

/** The type of a field in the spec of a Thing. */
export function specField(name: string): TypeSchema {
  const spec = thingType.kind === "struct" ? thingType.fields.get("spec") : undefined;
  const field = spec?.kind === "struct" ? spec.fields.get(name) : undefined;
  if (field === undefined) throw new RangeError(`Cannot test spec.${name}: the field does not exist`);
  return field;
}

/** A Thing with this spec. */
export function thing(spec: JsonObject, metadata: JsonObject = {}, apiVersion = "example.dev/v1"): JsonObject {
  return { apiVersion, kind: "Thing", metadata: { name: "t", namespace: "d", ...metadata }, spec };
}

/** Options of a write. */
export interface WriteOptions {
  /** @default "" */
  readonly subresource?: string;
  /** @default false */
  readonly isForced?: boolean;
  /** Milliseconds since 1970. @default 0 */
  readonly now?: number;
}

const status: FieldSet = fieldSetOf([["f:status"]]);
const allButStatus: FieldSet = fieldSetOf([["f:metadata"], ["f:spec"]]);

/** One Thing, to which several managers write. */
export class ThingStore {
  live: JsonObject | undefined;

  #context(manager: string, { subresource = "", now = 0 }: WriteOptions) {
    const resetFields = new Map([["example.dev/v1", subresource === "" ? status : allButStatus]]);
    return { live: this.live, type: thingType, apiVersion: "example.dev/v1", subresource, manager, now, resetFields };
  }

  /** Applies and stores. */
  try(manager: string, applied: JsonObject, options: WriteOptions = {}): ApplyOutcome {
    const { isForced = false } = options;
    const outcome = applyConfiguration({ ...this.#context(manager, options), applied, kind: "Thing", isForced });
    if (outcome instanceof Promise) throw new Error("Cannot test: the apply is asynchronous");
    if (outcome.kind === "merged") this.#store(outcome.object, outcome.managedFields);
    return outcome;
  }

  /** Applies and stores. @throws Refusal for conflicts */
  apply(manager: string, applied: JsonObject, options: WriteOptions = {}): void {
    const outcome = this.try(manager, applied, options);
    if (outcome.kind === "conflicts") throw applyConflict(outcome.conflicts);
  }

  /** Creates or replaces. */
  update(manager: string, updated: JsonObject, options: WriteOptions = {}): void {
    const managedFields = updateManagedFields({ ...this.#context(manager, options), updated });
    if (managedFields instanceof Promise) throw new Error("Cannot test: the apply is asynchronous");
    this.#store(updated, managedFields);
  }

  #store(object: JsonObject, managedFields: ManagedFields | undefined): void {
    // Everything in the text of a JsonObject is one.
    this.live = parseExactJson(printExactJson(withManagedFields(object, managedFields))) as JsonObject;
  }

  get spec(): unknown {
    return this.live?.["spec"];
  }

  /** `manager operation[/subresource] time fieldsV1`, an entry a line. */
  get owners(): readonly string[] {
    const metadata = this.live?.["metadata"];
    const list: readonly JsonObject[] = JSON.parse(JSON.stringify(metadata ?? {})).managedFields ?? [];
    return list.map(({ manager, operation, subresource, time, fieldsV1 }) =>
      `${manager} ${operation}${subresource === undefined ? "" : `/${subresource}`} ${time} ${JSON.stringify(fieldsV1)}`
    );
  }
}

const element = fc.constantFrom("f:a", "f:b", "f:__proto__", 'k:{"n":"x"}', 'k:{"n":"y"}', 'v:"x"', "v:1", "i:0");

/** Sets of up to eight paths, three elements deep. */
export const arbitraryFieldSet: fc.Arbitrary<FieldSet> = fc
  .array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 })
  .map((paths) => fieldSetOf(paths));
