/**
 * The one place that looks into zod: a schema's definition as zod's discriminated union, its checks and its metadata.
 *
 * zod's guide for library authors names `_zod.def` as the stable surface for this; a schema's static type is the
 * general `$ZodType`, which says nothing of its definition, hence the two assertions below.
 */
import { z } from "zod";

/** Any zod schema. */
export type Schema = z.core.$ZodType;

/** What a schema was made of, told apart by `type`. */
export type Definition = z.core.$ZodTypes["_zod"]["def"];

/** What one check was made of, told apart by `check`. */
export type Check = z.core.$ZodChecks["_zod"]["def"] | z.core.$ZodCheckStringFormatDef | z.core.$ZodCustomDef;

/** The definition of `schema`. */
export function definitionOf(schema: Schema): Definition {
  return (schema as z.core.$ZodTypes)._zod.def;
}

/** The checks of `schema` in their order; a format such as `z.email()` is its own first check. */
export function checksOf(schema: Schema): readonly Check[] {
  const own = schema._zod.traits.has("$ZodCheck") ? [schema] : [];
  return [...own, ...(schema._zod.def.checks ?? [])].map((check) => check._zod.def as Check);
}

/** What `.meta()` and `.describe()` said of this very schema. */
export function metaOf(schema: Schema): z.GlobalMeta {
  return z.globalRegistry.get(schema) ?? {};
}

/** The schema that a wrapper such as optional, default or readonly wraps; undefined when it is none. */
export function innerOf(schema: Schema): Schema | undefined {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
      return definition.innerType;
    default:
      return undefined;
  }
}

/** True when a writer must give the property that has this schema. */
export function isRequired(schema: Schema): boolean {
  return schema._zod.optin === undefined;
}
