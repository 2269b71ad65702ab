/**
 * Who may write which part of the status of a ResourceClaim, beyond the permission for `resourceclaims/status`: the scheduler
 * binds (`resourceclaims/binding`), and a driver reports its own devices (`resourceclaims/driver`), from the Node of the claim
 * or from any Node. Source: kubernetes `pkg/registry/resource/utils.go` of 1.36.
 *
 * Caveats: the answer names only these errors; kube-apiserver adds those of an invalid status.
 */
import { objectAt, objectIn, objectsAt, textAt } from "../kinds/mod.ts";
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Attributes,
  type Authorizer,
  deniedError,
  type FieldError,
  invalid,
  isSameJson,
  type JsonObject,
  read,
  type User,
} from "../model/mod.ts";

const nodeKey = "authentication.kubernetes.io/node-name";

/** The plugin that checks writes of the status of claims. It runs after all plugins that change objects. */
export function claimStatusCheck(authorizer: Authorizer): AdmissionPlugin {
  return { name: "ResourceClaimStatus", admit: (request) => check(authorizer, request) };
}

function check(authorizer: Authorizer, request: AdmissionRequest): void {
  const { kind, subresource, object, oldObject = {}, name } = request;
  if (kind.collection !== "resourceclaims.resource.k8s.io" || subresource !== "status" || object === undefined) return;
  const [status, old] = [objectAt(object, "status"), objectAt(oldObject, "status")];
  const errors = [
    ...bindingErrors(authorizer, request, status, old),
    ...deviceErrors(authorizer, request, status, old),
  ];
  if (errors.length > 0) throw invalid({ group: kind.group, resource: kind.kind, name }, errors);
}

function verbOf({ isPatch = false }: AdmissionRequest): string {
  return isPatch ? "patch" : "update";
}

function bindingErrors(
  authorizer: Authorizer,
  request: AdmissionRequest,
  status: JsonObject,
  old: JsonObject,
): readonly FieldError[] {
  const isSame = ["allocation", "reservedFor"].every((key) =>
    isSameJson(read(status, key) ?? null, read(old, key) ?? null)
  );
  if (isSame) return [];
  const verb = verbOf(request);
  const denial = denialOf(authorizer, request, { verb, subresource: "binding", namespace: "", name: "" });
  if (denial === undefined) return [];
  const needs = `requires resource="resourceclaims/binding", verb="${verb}" permission: ${denial}`;
  const detail = `changing status.allocation or status.reservedFor ${needs}`;
  return [{ type: "Forbidden", field: "status.allocation", detail }];
}

function deviceErrors(
  authorizer: Authorizer,
  request: AdmissionRequest,
  status: JsonObject,
  old: JsonObject,
): readonly FieldError[] {
  const allocation = read(status, "allocation");
  if (allocation === undefined || allocation === null) return [];
  const verb = verbOf(request);
  const isOwnNode = isOnNode(request.user, nodeOf(objectAt(status, "allocation")));
  const verbs = [...(isOwnNode ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`];
  return changedDrivers(status, old).flatMap((driver): readonly FieldError[] => {
    const denials = verbs.map((each) =>
      denialOf(authorizer, request, {
        verb: each,
        subresource: "driver",
        namespace: request.namespace,
        name: driver,
      })
    );
    const [first] = denials;
    if (first === undefined || denials.includes(undefined)) return [];
    const needs = `requires resource="resourceclaims/driver", verb="[${verbs.join(" ")}]" permission: ${first}`;
    return [{ type: "Forbidden", field: "status.devices", detail: `changing status.devices ${needs}` }];
  });
}

/** @returns why the user may not; undefined if the user may */
function denialOf(
  authorizer: Authorizer,
  { user, kind: { group, version, plural } }: AdmissionRequest,
  asked: Pick<Attributes, "verb" | "subresource" | "namespace" | "name">,
): string | undefined {
  const attributes = { user, isResourceRequest: true, group, version, resource: plural, path: "", ...asked };
  const { isAllowed, reason } = authorizer.authorize(attributes);
  return isAllowed ? undefined : deniedError(attributes, reason).message;
}

/** The drivers whose devices were added, removed or changed, sorted. */
function changedDrivers(status: JsonObject, old: JsonObject): readonly string[] {
  const keyOf = (device: JsonObject) =>
    JSON.stringify(["driver", "pool", "device", "shareID"].map((key) => textAt(device, key)));
  const [now, before] = [objectsAt(status, "devices"), objectsAt(old, "devices")];
  const changed = now.filter((device) => {
    const known = before.find((each) => keyOf(each) === keyOf(device));
    return known === undefined || !isSameJson(known, device);
  });
  const keys = new Set(now.map(keyOf));
  const removed = before.filter((device) => !keys.has(keyOf(device)));
  return [...new Set([...changed, ...removed].map((device) => textAt(device, "driver")))].sort();
}

/** The one Node of an allocation; "" if there is not exactly one. */
function nodeOf(allocation: JsonObject): string {
  const terms = objectsAt(objectIn(allocation, "nodeSelector"), "nodeSelectorTerms");
  const [term = {}] = terms;
  const fields = objectsAt(term, "matchFields");
  const [field = {}] = fields;
  const values = read(field, "values");
  const isExact = terms.length === 1 && fields.length === 1 && objectsAt(term, "matchExpressions").length === 0 &&
    textAt(field, "key") === "metadata.name" && textAt(field, "operator") === "In";
  return isExact && Array.isArray(values) && values.length === 1 ? String(values[0]) : "";
}

/** True for a ServiceAccount with a token that is bound to the Node. */
function isOnNode({ name, extra }: User, node: string): boolean {
  const names = extra.get(nodeKey) ?? [];
  return node !== "" && name.startsWith("system:serviceaccount:") && names.length === 1 && names[0] === node;
}
