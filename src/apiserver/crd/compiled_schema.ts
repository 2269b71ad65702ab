/**
 * CompiledSchema: everything that is made of one schema, each part when it is first needed. A definition that only changes
 * its status keeps what was made.
 */
import {
  type Draft,
  draftOf,
  type DraftValue,
  isDraft,
  type Json,
  type JsonObject,
  typeSchemaOf,
} from "../model/mod.ts";
import { type TypeSchema } from "../model/mod.ts";
import { compileEmbeddedCheck, compileEmbeddedReader } from "./embedded.ts";
import { compileListTypes } from "./list_types.ts";
import { compileDefaulter, compileNullPruner, compilePruner } from "./pruning.ts";
import { compileRuleValidator } from "./rule_validator.ts";
import { readSchema, type SchemaProps } from "./schema_props.ts";
import { compileValidator, type Validator } from "./schema_validator.ts";

/** What is made of a schema. Parts that have nothing to do are undefined. */
export class CompiledSchema {
  readonly json: JsonObject;
  readonly props: SchemaProps;

  constructor(json: JsonObject) {
    this.json = json;
    this.props = withPrunedDefaults(readSchema(json));
  }

  /** For apply and patches. */
  get type(): TypeSchema {
    return this.#typeSchema ??= typeSchemaOf({ ...this.json, "x-kubernetes-embedded-resource": true });
  }
  #typeSchema: TypeSchema | undefined;

  /** Drops unknown fields and nulls, reads embedded metadata. @returns the paths of unknown fields */
  readonly prune = lazy(() => {
    const prune = compilePruner(this.props);
    const pruneNulls = compileNullPruner(this.props);
    const readEmbedded = compileEmbeddedReader(this.props);
    return (object: Draft): readonly string[] => {
      const unknown = prune(object);
      pruneNulls(object);
      if (readEmbedded === undefined) return unknown;
      const embedded = readEmbedded(object);
      return embedded.length === 0 ? unknown : [...unknown, ...embedded];
    };
  });

  readonly setDefaults = lazy(() => compileDefaulter(this.props));
  readonly validator = lazy((): Validator => compileValidator(this.props));
  /** Of the status alone; undefined where the schema has none. */
  readonly statusValidator = lazy((): Validator | undefined => {
    const status = this.props.properties.get("status");
    return status && compileValidator(status);
  });
  readonly embeddedErrors = lazy(() => compileEmbeddedCheck(this.props));
  readonly listErrors = lazy(() => compileListTypes(this.props));
  readonly rules = lazy(() => compileRuleValidator(this.props));
}

/** A function that makes its value when it is first called. */
function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** A schema whose defaults hold only fields that it knows. */
function withPrunedDefaults(schema: SchemaProps): SchemaProps {
  const additional = schema.additionalProperties;
  const properties = new Map(Array.from(schema.properties, ([name, props]) => [name, withPrunedDefaults(props)]));
  return {
    ...schema,
    default: schema.default === undefined ? undefined : prunedDefault(schema.default, schema),
    properties,
    items: schema.items && withPrunedDefaults(schema.items),
    additionalProperties: typeof additional === "object" ? withPrunedDefaults(additional) : additional,
  };
}

/** A default without the fields that its schema does not know. */
export function prunedDefault(value: Json, schema: SchemaProps): Json {
  if (typeof value !== "object" || value === null) return value;
  const draft: DraftValue = draftOf(value);
  // Lists are pruned as what one field holds.
  const holder: Draft = isDraft(draft) ? draft : { value: draft };
  if (isDraft(draft)) compilePruner(schema, false)(holder);
  else compilePruner(readHolder(schema), false)(holder);
  return draft;
}

function readHolder(schema: SchemaProps): SchemaProps {
  return { ...readSchema({ type: "object" }), properties: new Map([["value", schema]]) };
}
