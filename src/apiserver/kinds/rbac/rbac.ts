/**
 * Roles, ClusterRoles and their bindings: rules, defaults and table rows. Whether the user may grant these permissions is
 * checked in access/.
 */
import { type Draft, isSameJson, type Json, type JsonObject, read } from "../../model/mod.ts";
import {
  ageCell,
  type Cell,
  checkSelector,
  createdAtCell,
  type DefaultsByType,
  FieldPath,
  hasInvalidLabelValue,
  type KindRules,
  nameCell,
  pathSegmentName,
  type Problems,
  type Row,
  rowOf,
  subdomainErrors,
} from "../rules/mod.ts";
import { draftAt, findObject, objectAt, objectsAt, setIfEmpty, textAt, textsAt } from "../types/mod.ts";

const rbacGroup = "rbac.authorization.k8s.io";
const common = {
  depth: "full",
  validateName: pathSegmentName,
  allowsCreateOnUpdate: true,
} as const satisfies KindRules;

/** Role. */
export const roleRules: KindRules = {
  ...common,
  validate: (role, problems) => checkPolicyRules(role, true, problems),
};

/** ClusterRole. */
export const clusterRoleRules: KindRules = {
  ...common,
  validate: (role, problems) => checkClusterRole(role, problems, false),
  validateUpdate(role, old, problems) {
    const before = objectsAt(objectAt(old, "aggregationRule"), "clusterRoleSelectors");
    checkClusterRole(role, problems, before.some(hasInvalidLabelValue));
  },
};

function checkClusterRole(role: JsonObject, problems: Problems, allowsInvalidValues: boolean): void {
  checkPolicyRules(role, false, problems);
  const aggregation = findObject(role, "aggregationRule");
  if (aggregation === undefined) return;
  const path = FieldPath.of("aggregationRule", "clusterRoleSelectors");
  const selectors = objectsAt(aggregation, "clusterRoleSelectors");
  if (selectors.length === 0) {
    problems.required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  selectors.forEach((selector, index) => checkSelector(selector, path.index(index), problems, allowsInvalidValues));
}

function checkPolicyRules(role: JsonObject, isNamespaced: boolean, problems: Problems): void {
  objectsAt(role, "rules").forEach((rule, index) =>
    checkPolicyRule(rule, isNamespaced, FieldPath.of("rules").index(index), problems)
  );
}

function checkPolicyRule(rule: JsonObject, isNamespaced: boolean, path: FieldPath, problems: Problems): void {
  const none = (key: string) => textsAt(rule, key).length === 0;
  if (none("verbs")) problems.required(path.child("verbs"), "verbs must contain at least one value");
  const urls = textsAt(rule, "nonResourceURLs");
  if (urls.length > 0) {
    const place = path.child("nonResourceURLs");
    if (isNamespaced) problems.invalid(place, urls, "namespaced rules cannot apply to non-resource URLs");
    if (!none("apiGroups") || !none("resources") || !none("resourceNames")) {
      problems.invalid(place, urls, "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (none("apiGroups")) {
    problems.required(path.child("apiGroups"), "resource rules must supply at least one api group");
  }
  if (none("resources")) problems.required(path.child("resources"), "resource rules must supply at least one resource");
}

/** RoleBinding. */
export const roleBindingRules: KindRules = bindingRules(true, ["Role", "ClusterRole"]);

/** ClusterRoleBinding. */
export const clusterRoleBindingRules: KindRules = bindingRules(false, ["ClusterRole"]);

function bindingRules(isNamespaced: boolean, kinds: readonly string[]): KindRules {
  return {
    ...common,
    validate: (binding, problems) => checkBinding(binding, isNamespaced, kinds, problems),
    validateUpdate(binding, old, problems) {
      checkBinding(binding, isNamespaced, kinds, problems);
      const now = objectAt(binding, "roleRef");
      if (!isSameJson(now, read(old, "roleRef") ?? {})) {
        // The real server shows the Go type here.
        const shown = { APIGroup: textAt(now, "apiGroup"), Kind: textAt(now, "kind"), Name: textAt(now, "name") };
        problems.invalidStruct(FieldPath.of("roleRef"), shown, "cannot change roleRef");
      }
    },
  };
}

function checkBinding(binding: JsonObject, isNamespaced: boolean, kinds: readonly string[], problems: Problems): void {
  const reference = objectAt(binding, "roleRef");
  const path = FieldPath.of("roleRef");
  const [group, kind, name] = [textAt(reference, "apiGroup"), textAt(reference, "kind"), textAt(reference, "name")];
  if (group !== rbacGroup) problems.notSupported(path.child("apiGroup"), group, [rbacGroup]);
  if (!kinds.includes(kind)) problems.notSupported(path.child("kind"), kind, kinds);
  if (name === "") problems.required(path.child("name"));
  else problems.invalidAll(path.child("name"), name, pathSegmentName(name, false));
  objectsAt(binding, "subjects").forEach((subject, index) =>
    checkSubject(subject, isNamespaced, FieldPath.of("subjects").index(index), problems)
  );
}

function checkSubject(subject: JsonObject, isNamespaced: boolean, path: FieldPath, problems: Problems): void {
  const [kind, name, group] = [textAt(subject, "kind"), textAt(subject, "name"), textAt(subject, "apiGroup")];
  if (name === "") problems.required(path.child("name"));
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") problems.invalidAll(path.child("name"), name, subdomainErrors(name));
      if (group !== "") problems.notSupported(path.child("apiGroup"), group, [""]);
      if (!isNamespaced && textAt(subject, "namespace") === "") problems.required(path.child("namespace"));
      break;
    case "User":
    case "Group":
      if (group !== rbacGroup) problems.notSupported(path.child("apiGroup"), group, [rbacGroup]);
      break;
    default:
      problems.notSupported(path.child("kind"), kind, ["ServiceAccount", "User", "Group"]);
  }
}

const setBindingDefaults = (draft: Draft) => setIfEmpty(draftAt(draft, "roleRef"), "apiGroup", rbacGroup);

function setSubjectDefaults(draft: Draft): void {
  const kind = textAt(draft, "kind");
  if (kind === "User" || kind === "Group") setIfEmpty(draft, "apiGroup", rbacGroup);
}

/** The defaults of bindings and their subjects. */
export const rbacDefaults: DefaultsByType = {
  "rbac/v1.ClusterRoleBinding": setBindingDefaults,
  "rbac/v1.RoleBinding": setBindingDefaults,
  "rbac/v1.Subject": setSubjectDefaults,
};

/** The cells of a Role or a ClusterRole. */
export const roleRow: Row = rowOf(nameCell, createdAtCell);

/** The cells of a RoleBinding or a ClusterRoleBinding. */
export const roleBindingRow: Row = rowOf(
  nameCell,
  role,
  ageCell,
  subjects("User"),
  subjects("Group"),
  subjects("ServiceAccount"),
);

function role(object: JsonObject): Json {
  const reference = objectAt(object, "roleRef");
  return `${textAt(reference, "kind")}/${textAt(reference, "name")}`;
}

function subjects(kind: "User" | "Group" | "ServiceAccount"): Cell {
  return (object) => {
    const found = objectsAt(object, "subjects").filter((subject) => textAt(subject, "kind") === kind);
    const title = (subject: JsonObject) =>
      kind === "ServiceAccount"
        ? `${textAt(subject, "namespace")}/${textAt(subject, "name")}`
        : textAt(subject, "name");
    return found.map(title).join(", ");
  };
}
