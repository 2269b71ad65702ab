/**
 * Conversion of objects to other versions, which ownership needs for managers of other versions. The computations are
 * generators that yield a request for a conversion. So the same code is synchronous for kinds with synchronous conversion and
 * for writes without any, and asynchronous for conversion webhooks.
 */
import type { JsonObject, TypeSchema } from "../model/mod.ts";
import { FieldsError } from "./_element.ts";
import { validateValue } from "./_validate_value.ts";

/** An object in one version, with its type in that version. */
export interface Versioned {
  readonly object: JsonObject;
  readonly type: TypeSchema;
}

/**
 * Converts an object to another version; undefined when the version is not served.
 *
 * @param apiVersion `apps/v1`
 */
export type Convert = (
  object: JsonObject,
  apiVersion: string,
) => Versioned | undefined | Promise<Versioned | undefined>;

/** A request for a conversion. */
export interface ConversionRequest {
  readonly object: JsonObject;
  readonly apiVersion: string;
}

/** A computation that may request conversions. */
export type Steps<Outcome> = Generator<ConversionRequest, Outcome, Versioned | undefined>;

/** Runs a computation; returns a promise only if a conversion returns one. */
export function runSteps<Outcome>(steps: Steps<Outcome>, convert: Convert | undefined): Outcome | Promise<Outcome> {
  let turn = steps.next();
  while (turn.done !== true) {
    const conversion = convert?.(turn.value.object, turn.value.apiVersion);
    if (conversion instanceof Promise) return conversion.then((versioned) => resume(steps, versioned, convert));
    turn = steps.next(conversion);
  }
  return turn.value;
}

async function resume<Outcome>(
  steps: Steps<Outcome>,
  first: Versioned | undefined,
  convert: Convert | undefined,
): Promise<Outcome> {
  let turn = steps.next(first);
  while (turn.done !== true) {
    turn = steps.next(await convert?.(turn.value.object, turn.value.apiVersion));
  }
  return turn.value;
}

/**
 * Requests an object in another version; undefined when the version is not served.
 *
 * @throws FieldsError when the converted object does not fit its type; unlike a live object, it must not have duplicate items
 */
export function* converted(object: JsonObject, apiVersion: string): Steps<Versioned | undefined> {
  const versioned = yield { object, apiVersion };
  if (versioned !== undefined) validateValue(versioned.object, versioned.type);
  return versioned;
}

/** Puts a prefix before the messages of the FieldsErrors of a computation. */
export function* prefixed<Outcome>(prefix: string, steps: Steps<Outcome>): Steps<Outcome> {
  try {
    return yield* steps;
  } catch (error) {
    throw error instanceof FieldsError
      ? new FieldsError([{ path: "", message: `${prefix}: ${error.message}` }])
      : error;
  }
}

/** One object in several versions, each converted once. */
export class Versions {
  readonly #found = new Map<string, Versioned | undefined>();
  readonly #object: JsonObject;

  constructor(apiVersion: string, own: Versioned) {
    this.#object = own.object;
    this.#found.set(apiVersion, own);
  }

  /** The object in a version; undefined when the version is not served. */
  *in(apiVersion: string): Steps<Versioned | undefined> {
    if (this.#found.has(apiVersion)) return this.#found.get(apiVersion);
    const versioned = yield* converted(this.#object, apiVersion);
    this.#found.set(apiVersion, versioned);
    return versioned;
  }
}
