/**
 * The status of the objects of a graph: its fields are expressions over the owner and its resources. Their types become the
 * schema of the status; a field whose value does not exist yet is left out.
 */
import { type CelType, formatType, isJsonArray, isJsonObject, type Json, type JsonObject } from "../cel/mod.ts";
import { z } from "../schema/mod.ts";
import { MissingValueError, type Values, type Variables } from "./expression.ts";
import { GraphError, partOf, type Place } from "./graph_error.ts";
import { compileTemplate } from "./template.ts";
import { zodOf } from "./types.ts";

/** A compiled value of the status. */
interface StatusValue {
  readonly schema: z.ZodType;
  render(values: Values): Json | undefined;
}

/** A compiled status. */
export interface StatusTemplate {
  /** The schemas of the fields. */
  readonly fields: Readonly<Record<string, z.ZodType>>;
  /** Returns the fields that have a value. @throws Error when an expression fails for another reason */
  render(values: Values): JsonObject;
}

/** The conditions of a status. */
export const conditionFields = z.array(z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: z.int().optional(),
})).meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] });

/** The fields of every status. */
export const commonFields = { observedGeneration: z.int().optional(), conditions: conditionFields.optional() };

/** Compiles a status. @throws GraphError with the line of the first problem */
export function compileStatus(status: JsonObject, variables: Variables, place: Place): StatusTemplate {
  const fields = Object.entries(status).map(([name, json]) => {
    const inside = partOf(place, name);
    if (Object.hasOwn(commonFields, name) || name === "state") {
      throw new GraphError(inside, `the field ${name} is reserved. Use another name`);
    }
    return { name, value: statusValue(json, variables, inside) };
  });
  return {
    fields: Object.fromEntries(fields.map(({ name, value }) => [name, value.schema.optional()])),
    render: (values) => rendered(fields, values),
  };
}

function rendered(
  fields: readonly { readonly name: string; readonly value: StatusValue }[],
  values: Values,
): JsonObject {
  return Object.fromEntries(fields.flatMap(({ name, value }) => {
    const json = value.render(values);
    return json === undefined || json === null ? [] : [[name, json] as const];
  }));
}

function statusValue(json: Json, variables: Variables, place: Place): StatusValue {
  if (isJsonObject(json)) {
    const fields = Object.entries(json).map(([name, inside]) => ({
      name,
      value: statusValue(inside, variables, partOf(place, name)),
    }));
    const shape = Object.fromEntries(fields.map(({ name, value }) => [name, value.schema.optional()]));
    return { schema: z.object(shape), render: (values) => rendered(fields, values) };
  }
  if (isJsonArray(json)) {
    const items = json.map((item, at) => statusValue(item, variables, partOf(place, at)));
    const [first] = items;
    const isSame = json.every((item) => typeof item === typeof json[0]);
    return {
      schema: z.array(isSame && first !== undefined ? first.schema : z.unknown()),
      render: (values) => items.flatMap((item) => item.render(values) ?? []),
    };
  }
  return leaf(json, variables, place);
}

function leaf(json: Json, variables: Variables, place: Place): StatusValue {
  const template = compileTemplate(json, { variables, place });
  return {
    schema: schemaOf(template.type ?? literalType(json), place),
    render(values) {
      try {
        return template.render(values);
      } catch (error) {
        if (error instanceof MissingValueError) return undefined;
        throw error;
      }
    },
  };
}

function literalType(json: Json): CelType {
  if (typeof json === "string") return { kind: "string" };
  if (typeof json === "boolean") return { kind: "bool" };
  return { kind: Number.isInteger(json) ? "int" : "double" };
}

function schemaOf(type: CelType, place: Place): z.ZodType {
  const schema = zodOf(type);
  if (schema !== undefined) return schema;
  throw new GraphError(place, `the expression is of the type ${formatType(type)}, which no field can have. Convert it`);
}
