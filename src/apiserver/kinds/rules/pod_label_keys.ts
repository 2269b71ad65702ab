/** `matchLabelKeys`: names of labels whose values in the Pod join the selectors of its affinity and spreading. */
import { type Draft, type JsonObject, read } from "../../model/mod.ts";
import { draftsAt, findDraft, textAt, textsAt } from "../fields.ts";

/** Adds the expressions that the keys stand for. */
export function applyLabelKeys(spec: Draft, labels: JsonObject): void {
  const affinity = findDraft(spec, "affinity");
  for (const key of affinity === undefined ? [] : ["podAffinity", "podAntiAffinity"]) {
    for (const term of termsOf(findDraft(affinity ?? {}, key) ?? {})) {
      addKeys(term, "matchLabelKeys", "In", labels);
      addKeys(term, "mismatchLabelKeys", "NotIn", labels);
    }
  }
  for (const constraint of draftsAt(spec, "topologySpreadConstraints")) {
    addKeys(constraint, "matchLabelKeys", "In", labels);
  }
}

function termsOf(affinity: Draft): readonly Draft[] {
  const preferred = draftsAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  return [
    ...preferred.map((each) => findDraft(each, "podAffinityTerm")).filter((term) => term !== undefined),
    ...draftsAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
  ];
}

function addKeys(holder: Draft, key: string, operator: string, labels: JsonObject): void {
  const selector = findDraft(holder, "labelSelector");
  if (selector === undefined) return;
  const added = textsAt(holder, key).filter((name) => read(labels, name) !== undefined)
    .map((name): Draft => ({ key: name, operator, values: [textAt(labels, name)] }));
  if (added.length > 0) selector["matchExpressions"] = [...draftsAt(selector, "matchExpressions"), ...added];
}
