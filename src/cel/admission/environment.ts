/**
 * The variables of expressions in webhooks and policies: `object`, `oldObject`, `request`, `namespaceObject`, and where
 * declared `params`, `authorizer` and `variables`. Types are those of apiserver `admission/plugin/cel` of Kubernetes 1.36:
 * objects are dynamic, the request and the namespace are typed.
 */
import {
  authorizerType,
  boolType,
  CelEnvironment,
  type CelExtension,
  type CelType,
  dynType,
  intType,
  listOf,
  mapOf,
  resourceCheckType,
  stringType,
  timestampType,
  type Value,
} from "../language/mod.ts";

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

/** What a webhook is told about a request; a policy knows more. */
const sentRequestType = objectType("kubernetes.AdmissionRequest", {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: objectType("kubernetes.UserInfo", { username: stringType, uid: stringType, groups: texts }),
  dryRun: boolType,
});

/**
 * The environment of the rules of webhooks: a part of that of policies, so that what compiles here compiles there.
 *
 * @param object The type of the objects. @default dynamic
 */
export function ruleEnvironmentOf(object: CelType = dynType): CelEnvironment {
  return new CelEnvironment(new Map([["object", object], ["oldObject", object], ["request", sentRequestType]]));
}

/** Values by name, for the variables of {@link environmentOf}. */
export type VariableValues = Map<string, Value>;
