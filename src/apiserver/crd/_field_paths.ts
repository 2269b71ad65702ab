/** Paths of fields as messages show them: `spec.list[0].name`, `spec.labels[key]`. The path of the object itself is "". */

/** The path of a field. */
export function child(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The path of an item of a list or an entry of a map. */
export function at(path: string, index: number | string): string {
  return `${path}[${index}]`;
}

/** A path as an error carries it: the real server writes that of the object itself so. */
export function shownPath(path: string): string {
  return path === "" ? "<nil>" : path;
}
