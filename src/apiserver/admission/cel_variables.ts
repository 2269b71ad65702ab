/**
 * The values of the variables of expressions in webhooks and policies; `cel/admission/environment.ts` has their types.
 */
import { AccessCheck, type DecideAccess, jsonValueOf, type Value, type VariableValues } from "../../cel/mod.ts";
import {
  type AdmissionRequest,
  type Authorizer,
  isJsonObject,
  type Json,
  type JsonObject,
  type Kind,
  read,
} from "../model/mod.ts";

/** What the variables depend on besides the request. */
export interface RequestContext {
  readonly authorizer: Authorizer;
  /** @default the request has no namespace */
  readonly namespace?: JsonObject;
  /** The kind of the client's request, when `request` was converted to another version. @default request.kind */
  readonly requestKind?: Kind;
}

/** The values of the variables for a request. */
export function valuesOf(
  request: AdmissionRequest,
  { authorizer, namespace, requestKind }: RequestContext,
): VariableValues {
  const { kind, subresource, name } = request;
  const decide = decideFor(request, authorizer);
  return new Map<string, Value>([
    ["object", jsonValueOf(request.object ?? null)],
    ["oldObject", jsonValueOf(request.oldObject ?? null)],
    ["namespaceObject", jsonValueOf(namespace === undefined ? null : namespaceFields(namespace))],
    ["request", jsonValueOf(requestFields(request, requestKind))],
    ["params", null],
    ["authorizer", AccessCheck.authorizer(decide)],
    [
      "authorizer.requestResource",
      AccessCheck.resource(decide, {
        group: kind.group,
        resource: kind.plural,
        subresource,
        namespace: request.namespace,
        name,
      }),
    ],
  ]);
}

function decideFor({ user }: AdmissionRequest, authorizer: Authorizer): DecideAccess {
  return ({ path, serviceAccount, ...attributes }) =>
    authorizer.authorize({
      ...attributes,
      user: serviceAccount === undefined ? user : accountUser(serviceAccount.namespace, serviceAccount.name),
      isResourceRequest: path === undefined,
      version: path === undefined ? "*" : "",
      path: path ?? "",
    });
}

function accountUser(namespace: string, name: string) {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: "",
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
    extra: new Map<string, readonly string[]>(),
  };
}

const hiddenMetadata = new Set(["managedFields", "ownerReferences", "selfLink"]);

/** The fields of a Namespace that expressions can see. */
function namespaceFields(namespace: JsonObject): JsonObject {
  const metadata = read<Json>(namespace, "metadata");
  const shown = isJsonObject(metadata)
    ? Object.fromEntries(Object.entries(metadata).filter(([key]) => !hiddenMetadata.has(key)))
    : {};
  return { metadata: shown, spec: namespace.spec ?? {}, status: namespace.status ?? {} };
}

/** `request` of an AdmissionReview and of expressions. @param requestKind the kind of the client's request */
export function requestFields(request: AdmissionRequest, requestKind: Kind = request.kind): JsonObject {
  const { kind, subresource, namespace, name, operation, user, isDryRun, options } = request;
  const [shown, requested] = [namesOf(kind, subresource), namesOf(requestKind, subresource)];
  return {
    kind: shown.kind,
    resource: shown.resource,
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: requested.kind,
    requestResource: requested.resource,
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid === "" ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(user.extra.size === 0 ? {} : { extra: Object.fromEntries(user.extra) }),
    },
    dryRun: isDryRun,
    options,
  };
}

/** @param subresource may have another kind: a Scale */
function namesOf({ group, version, kind, plural, subresources }: Kind, subresource: string) {
  const body = subresources.get(subresource)?.body ?? { group, version, kind };
  return {
    kind: { group: body.group, version: body.version, kind: body.kind },
    resource: { group, version, resource: plural },
  };
}
