/** More causes than that explain nothing. Errors can be their own cause. */
const maxCauses = 8;

/** An error and the errors that caused it. Bounded, because causes can form a cycle; nothing for a value that is no Error. */
export function* errorChain(error: unknown): Generator<Error> {
  for (let at = error, depth = 0; at instanceof Error && depth < maxCauses; at = at.cause, depth++) yield at;
}
