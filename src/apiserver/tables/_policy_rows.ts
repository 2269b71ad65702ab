/** The rows of who may do what, and of what is admitted: rbac, certificates, admissionregistration, policy. */
import { findObject, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { humanDuration, type Json, type JsonObject, read } from "../model/mod.ts";
import { age, type Cell, count, createdAt, integer, name, row, type Rows, scalar, text } from "./_cells.ts";
import { selectorStruct } from "./_selector_text.ts";

const rbac = "rbac.authorization.k8s.io";
const admission = "admissionregistration.k8s.io";

const binding = row(name, role, age, subjects("User"), subjects("Group"), subjects("ServiceAccount"));
const policyBinding = row(name, text("spec.policyName"), parameter, age);

export const policyRows: Rows = {
  [`clusterroles.${rbac}`]: row(name, createdAt),
  [`clusterrolebindings.${rbac}`]: binding,
  [`roles.${rbac}`]: row(name, createdAt),
  [`rolebindings.${rbac}`]: binding,
  [`mutatingadmissionpolicies.${admission}`]: row(name, count("spec.mutations"), parameterKind, age),
  [`mutatingadmissionpolicybindings.${admission}`]: policyBinding,
  [`mutatingwebhookconfigurations.${admission}`]: row(name, count("webhooks"), age),
  [`validatingadmissionpolicies.${admission}`]: row(name, count("spec.validations"), parameterKind, age),
  [`validatingadmissionpolicybindings.${admission}`]: policyBinding,
  [`validatingwebhookconfigurations.${admission}`]: row(name, count("webhooks"), age),
  "certificatesigningrequests.certificates.k8s.io": row(
    name,
    age,
    text("spec.signerName", "<none>"),
    text("spec.username"),
    requestedDuration,
    requestStatus,
  ),
  "poddisruptionbudgets.policy": row(
    name,
    scalar("spec.minAvailable", "N/A"),
    scalar("spec.maxUnavailable", "N/A"),
    integer("status.disruptionsAllowed"),
    age,
  ),
};

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

function parameterKind(object: JsonObject): Json {
  const kind = findObject(objectAt(object, "spec"), "paramKind");
  return kind === undefined ? "<unset>" : `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`;
}

/** A binding does not know whether its parameter has a namespace: `*` is any or none. */
function parameter(object: JsonObject): Json {
  const reference = findObject(objectAt(object, "spec"), "paramRef");
  if (reference === undefined) return "<unset>";
  const [named, namespace] = [textAt(reference, "name"), textAt(reference, "namespace")];
  if (named !== "") return `${namespace === "" ? "*" : namespace}/${named}`;
  const selector = findObject(reference, "selector");
  return selector === undefined ? "<unset>" : selectorStruct(selector);
}

function requestedDuration(object: JsonObject): Json {
  const seconds = read(objectAt(object, "spec"), "expirationSeconds");
  return typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>";
}

function requestStatus(object: JsonObject): Json {
  const status = objectAt(object, "status");
  const types = new Set(objectsAt(status, "conditions").map((condition) => textAt(condition, "type")));
  const decision = types.has("Denied") ? "Denied" : types.has("Approved") ? "Approved" : "Pending";
  const failed = types.has("Failed") ? ",Failed" : "";
  return `${decision}${failed}${textAt(status, "certificate") === "" ? "" : ",Issued"}`;
}
