/**
 * Masked: a secret that does not show itself. Tokens, passwords and keys live in these from the moment they are read, so
 * that a log record, an error or a dump of a configuration that contains one shows `[masked]` (behaviours.md, security 5).
 */

/** What is shown instead. */
export const mask = "[masked]";

/**
 * Text that is only had by asking for it.
 *
 * @example
 * ```ts
 * import { Masked } from "./mod.ts";
 *
 * const token = new Masked("s3cret");
 * console.assert(JSON.stringify({ token }) === '{"token":"[masked]"}' && `${token}` === "[masked]");
 * console.assert(token.reveal() === "s3cret");
 * ```
 */
export class Masked {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Put it into the request, nowhere else. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  /** Bun's and Node's `console.log` ask this. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return mask;
  }

  /** Deno's `console.log` asks this. */
  [Symbol.for("Deno.customInspect")](): string {
    return mask;
  }
}
