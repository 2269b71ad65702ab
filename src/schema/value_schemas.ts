/**
 * zod schemas for values that Kubernetes has and zod does not: integers or strings, integers of 64 bits, quantities, embedded objects, and
 * immutable values.
 */
import { z } from "zod";
import { metaOf } from "./_zod.ts";

/** The syntax of `resource.Quantity`, e.g. `100m`, `1.5Gi`, `2e3`. Source: controller-gen's known types. */
const quantityPattern =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;

/**
 * Creates a zod schema for an integer or a string: a port number or name, a count or a percentage.
 *
 * @example
 * ```ts
 * import { intOrString } from "@pintle/controller";
 *
 * console.assert(intOrString().parse("25%") === "25%" && intOrString().parse(3) === 3);
 * ```
 */
export function intOrString(): z.ZodUnion<readonly [z.ZodInt32, z.ZodString]> {
  return z.union([z.int32(), z.string()]);
}

/** The bounds of {@link int64} and {@link integer}. */
export interface IntegerBounds {
  /** The smallest value. @default none */
  readonly min?: number;
  /** The largest value. @default none */
  readonly max?: number;
}

/**
 * Creates a zod schema for an integer of 64 bits. JavaScript's numbers are exact up to 2^53 − 1 only, so an object that is
 * read has a bigint for an integer beyond, and a number for all others. `z.int()` is the better choice for a count: the API
 * server then rejects what a number cannot represent.
 *
 * @param bounds The smallest and the largest value.
 *
 * @example
 * ```ts
 * import { int64 } from "@pintle/controller";
 *
 * console.assert(int64().parse(7) === 7 && int64().parse(9007199254740993n) === 9007199254740993n);
 * console.assert(!int64().safeParse(9007199254740992).success); // a number that may have been rounded
 * console.assert(!int64({ min: 0 }).safeParse(-1).success);
 * ```
 */
export function int64(bounds: IntegerBounds = {}): z.ZodUnion<readonly [z.ZodInt, z.ZodBigIntFormat]> {
  return z.union([z.int().check(...checksFor(bounds)), z.int64().check(...checksFor(bounds))]);
}

/**
 * Creates a zod schema for an integer without a format, as definitions of other projects have it. Values are as those of
 * {@link int64}; `z.int32()` and `z.int()` are the better choices for a kind of your own.
 *
 * @param bounds The smallest and the largest value.
 *
 * @example
 * ```ts
 * import { integer, z } from "@pintle/controller";
 * import { structuralSchema } from "@pintle/controller/schema";
 *
 * const schema = structuralSchema(z.object({ weight: integer({ min: 1 }) }), "Foo");
 * console.assert(schema.properties?.weight?.minimum === 1 && schema.properties.weight.format === undefined);
 * ```
 */
export function integer(bounds: IntegerBounds = {}): z.ZodUnion<readonly [z.ZodInt, z.ZodBigInt]> {
  return z.union([z.int().check(...checksFor(bounds)), z.bigint().check(...checksFor(bounds))]);
}

function checksFor({ min, max }: IntegerBounds) {
  return [...(min === undefined ? [] : [z.gte(min)]), ...(max === undefined ? [] : [z.lte(max)])];
}

/**
 * Creates a zod schema for an amount with an optional suffix, as in `resources.requests`: `2`, `"500m"`, `"1Gi"`.
 *
 * @example
 * ```ts
 * import { quantity } from "@pintle/controller";
 *
 * console.assert(quantity().parse("500m") === "500m" && quantity().parse(2) === 2);
 * console.assert(!quantity().safeParse("1 GiB").success);
 * ```
 */
export function quantity(): z.ZodUnion<readonly [z.ZodInt, z.ZodString]> {
  return z.union([z.int(), z.string().regex(quantityPattern)]);
}

/**
 * Creates a zod schema for a whole Kubernetes object inside another one, e.g. a template. The API server checks its
 * apiVersion, kind and metadata.
 *
 * @example
 * ```ts
 * import { embeddedResource, z } from "@pintle/controller";
 * import { structuralSchema } from "@pintle/controller/schema";
 *
 * const template = embeddedResource();
 * console.assert(template.parse({ apiVersion: "v1", kind: "ConfigMap", data: {} }).kind === "ConfigMap");
 * const schema = structuralSchema(z.object({ template }), "Foo");
 * console.assert(schema.properties?.template?.["x-kubernetes-embedded-resource"] === true);
 * ```
 */
export function embeddedResource(): z.ZodObject<
  { apiVersion: z.ZodString; kind: z.ZodString; metadata: z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodUnknown>> },
  { out: Record<string, unknown>; in: Record<string, unknown> }
> {
  return z.looseObject({
    apiVersion: z.string(),
    kind: z.string(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
    .meta({ "x-kubernetes-embedded-resource": true });
}

/**
 * Marks a value that can be set once and never be changed, added or removed afterwards. The API server rejects such
 * changes, because the mark becomes a CEL rule.
 *
 * Caveats: an optional object around it can still be removed as a whole. Make that object immutable too, or required.
 *
 * @param schema The zod schema of the value.
 *
 * @example
 * ```ts
 * import { immutable, z } from "@pintle/controller";
 * import { structuralSchema } from "@pintle/controller/schema";
 *
 * const schema = structuralSchema(z.object({ class: immutable(z.string()) }), "Foo");
 * console.assert(schema.properties?.class?.["x-kubernetes-validations"]?.[0]?.rule === "self == oldSelf");
 * ```
 */
export function immutable<S extends z.core.$ZodType>(schema: S): S {
  const marked = z.clone(schema);
  z.globalRegistry.add(marked, { ...metaOf(schema), immutable: true });
  return marked;
}
