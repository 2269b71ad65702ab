/**
 * cel(): an expression of the Common Expression Language, compiled against the type of `self`, with the parser, the checker,
 * the functions and the costs of Kubernetes 1.36. Rules of `defineResource()` and of admission policies are written in the same
 * language, and the embedded API server runs them with the same code.
 *
 * Guarantees: an expression that does not compile is a SyntaxError when it is made; an evaluation ends when its cost exceeds
 * the limit, whatever the value is.
 * Caveats: `self` is read as JSON of the type; a value of another type is an error of the evaluation, not of the compiler.
 */
import type { Infer } from "../api/mod.ts";
import {
  CelDuration,
  CelEnvironment,
  CelList,
  CelMap,
  CelOptional,
  type CelProgram,
  CelTimestamp,
  CelUint,
  celValueOf,
  declaredTypeOf,
  estimateCost,
  formatDuration,
  formatTimestamp,
  formatType,
  isJsonObject,
  itemsOf,
  maxEstimate,
  perCallLimit,
  readSchema,
  type SchemaProps,
  sizesOf,
  type Value,
  withResourceFields,
} from "../cel/mod.ts";
import type { z } from "zod";
import type { CustomResource } from "./custom_resource.ts";
import { isJson } from "./resource_rules.ts";
import { structuralSchema } from "./structural.ts";

/** A type that `self` can have: a zod schema that a CRD can express, or a kind of `defineResource()`. */
export type CelSelf = z.core.$ZodType | CustomResource;

/** The value of `self` for a type. */
export type CelInput<Type extends CelSelf> = Type extends z.core.$ZodType ? z.output<Type> : Infer<Type>;

/** What an expression can return, as JSON: durations and timestamps are texts, integers beyond 2^53 are bigints. */
export type CelOutput = null | boolean | number | bigint | string | Uint8Array | readonly CelOutput[] | {
  readonly [key: string]: CelOutput;
};

/** Options of {@link cel}. */
export interface CelOptions {
  /** The most that one evaluation may cost, in the units of Kubernetes. @default 1_000_000, as one rule of a CRD */
  readonly maxCost?: number;
}

/** A compiled expression. {@link cel} makes it. */
export interface CelExpression<Self> {
  /** The text. */
  readonly expression: string;
  /** The type of the result, as CEL writes it: `bool`, `list(string)`. */
  readonly resultType: string;
  /** The most that an evaluation can cost by the limits of the type (`maxLength`, `maxItems`); Infinity without limits. */
  readonly estimatedCost: number;

  /**
   * Evaluates the expression.
   *
   * @param self The value of `self`.
   * @throws {CelEvaluationError} when the evaluation fails, such as a division by zero, or exceeds `maxCost`
   */
  evaluate(self: Self): CelOutput;
}

/**
 * Thrown by `evaluate()`: the expression has no value for this `self`, or it would cost too much.
 *
 * @example
 * ```ts
 * import { cel, CelEvaluationError } from "@pintle/controller/schema";
 * import { z } from "@pintle/controller";
 *
 * const share = cel("100 / self.parts", z.object({ parts: z.int32() }));
 * try {
 *   share.evaluate({ parts: 0 });
 * } catch (error) {
 *   console.assert(error instanceof CelEvaluationError && error.message.endsWith(": division by zero"));
 * }
 * ```
 */
export class CelEvaluationError extends Error {
  /** The name of the class. */
  override readonly name = "CelEvaluationError";

  /**
   * Creates the error.
   *
   * @param expression The text of the expression.
   * @param reason What went wrong.
   */
  constructor(expression: string, reason: string) {
    super(`Cannot evaluate ${JSON.stringify(expression)}: ${reason}`);
  }
}

/**
 * Compiles an expression of CEL in which `self` has a type, with all functions of Kubernetes 1.36.
 *
 * @param expression The text, such as `self.spec.min <= self.spec.max`.
 * @param type The type of `self`: a zod schema, or a kind of `defineResource()`.
 * @throws {SyntaxError} when the expression does not compile: a wrong field, a wrong type, a wrong character; the message
 * shows the place
 * @throws {TypeError} when rules cannot see values of the type, or a CRD cannot express it
 * @throws {RangeError} when `maxCost` is not above 0
 *
 * @example
 * ```ts
 * import { cel } from "@pintle/controller/schema";
 * import { z } from "@pintle/controller";
 *
 * const Limits = z.object({ min: z.int32(), max: z.int32(), names: z.array(z.string().max(63)).max(10) });
 * const isValid = cel("self.min <= self.max && self.names.all(name, name.startsWith('a'))", Limits);
 * console.assert(isValid.resultType === "bool" && isValid.estimatedCost < 1_000);
 * console.assert(isValid.evaluate({ min: 1, max: 2, names: ["ab"] }) === true);
 *
 * let message = "";
 * try {
 *   cel("self.mim > 1", Limits);
 * } catch (error) {
 *   message = String(error);
 * }
 * console.assert(message.includes("undefined field 'mim'"));
 * ```
 */
export function cel<Type extends CelSelf>(
  expression: string,
  type: Type,
  options: CelOptions = {},
): CelExpression<CelInput<Type>> {
  const { maxCost = perCallLimit } = options;
  if (!(maxCost > 0)) throw new RangeError(`Cannot compile an expression: maxCost ${maxCost} is not above 0`);
  const { schema, isResource } = schemaOfSelf(type);
  const declared = declaredTypeOf(schema, isResource, "self");
  if (declared === undefined) {
    throw new TypeError("Cannot compile an expression: CEL cannot see values of this type. Give its fields types");
  }
  const compiled = new CelEnvironment(new Map([["self", declared.type]])).compile(expression);
  if (compiled.kind === "failed") {
    throw new SyntaxError(`Cannot compile ${JSON.stringify(expression)}: ${compiled.message}`);
  }
  const { program, checked, constantError } = compiled;
  if (constantError !== undefined) {
    throw new SyntaxError(`Cannot compile ${JSON.stringify(expression)}: a constant part fails: ${constantError}`);
  }
  const { max } = estimateCost(checked, sizesOf(declared));
  const view = isResource ? withResourceFields(schema) : schema;
  return Object.freeze({
    expression,
    resultType: formatType(checked.type),
    estimatedCost: max >= maxEstimate ? Infinity : max,
    evaluate: (value: CelInput<Type>) => {
      if (!isJson(value)) throw new CelEvaluationError(expression, `self is ${typeof value}, which JSON does not have`);
      return evaluated(expression, program, { self: celValueOf(value, view), maxCost });
    },
  });
}

function schemaOfSelf(type: CelSelf): { readonly schema: SchemaProps; readonly isResource: boolean } {
  if (!("crd" in type)) return { schema: propsOf(structuralSchema(type, "self")), isResource: false };
  const version = type.crd.spec.versions.find(({ name }) => name === type.version);
  return { schema: propsOf(version?.schema.openAPIV3Schema), isResource: true };
}

function propsOf(schema: unknown): SchemaProps {
  return readSchema(isJsonObject(schema) ? schema : {});
}

function evaluated(
  expression: string,
  program: CelProgram,
  { self, maxCost }: { readonly self: Value; readonly maxCost: number },
): CelOutput {
  const outcome = program.run([self], maxCost);
  switch (outcome.kind) {
    case "value":
      return outputOf(outcome.value, expression);
    case "error":
      throw new CelEvaluationError(expression, outcome.message);
    case "exceeded":
      throw new CelEvaluationError(
        expression,
        `it costs more than ${maxCost}. Limit the sizes of the type, or raise maxCost`,
      );
    default:
      return outcome satisfies never;
  }
}

/** The value of a result as JSON. @throws CelEvaluationError for a value that JSON does not have */
function outputOf(value: Value, expression: string): CelOutput {
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) {
    return typeof value === "bigint" ? integerOf(value) : value;
  }
  if (value instanceof CelUint) return integerOf(value.value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelOptional) return value.value === undefined ? null : outputOf(value.value, expression);
  if (value instanceof CelList) return [...itemsOf(value)].map((item) => outputOf(item, expression));
  if (value instanceof CelMap) {
    const keys = [...value.keys()];
    return Object.fromEntries(
      keys.map((key) => [String(outputOf(key, expression)), outputOf(value.find(key) ?? null, expression)]),
    );
  }
  throw new CelEvaluationError(expression, "its value is not JSON. Let it return a text or a number of the value");
}

function integerOf(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
