/**
 * The only file that reads the internals of zod: the definition of a schema, its checks and its metadata.
 *
 * zod's guide for library authors documents `_zod.def` as stable. The static type of a schema is the general `$ZodType`,
 * which does not include the definition, hence the two assertions below.
 */
import { z } from "zod";
import "./_zod_meta.ts";

/** Any zod schema. */
export type Schema = z.core.$ZodType;

/** The definition of a schema, discriminated by `type`. */
export type Definition = z.core.$ZodTypes["_zod"]["def"];

/** The definition of one check, discriminated by `check`. */
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

/** The metadata that `.meta()` and `.describe()` set on this schema itself. */
export function metaOf(schema: Schema): z.GlobalMeta {
  return z.globalRegistry.get(schema) ?? {};
}

/** The schema inside a wrapper such as optional, default or readonly; undefined when `schema` is not a wrapper. */
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

/** True when an object must have the property with this schema. */
export function isRequired(schema: Schema): boolean {
  return schema._zod.optin === undefined;
}

/** An issue without its message. */
type RawIssue = z.core.$ZodRawIssue;

/** Parses without creating messages. @param options `abortEarly` ends a list at its first wrong item */
export function rawIssues<T extends z.core.$ZodType>(
  schema: T,
  value: unknown,
  { abortEarly }: { readonly abortEarly: boolean },
): { readonly value: z.output<T>; readonly issues: readonly RawIssue[] } {
  const result = schema._zod.run({ value, issues: [] }, { async: false, abortEarly });
  if (result instanceof Promise) throw new TypeError("Cannot parse a value: its schema has an asynchronous check");
  return { value: result.value as z.output<T>, issues: result.issues };
}

/** Creates the messages, with a schema that has exactly these issues: zod exports the function only with all languages. */
export function withMessages(issues: readonly RawIssue[]): readonly z.core.$ZodIssue[] {
  const result = z.unknown().check((payload) => void payload.issues.push(...issues)).safeParse(undefined);
  return result.error?.issues ?? [];
}
