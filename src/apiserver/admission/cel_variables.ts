/**
 * The variables of expressions in webhooks and policies: `object`, `oldObject`, `request`, `namespaceObject`, and where
 * declared `params`, `authorizer` and `variables`. Types are those of apiserver `admission/plugin/cel` of Kubernetes 1.36:
 * objects are dynamic, the request and the namespace are typed.
 */
import {
  AccessCheck,
  authorizerType,
  boolType,
  CelEnvironment,
  type CelExtension,
  type CelType,
  type DecideAccess,
  dynType,
  intType,
  jsonValueOf,
  listOf,
  mapOf,
  resourceCheckType,
  stringType,
  timestampType,
  type Value,
} from "../../cel/mod.ts";
import {
  type AdmissionRequest,
  type Authorizer,
  isJsonObject,
  type Json,
  type JsonObject,
  type Kind,
  read,
} from "../model/mod.ts";

/** The types of the objects that an expression sees. */
export interface TypedObjects {
  readonly object: CelType;
  /** @default dynamic */
  readonly params?: CelType;
}

/** The variables that an expression may use besides the common ones. */
export interface DeclaredVariables {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Types of the fields of `variables`. @default the variable is not declared */
  readonly composed?: ReadonlyMap<string, CelType>;
  /** Types of the objects, for checks: `authorizer.requestResource` is then not known. @default they are dynamic */
  readonly typed?: TypedObjects;
  /** Types and functions besides those of all expressions. @default none */
  readonly extension?: CelExtension;
}

const texts = listOf(stringType);
const textMap = mapOf(stringType, stringType);

const kindType = objectType("kubernetes.GroupVersionKind", {
  group: stringType,
  version: stringType,
  kind: stringType,
});
const resourceType = objectType("kubernetes.GroupVersionResource", {
  group: stringType,
  version: stringType,
  resource: stringType,
});

const requestType = objectType("kubernetes.AdmissionRequest", {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: objectType("kubernetes.UserInfo", {
    username: stringType,
    uid: stringType,
    groups: texts,
    extra: mapOf(stringType, texts),
  }),
  dryRun: boolType,
  options: dynType,
});

const namespaceType = objectType("kubernetes.Namespace", {
  metadata: objectType("kubernetes.NamespaceMetadata", {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels: textMap,
    annotations: textMap,
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: texts,
  }),
  spec: objectType("kubernetes.NamespaceSpec", { finalizers: texts }),
  status: objectType("kubernetes.NamespaceStatus", {
    conditions: listOf(objectType("kubernetes.NamespaceCondition", {
      status: stringType,
      type: stringType,
      lastTransitionTime: timestampType,
      message: stringType,
      reason: stringType,
    })),
    phase: stringType,
  }),
});

function objectType(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return { kind: "object", name, fields: new Map(Object.entries(fields)) };
}

/** The environment for compiling an expression. */
export function environmentOf(declared: DeclaredVariables): CelEnvironment {
  const { hasParams, hasAuthorizer, composed, typed, extension } = declared;
  const types = new Map<string, CelType>([
    ["object", typed?.object ?? dynType],
    ["oldObject", typed?.object ?? dynType],
    ["namespaceObject", namespaceType],
    ["request", requestType],
  ]);
  if (hasParams) types.set("params", typed?.params ?? dynType);
  if (hasAuthorizer) types.set("authorizer", authorizerType);
  if (hasAuthorizer && typed === undefined) types.set("authorizer.requestResource", resourceCheckType);
  if (composed !== undefined) {
    types.set("variables", { kind: "object", name: "kubernetes.variables", fields: composed });
  }
  return new CelEnvironment(types, extension);
}

/** Values by name, for the variables of {@link environmentOf}. */
export type VariableValues = Map<string, Value>;

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
