/**
 * Label and field selectors: their types, their text for the server, and the same decision for cached objects. The rules
 * are those of apimachinery's `labels.Selector` of Kubernetes 1.36.
 */
import type { KubeObject, StringMap } from "./object.ts";

/** One requirement on a label: `tier in (a, b)`, or `tier` exists. */
export interface LabelRequirement {
  /** The name of the label. */
  readonly key: string;
  /** How the label must relate to `values`. An object without the label satisfies NotIn and DoesNotExist. */
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** The values for In and NotIn, at least one. @default [] */
  readonly values?: readonly string[];
}

/**
 * Selects objects by their labels, as the spec of a Deployment does. An object must satisfy all parts; an empty selector
 * selects every object.
 *
 * @example
 * ```ts
 * import type { LabelSelector } from "@pintle/controller";
 * import { isSelected } from "@pintle/controller/client";
 *
 * const selector: LabelSelector = {
 *   matchLabels: { app: "web" },
 *   matchExpressions: [{ key: "tier", operator: "In", values: ["front", "back"] }],
 * };
 * console.assert(isSelected(selector, { metadata: { labels: { app: "web", tier: "front" } } }));
 * ```
 */
export interface LabelSelector {
  /** Labels that must have these values. */
  readonly matchLabels?: StringMap;
  /** Further requirements. */
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** The text of the selector for the query parameter `labelSelector`. */
export function formatLabelSelector(selector: LabelSelector): string {
  return requirementsOf(selector).map(formatRequirement).join(",");
}

/** The selector of the objects that all `selectors` select; undefined when there are none. */
export function combinedSelector(...selectors: readonly (LabelSelector | undefined)[]): LabelSelector | undefined {
  const given = selectors.filter((selector) => selector !== undefined);
  return given.length <= 1 ? given[0] : { matchExpressions: given.flatMap(requirementsOf) };
}

/** True when the labels satisfy every requirement; all labels satisfy an empty selector. */
export function matchesLabels(selector: LabelSelector, labels: StringMap | undefined): boolean {
  return requirementsOf(selector).every((requirement) => satisfies(requirement, labels));
}

/**
 * Checks that the labels of an object satisfy a selector, as the API server decides it.
 *
 * @param selector An empty selector selects every object.
 * @param object Any object with metadata.
 *
 * @example
 * ```ts
 * import { isSelected } from "@pintle/controller/client";
 *
 * const pod = { metadata: { name: "web-1", labels: { app: "web" } } };
 * console.assert(isSelected({ matchLabels: { app: "web" } }, pod));
 * console.assert(!isSelected({ matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, pod));
 * ```
 */
export function isSelected(selector: LabelSelector, object: Pick<KubeObject, "metadata">): boolean {
  return matchesLabels(selector, object.metadata.labels);
}

/** The text for the query parameter `fieldSelector`: fields and their required values. */
export function formatFieldSelector(fields: StringMap): string {
  return Object.entries(fields).map(([field, value]) => `${field}=${escapeFieldValue(value)}`).join(",");
}

/**
 * True when the fields of an object have the required values. The server has the same rule for each field that it can
 * select by: an absent field has the empty value of its type.
 */
export function matchesFields(fields: StringMap, object: unknown): boolean {
  return Object.entries(fields).every(([path, value]) => {
    const found = valueAt(object, path);
    return found === undefined ? emptyValues.has(value) : String(found) === value;
  });
}

const emptyValues: ReadonlySet<string> = new Set(["", "false", "0"]);

function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value ?? undefined;
}

function requirementsOf(selector: LabelSelector): readonly LabelRequirement[] {
  const equal = Object.entries(selector.matchLabels ?? {})
    .map(([key, value]): LabelRequirement => ({ key, operator: "In", values: [value] }));
  return [...equal, ...(selector.matchExpressions ?? [])];
}

function formatRequirement(requirement: LabelRequirement): string {
  const { key, operator, values = [] } = requirement;
  switch (operator) {
    case "In":
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(",")})`;
    case "NotIn":
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(",")})`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return operator satisfies never;
  }
}

function satisfies(requirement: LabelRequirement, labels: StringMap | undefined): boolean {
  const { key, operator, values = [] } = requirement;
  // Own properties only: `constructor` is a legal label key.
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return operator satisfies never;
  }
}

function escapeFieldValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll(",", "\\,").replaceAll("=", "\\=");
}
