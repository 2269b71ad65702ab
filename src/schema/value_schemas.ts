/**
 * zod schemas for values that Kubernetes has and zod does not: integers or strings, quantities, embedded objects, and
 * immutable values.
 */
import { z } from "zod";

/** The syntax of `resource.Quantity`, e.g. `100m`, `1.5Gi`, `2e3`. Source: controller-gen's known types. */
const quantityPattern =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;

/**
 * An integer or a string: a port number or name, a count or a percentage.
 *
 * @example
 * ```ts
 * import { intOrString } from "@pintle/controller";
 *
 * console.assert(intOrString().parse("25%") === "25%" && intOrString().parse(3) === 3);
 * ```
 */
export function intOrString() {
  return z.union([z.int32(), z.string()]);
}

/** An amount with an optional suffix, as `resources.requests` holds them: `2`, `"500m"`, `"1Gi"`. */
export function quantity() {
  return z.union([z.int(), z.string().regex(quantityPattern)]);
}

/** A whole Kubernetes object inside another one, e.g. a template. The API server checks apiVersion, kind and metadata. */
export function embeddedResource() {
  return z.looseObject({
    apiVersion: z.string(),
    kind: z.string(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
    .meta({ "x-kubernetes-embedded-resource": true });
}

/**
 * Marks a value that can be set once and never be changed, added or removed afterwards. The API server rejects such
 * changes.
 *
 * Caveats: an optional object around it can still be removed as a whole. Make that object immutable too, or required.
 *
 * @example
 * ```ts
 * import { immutable, structuralSchema, z } from "@pintle/controller";
 *
 * const schema = structuralSchema(z.object({ class: immutable(z.string()) }), "Foo");
 * console.assert(schema.properties?.class?.["x-kubernetes-validations"]?.[0]?.rule === "self == oldSelf");
 * ```
 */
export function immutable<S extends z.ZodType>(schema: S): S {
  return schema.meta({ ...schema.meta(), immutable: true });
}
