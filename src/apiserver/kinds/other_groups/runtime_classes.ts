/** RuntimeClasses (node.k8s.io): rules and table row. */
import { type JsonObject, read } from "../../model/mod.ts";
import { checkResourceRequirements, checkTolerations, nodeLabelWarnings } from "../pods/mod.ts";
import {
  ageCell,
  checkImmutable,
  checkLabels,
  FieldPath,
  type KindRules,
  labelErrors,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import { findObject, objectAt, objectsAt, textAt } from "../types/mod.ts";

/** RuntimeClass. */
export const runtimeClassRules: KindRules = {
  depth: "full",
  allowsPlainFinalizers: true,
  allowsUnconditionalUpdate: false,
  allowsCreateOnUpdate: true,
  validate: checkRuntimeClass,
  validateUpdate(object, old, problems) {
    checkRuntimeClass(object, problems);
    checkImmutable(object, old, "handler", FieldPath.of("handler"), problems);
  },
  warnings: (object) =>
    nodeLabelWarnings(
      objectAt(objectAt(object, "scheduling"), "nodeSelector"),
      FieldPath.of("scheduling", "nodeSelector"),
    ),
};

function checkRuntimeClass(object: JsonObject, problems: Problems): void {
  const handler = textAt(object, "handler");
  if (handler === "") problems.required(FieldPath.of("handler"));
  else problems.invalidAll(FieldPath.of("handler"), handler, labelErrors(handler));
  const overhead = findObject(object, "overhead");
  if (overhead !== undefined) {
    checkResourceRequirements({ limits: objectAt(overhead, "podFixed") }, FieldPath.of("overhead"), problems);
  }
  const scheduling = findObject(object, "scheduling");
  if (scheduling === undefined) return;
  const path = FieldPath.of("scheduling");
  checkLabels(scheduling, "nodeSelector", path.child("nodeSelector"), problems);
  const tolerations = objectsAt(scheduling, "tolerations");
  checkTolerations(tolerations, path.child("tolerations"), problems);
  const seen = new Set<string>();
  tolerations.forEach((toleration, index) => {
    const key = ["key", "operator", "value", "effect"].map((name) => textAt(toleration, name)).join("\0");
    if (seen.has(key)) problems.duplicate(path.child("tolerations").index(index), shownToleration(toleration));
    seen.add(key);
  });
}

function shownToleration(toleration: JsonObject): JsonObject {
  return {
    Key: textAt(toleration, "key"),
    Operator: textAt(toleration, "operator"),
    Value: textAt(toleration, "value"),
    Effect: textAt(toleration, "effect"),
    TolerationSeconds: read(toleration, "tolerationSeconds") ?? null,
  };
}

/** The cells of a RuntimeClass. */
export const runtimeClassRow: Row = rowOf(nameCell, textCell("handler"), ageCell);
