/** What is printed about a Pod: pure functions of what became of it. */
import { splitKey } from "../../mod.ts";

/** Lines for people, or one JSON object a line for programs. */
export type LineFormat = "text" | "json";

/** Whether a Pod was there when its turn came. */
export type Sight = "sync" | "gone";

/** @param key `namespace/name` of the Pod */
export function lineOf(sight: Sight, key: string, format: LineFormat): string {
  const { namespace = "", name } = splitKey(key);
  if (format === "json") return JSON.stringify({ event: sight, namespace, name });
  return sight === "sync" ? `Sync/Add/Update for Pod ${name}` : `Pod ${key} does not exist anymore`;
}
