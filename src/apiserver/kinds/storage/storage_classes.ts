/** StorageClasses: rules, defaults and table row. */
import { type Json, type JsonObject, labelKeyErrors, utf8Length } from "../../model/mod.ts";
import { nodeLabelWarning } from "../pods/mod.ts";
import {
  ageCell,
  annotationOf,
  booleanCell,
  checkImmutable,
  type DefaultsByType,
  FieldPath,
  type KindRules,
  type Problems,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import { has, nameOf, objectsAt, setIfAbsent, textAt, textMapAt, textsAt } from "../types/mod.ts";

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;
const reclaimPolicies = ["Delete", "Retain"];
const bindingModes = ["Immediate", "WaitForFirstConsumer"];
const topologiesPath = FieldPath.of("allowedTopologies");

/** StorageClass. */
export const storageClassRules: KindRules = {
  depth: "full",
  validate: checkClass,
  validateUpdate(storageClass, old, problems) {
    checkClass(storageClass, problems);
    for (const key of ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"]) {
      checkImmutable(storageClass, old, key, FieldPath.of(key), problems);
    }
  },
  warnings: (storageClass) =>
    objectsAt(storageClass, "allowedTopologies").flatMap((term, index) =>
      objectsAt(term, "matchLabelExpressions").flatMap((expression, at) => {
        const warning = nodeLabelWarning(textAt(expression, "key"));
        const place = topologiesPath.index(index).child("matchLabelExpressions").index(at).child("key");
        return warning === undefined ? [] : [`${place}: ${warning}`];
      })
    ),
};

function checkClass(storageClass: JsonObject, problems: Problems): void {
  checkProvisioner(textAt(storageClass, "provisioner"), FieldPath.of("provisioner"), problems);
  checkParameters(textMapAt(storageClass, "parameters"), FieldPath.of("parameters"), problems);
  const policy = textAt(storageClass, "reclaimPolicy");
  if (policy !== "" && !reclaimPolicies.includes(policy)) {
    problems.notSupported(FieldPath.of("reclaimPolicy"), policy, reclaimPolicies);
  }
  const mode = textAt(storageClass, "volumeBindingMode");
  if (!has(storageClass, "volumeBindingMode")) problems.required(FieldPath.of("volumeBindingMode"));
  else if (!bindingModes.includes(mode)) problems.notSupported(FieldPath.of("volumeBindingMode"), mode, bindingModes);
  checkTopologies(objectsAt(storageClass, "allowedTopologies"), problems);
}

/** Checks the name of a provisioner or a driver. */
export function checkProvisioner(name: string, path: FieldPath, problems: Problems): void {
  const provisioner = name.toLowerCase();
  if (provisioner === "") problems.required(path);
  else problems.invalidAll(path, provisioner, labelKeyErrors(provisioner));
}

/** Checks the keys and the size of parameters. */
export function checkParameters(parameters: ReadonlyMap<string, string>, path: FieldPath, problems: Problems): void {
  if (parameters.size > maxParameters) return problems.tooLong(path, maxParameters);
  let bytes = 0;
  for (const [key, value] of parameters) {
    if (key === "") problems.invalid(path, key, "field can not be empty.");
    bytes += utf8Length(key) + utf8Length(value);
  }
  if (bytes > maxParameterBytes) problems.tooLong(path, maxParameterBytes);
}

/** Checks topologies and that no two are the same. An empty one counts as a duplicate of each, as in kube-apiserver. */
function checkTopologies(terms: readonly JsonObject[], problems: Problems): void {
  const seen: string[] = terms.map(() => "{}");
  terms.forEach((term, index) => {
    const place = topologiesPath.index(index);
    checkTopology(term, place, problems);
    const form = topologyForm(term);
    for (const other of seen) if (other === form) problems.duplicate(place.child("matchLabelExpressions"), "");
    seen.push(form);
  });
}

/** A text that is the same for topologies of the same keys and values. The last expression of a key counts. */
function topologyForm(term: JsonObject): string {
  const values = new Map(
    objectsAt(term, "matchLabelExpressions").map((expression) => [
      textAt(expression, "key"),
      [...new Set(textsAt(expression, "values"))].sort(),
    ]),
  );
  return JSON.stringify(Object.fromEntries([...values].sort(([left], [right]) => left < right ? -1 : 1)));
}

function checkTopology(term: JsonObject, path: FieldPath, problems: Problems): void {
  const keys = new Set<string>();
  objectsAt(term, "matchLabelExpressions").forEach((expression, index) => {
    const place = path.child("matchLabelExpressions").index(index);
    const [key, values] = [textAt(expression, "key"), textsAt(expression, "values")];
    if (values.length === 0) problems.required(place.child("values"));
    values.forEach((value, at) => {
      if (values.indexOf(value) < at) problems.duplicate(place.child("values").index(at), value);
    });
    problems.invalidAll(place.child("key"), key, labelKeyErrors(key));
    if (keys.has(key)) problems.duplicate(place.child("key"), key);
    keys.add(key);
  });
}

/** The defaults of StorageClasses. */
export const storageClassDefaults: DefaultsByType = {
  "storage/v1.StorageClass": (draft) => {
    setIfAbsent(draft, "reclaimPolicy", "Delete");
    setIfAbsent(draft, "volumeBindingMode", "Immediate");
  },
};

/** The cells of a StorageClass. */
export const storageClassRow: Row = rowOf(
  storageClassName,
  textCell("provisioner"),
  textCell("reclaimPolicy", "Delete"),
  textCell("volumeBindingMode", "Immediate"),
  booleanCell("allowVolumeExpansion"),
  ageCell,
);

const defaultClass = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

function storageClassName(object: JsonObject): Json {
  const isDefault = defaultClass.some((annotation) => annotationOf(object, annotation) === "true");
  return isDefault ? `${nameOf(object)} (default)` : nameOf(object);
}
