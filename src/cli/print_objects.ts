/** Objects on stdout for programs: `-o yaml` and `-o json`, as kubectl prints them. */
import { stringify } from "yaml";
import type { Session } from "./session.ts";

/** A format that programs read. */
export type ObjectFormat = "yaml" | "json";

/** Prints one object as it is, several as a stream of documents or as a List. */
export function printObjectList(objects: readonly object[], format: ObjectFormat, session: Session): void {
  const [only] = objects;
  if (format === "yaml") return session.print(objects.map(yamlOf).join("---\n"));
  const whole = objects.length === 1 ? only : { apiVersion: "v1", kind: "List", items: objects };
  session.print(`${JSON.stringify(whole, undefined, 4)}\n`);
}

/** Prints a value that is no Kubernetes object. */
export function printValue(value: object, format: ObjectFormat, session: Session): void {
  if (format === "json") return session.print(`${JSON.stringify(value, undefined, 2)}\n`);
  session.print(stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }));
}

function yamlOf(object: object): string {
  return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, sortMapEntries: true });
}
