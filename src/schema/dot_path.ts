/**
 * dotPath(): where in a value something is wrong, as people write it: `spec.containers[0].image`.
 *
 * Of our own, although zod has the same: one use of `z.core` as a value keeps all of it in the binary, with the words of
 * sixty languages (268 KB that every start would load). A test holds that.
 */

/** Writes a path of keys and positions. */
export function dotPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "string" && /^[\w$]+$/.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${typeof key === "number" ? key : JSON.stringify(String(key))}]`;
  }
  return text;
}
