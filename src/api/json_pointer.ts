/** JSON pointers (RFC 6901), by which the operations of a JSON patch name fields. */

/** A key as one step of a pointer. */
export function pointerStep(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The keys of a pointer. */
export function pointerKeys(pointer: string): readonly string[] {
  return pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
