/**
 * CompiledSchema: all functions that are compiled from one schema, each one on first use. It lives as long as the schema,
 * so a write to the status of a definition compiles nothing again.
 */
import { typeLibrary } from "../../kinds/mod.ts";
import { type Draft, type JsonObject, type TypeSchema, typeSchemaOf } from "../../model/mod.ts";
import {
  compileDefaulter,
  compileEmbeddedCheck,
  compileEmbeddedReader,
  compileListTypes,
  compileNullPruner,
  compilePruner,
  compileValidator,
  schemaOf,
  type SchemaProps,
  type Validator,
  withPrunedDefaults,
} from "../schema/mod.ts";
import { compileRuleValidator } from "../../../cel/mod.ts";

/** The functions of one schema. A function that would do nothing is undefined. */
export class CompiledSchema {
  readonly json: JsonObject;
  readonly props: SchemaProps;

  constructor(json: JsonObject) {
    this.json = json;
    this.props = withPrunedDefaults(schemaOf(json));
  }

  /** The type for server-side apply and patches. Its metadata is that of built-in kinds: finalizers are a set. */
  get type(): TypeSchema {
    return this.#typeSchema ??= typeSchemaOf({ ...this.json, "x-kubernetes-embedded-resource": true }, typeLibrary());
  }
  #typeSchema: TypeSchema | undefined;

  /** Drops unknown fields only. */
  readonly pruneUnknown = lazy(() => compilePruner(this.props));
  /** Decodes the metadata of embedded resources; undefined when the schema has none. */
  readonly readEmbedded = lazy(() => compileEmbeddedReader(this.props));
  /** Drops unknown fields and nulls, and decodes embedded metadata. @returns the paths of unknown fields, sorted */
  readonly prune = lazy(() => {
    const prune = this.pruneUnknown();
    const pruneNulls = compileNullPruner(this.props);
    const readEmbedded = this.readEmbedded();
    return (object: Draft): readonly string[] => {
      const unknown = prune(object).toSorted();
      pruneNulls(object);
      if (readEmbedded === undefined) return unknown;
      const embedded = readEmbedded(object);
      return embedded.length === 0 ? unknown : [...unknown, ...embedded];
    };
  });

  readonly setDefaults = lazy(() => compileDefaulter(this.props));
  readonly validator = lazy((): Validator => compileValidator(this.props));
  /** For the status alone; undefined when the schema has none. */
  readonly statusValidator = lazy((): Validator | undefined => {
    const status = this.props.properties.get("status");
    return status && compileValidator(status);
  });
  readonly embeddedErrors = lazy(() => compileEmbeddedCheck(this.props));
  readonly listErrors = lazy(() => compileListTypes(this.props));
  readonly rules = lazy(() => compileRuleValidator(this.props));
}

/** A function that computes its value on the first call. */
function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
