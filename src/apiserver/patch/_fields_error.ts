/**
 * FieldsError: why a value does not fit its type, so that nobody can say who owns what in it. Texts as those of
 * structured-merge-diff, since the real server hands them to people as they are.
 */

/** One thing that is wrong. */
export interface FieldsProblem {
  /** `.spec.ports[port=80,protocol="TCP"]`; "" for the whole. */
  readonly path: string;
  readonly message: string;
}

/** All that is wrong with one value. */
export class FieldsError extends Error {
  override readonly name = "FieldsError";

  constructor(problems: readonly FieldsProblem[]) {
    const texts = problems.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
    super(texts.length === 1 ? texts[0] : ["errors:", ...texts.map((text) => `  ${text}`)].join("\n"));
  }
}
