/**
 * VersionSchema: what the server does with an object by the schema of one version, without a server: pruning, defaults and
 * validation, CEL rules included. For tests of conversions.
 */
import { draftOf, type JsonObject } from "../../model/mod.ts";
import { fieldErrorsOf } from "../schema/mod.ts";
import { CompiledSchema } from "./compiled_schema.ts";

/** The schema of one version. */
export interface VersionSchema {
  /** Returns the object without unknown fields and with defaults, as the server shows it. */
  normalized(object: JsonObject): JsonObject;
  /** Says why the server would reject the object; empty when it accepts it. Rules are checked on a valid structure only. */
  problems(object: JsonObject): readonly string[];
}

/** Compiles a schema. @param schema openAPIV3Schema of a version */
export function versionSchemaOf(schema: JsonObject): VersionSchema {
  const compiled = new CompiledSchema(schema);
  return {
    normalized(object) {
      const draft = draftOf(object);
      compiled.prune()(draft);
      compiled.setDefaults()?.(draft);
      return draft;
    },
    problems(object) {
      const errors = [
        ...fieldErrorsOf(compiled.validator()(object), ""),
        ...compiled.embeddedErrors()?.(object) ?? [],
        ...compiled.listErrors()?.(object) ?? [],
      ];
      const found = errors.length > 0 ? errors : compiled.rules()?.(object, undefined) ?? [];
      return found.map(({ field, type, detail }) => `${field}: ${detail === "" ? type : detail}`);
    },
  };
}
