/** Labels of nodes that were renamed, and what the server says of those who still use the old names. */
import { type JsonObject, labelValueErrors } from "../model/mod.ts";
import { objectsAt, textAt, textsAt } from "./fields.ts";
import type { FieldPath } from "./problems.ts";

/** By label: since when it is deprecated, and what stands in its place. */
const deprecated: ReadonlyMap<string, string> = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ["failure-domain.beta.kubernetes.io/region", 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ["failure-domain.beta.kubernetes.io/zone", 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ["beta.kubernetes.io/instance-type", 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  ["scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** What is said of one label; undefined where it is right. */
export function nodeLabelWarning(label: string): string | undefined {
  return deprecated.get(label);
}

/** What is said of the expressions of a term that selects nodes. @param checksValues true where values may be wrong */
export function nodeTermWarnings(term: JsonObject, checksValues: boolean, path: FieldPath): readonly string[] {
  return objectsAt(term, "matchExpressions").flatMap((expression, index) => {
    const place = path.child("matchExpressions").index(index);
    const key = textAt(expression, "key");
    const warning = nodeLabelWarning(key);
    const values = textsAt(expression, "values").flatMap((value, at) =>
      labelValueErrors(value).map((why) => `${place.child("values").index(at)}: ${value} is invalid, ${why}`)
    );
    return [
      ...(warning === undefined ? [] : [`${place.child("key")}: ${key} is ${warning}`]),
      ...(checksValues ? values : []),
    ];
  });
}

/** What is said of the labels of a node selector. */
export function nodeLabelWarnings(selector: JsonObject, path: FieldPath): readonly string[] {
  return Object.keys(selector).flatMap((label) => {
    const warning = nodeLabelWarning(label);
    return warning === undefined ? [] : [`${path}: ${warning}`];
  });
}
