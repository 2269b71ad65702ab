/** Query strings of the Kubernetes API: only what differs from the server's default is said. */
import { formatFieldSelector, formatLabelSelector, type LabelSelector, type StringMap } from "../api/mod.ts";

/** Values of query parameters; undefined is not sent. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Appends `query` to `path`. */
export function withQuery(path: string, query: Query): string {
  let text = "";
  for (const name of Object.keys(query)) {
    const value = query[name];
    if (value === undefined || value === "" || value === false) continue;
    text += `${text === "" ? "?" : "&"}${name}=${encodeURIComponent(String(value))}`;
  }
  return path + text;
}

/** Which objects of a collection are meant. */
export interface Selection {
  /** As text (`app=web,tier in (a,b)`) or as objects carry it. */
  readonly labelSelector?: string | LabelSelector;
  /** As text (`spec.nodeName=a`) or as fields and their values. */
  readonly fieldSelector?: string | StringMap;
}

/** The query parameters of a selection. */
export function selectionQuery(selection: Selection): Query {
  const { labelSelector, fieldSelector } = selection;
  return {
    labelSelector: typeof labelSelector === "object" ? formatLabelSelector(labelSelector) : labelSelector,
    fieldSelector: typeof fieldSelector === "object" ? formatFieldSelector(fieldSelector) : fieldSelector,
  };
}
