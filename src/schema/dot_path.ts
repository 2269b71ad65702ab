/**
 * dotPath(): the path of a field as users write it: `spec.containers[0].image`.
 *
 * zod has the same function, but one use of `z.core` as a value would keep all of it in the binary, with its messages in
 * sixty languages (268 KB that every start would load). A test holds that.
 */

/** Formats a path of keys and indexes. */
export function dotPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "string" && /^[\w$]+$/.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${typeof key === "number" ? key : JSON.stringify(String(key))}]`;
  }
  return text;
}
