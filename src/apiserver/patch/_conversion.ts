/**
 * Conversion: how the computations here come by an object in another version. They are generators that ask for it, so that
 * one text of them serves kinds whose versions differ in name alone (answered at once) and those whose webhook takes a while
 * (answered by a promise), and a write in which nobody asks stays synchronous.
 */
import type { JsonObject, TypeSchema } from "../model/mod.ts";
import { validateValue } from "./_validate_value.ts";

/** An object in some version, with the type it has there. */
export interface Versioned {
  readonly object: JsonObject;
  readonly type: TypeSchema;
}

/**
 * Answers an object in another version; undefined when there is no such version (any more).
 *
 * @param apiVersion `apps/v1`
 */
export type Convert = (
  object: JsonObject,
  apiVersion: string,
) => Versioned | undefined | Promise<Versioned | undefined>;

/** What a computation asks for. */
export interface ConversionRequest {
  readonly object: JsonObject;
  readonly apiVersion: string;
}

/** A computation that may ask for objects in other versions. */
export type Steps<Outcome> = Generator<ConversionRequest, Outcome, Versioned | undefined>;

/** Runs a computation; only when a conversion takes a while is the outcome a promise. */
export function runSteps<Outcome>(steps: Steps<Outcome>, convert: Convert | undefined): Outcome | Promise<Outcome> {
  let turn = steps.next();
  while (turn.done !== true) {
    const answer = convert?.(turn.value.object, turn.value.apiVersion);
    if (answer instanceof Promise) return answer.then((versioned) => resume(steps, versioned, convert));
    turn = steps.next(answer);
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
 * Asks for an object in another version; undefined when there is no such version.
 *
 * @throws FieldsError when what comes does not fit its type: unlike an object in the version of the request, it may not even
 * hold doubles
 */
export function* converted(object: JsonObject, apiVersion: string): Steps<Versioned | undefined> {
  const versioned = yield { object, apiVersion };
  if (versioned !== undefined) validateValue(versioned.object, versioned.type);
  return versioned;
}

/** Objects in the versions that a computation has asked for, each converted once. */
export class Versions {
  readonly #found = new Map<string, Versioned | undefined>();
  readonly #object: JsonObject;

  constructor(apiVersion: string, own: Versioned) {
    this.#object = own.object;
    this.#found.set(apiVersion, own);
  }

  /** The object in a version; undefined when there is no such version. */
  *in(apiVersion: string): Steps<Versioned | undefined> {
    if (this.#found.has(apiVersion)) return this.#found.get(apiVersion);
    const versioned = yield* converted(this.#object, apiVersion);
    this.#found.set(apiVersion, versioned);
    return versioned;
  }
}
