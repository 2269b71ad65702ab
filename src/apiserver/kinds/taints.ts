/** Taints of nodes, and the tolerations of what may run there all the same. */
import { isSameJson, type JsonObject, labelKeyErrors, labelValueErrors } from "../model/mod.ts";
import { findNumber, textAt } from "./fields.ts";
import type { FieldPath, Problems } from "./problems.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** Checks tolerations. */
export function checkTolerations(tolerations: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  tolerations.forEach((toleration, index) => checkToleration(toleration, path.index(index), problems));
}

function checkToleration(toleration: JsonObject, path: FieldPath, problems: Problems): void {
  const [key, operator, value] = [
    textAt(toleration, "key"),
    textAt(toleration, "operator"),
    textAt(toleration, "value"),
  ];
  const effect = textAt(toleration, "effect");
  if (key !== "") problems.invalidAll(path.child("key"), key, labelKeyErrors(key));
  else if (operator !== "Exists") {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    problems.invalid(path.child("operator"), operator, why);
  }
  if (findNumber(toleration, "tolerationSeconds") !== undefined && effect !== "NoExecute") {
    problems.invalid(path.child("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  checkOperator(operator, value, path.child("operator"), problems);
  if (effect !== "" && !effects.includes(effect)) problems.notSupported(path.child("effect"), effect, effects);
}

function checkOperator(operator: string, value: string, path: FieldPath, problems: Problems): void {
  switch (operator) {
    case "":
    case "Equal": {
      const errors = labelValueErrors(value);
      if (errors.length > 0) problems.invalid(path, value, errors.join(";"));
      return;
    }
    case "Exists":
      if (value !== "") problems.invalid(path, value, "value must be empty when `operator` is 'Exists'");
      return;
    case "Lt":
    case "Gt":
      return problems.notSupported(path, operator, ["Equal", "Exists", "Lt", "Gt"]);
    default:
      return problems.notSupported(path, operator, ["Equal", "Exists"]);
  }
}

/** Checks the taints of a node. */
export function checkTaints(taints: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  taints.forEach((taint, index) => {
    const place = path.index(index);
    const [key, value, effect] = [textAt(taint, "key"), textAt(taint, "value"), textAt(taint, "effect")];
    problems.invalidAll(place.child("key"), key, labelKeyErrors(key));
    const errors = labelValueErrors(value);
    if (errors.length > 0) problems.invalid(place.child("value"), value, errors.join(";"));
    if (effect === "") problems.required(place.child("effect"));
    else if (!effects.includes(effect)) problems.notSupported(place.child("effect"), effect, effects);
    const id = `${effect}/${key}`;
    if (seen.has(id)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint["timeAdded"] ?? null };
      problems.duplicate(place, shown, "taints must be unique by key and effect pair");
    }
    seen.add(id);
  });
}

/** Checks that tolerations are only added, or their time changed. */
export function checkOnlyAdded(
  tolerations: readonly JsonObject[],
  before: readonly JsonObject[],
  path: FieldPath,
  problems: Problems,
): void {
  const isKept = (old: JsonObject) => tolerations.some((now) => isSameJson(withoutTime(now), withoutTime(old)));
  if (!before.every(isKept)) {
    problems.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
  checkTolerations(tolerations, path, problems);
}

function withoutTime(toleration: JsonObject): JsonObject {
  const { tolerationSeconds: _, ...rest } = toleration;
  return rest;
}
