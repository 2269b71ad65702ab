/**
 * The authorization library: lets expressions of admission check permissions. A check is built step by step
 * (`authorizer.group("apps").resource("deployments").namespace("x").check("get").allowed()`). Only `check` calls the
 * authorizer; it costs a third of the limit of an expression.
 */
import { binary, type FunctionDecl, type Guard, isText, method, type Overload, ternary, unary } from "./functions.ts";
import { boolType, type CelType, stringType } from "./types.ts";
import { CelOpaque, type Value } from "./values.ts";

/** The attributes of an access check. */
export interface AccessAttributes {
  /** The path of a check that is not about a resource. */
  readonly path?: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly verb: string;
  /** The ServiceAccount to check instead of the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

/** Decides about an access check. */
export type DecideAccess = (attributes: AccessAttributes) => { readonly isAllowed: boolean; readonly reason: string };

/** `authorizer`. */
export const authorizerType = opaque("Authorizer");
/** `authorizer.requestResource`. */
export const resourceCheckType = opaque("ResourceCheck");
const pathCheckType = opaque("PathCheck");
const groupCheckType = opaque("GroupCheck");
const decisionType = opaque("Decision");

function opaque(name: string): CelType {
  return { kind: "opaque", name: `kubernetes.authorization.${name}`, of: [], isObject: true };
}

const noAttributes: AccessAttributes = { group: "", resource: "", subresource: "", namespace: "", name: "", verb: "" };

/** An access check under construction. Its type decides which method can come next. */
export class AccessCheck extends CelOpaque {
  override readonly type: CelType;
  readonly decide: DecideAccess;
  readonly attributes: AccessAttributes;

  private constructor(type: CelType, decide: DecideAccess, attributes: AccessAttributes) {
    super();
    this.type = type;
    this.decide = decide;
    this.attributes = attributes;
  }

  /** The variable `authorizer`. */
  static authorizer(decide: DecideAccess): AccessCheck {
    return new AccessCheck(authorizerType, decide, noAttributes);
  }

  /** The variable `authorizer.requestResource`. */
  static resource(
    decide: DecideAccess,
    about: Omit<AccessAttributes, "verb" | "path" | "serviceAccount">,
  ): AccessCheck {
    return new AccessCheck(resourceCheckType, decide, { ...noAttributes, ...about });
  }

  with(type: CelType, more: Partial<AccessAttributes>): AccessCheck {
    return new AccessCheck(type, this.decide, { ...this.attributes, ...more });
  }

  override equals(other: CelOpaque): boolean {
    return other === this;
  }

  override toText(): string {
    return "name" in this.type ? this.type.name : this.type.kind;
  }
}

class AccessDecision extends CelOpaque {
  override readonly type = decisionType;
  readonly isAllowed: boolean;
  readonly reason: string;

  constructor(isAllowed: boolean, reason: string) {
    super();
    this.isAllowed = isAllowed;
    this.reason = reason;
  }

  override equals(other: CelOpaque): boolean {
    return other === this;
  }

  override toText(): string {
    return "kubernetes.authorization.Decision";
  }
}

const isCheck: Guard<AccessCheck> = (value) => value instanceof AccessCheck;
const isAccessDecision: Guard<AccessDecision> = (value) => value instanceof AccessDecision;

/** The functions. Selectors are accepted, but no authorizer here uses them. */
export const authorizerFunctions: readonly FunctionDecl[] = [
  one("path", step("authorizer_path", authorizerType, pathCheckType, (path) => ({ path }))),
  one("group", step("authorizer_group", authorizerType, groupCheckType, (group) => ({ group }))),
  one(
    "serviceAccount",
    method(
      "authorizer_serviceaccount",
      [authorizerType, stringType, stringType],
      authorizerType,
      ternary(
        [isCheck, isText, isText],
        (check, namespace, name) => check.with(authorizerType, { serviceAccount: { namespace, name } }),
      ),
    ),
  ),
  one("resource", step("groupcheck_resource", groupCheckType, resourceCheckType, (resource) => ({ resource }))),
  one("subresource", refined("subresource", (subresource) => ({ subresource }))),
  one("namespace", refined("namespace", (namespace) => ({ namespace }))),
  one("name", refined("name", (name) => ({ name }))),
  one("fieldSelector", refined("fieldselector", () => ({}))),
  one("labelSelector", refined("labelselector", () => ({}))),
  {
    name: "check",
    overloads: [
      method("pathcheck_check", [pathCheckType, stringType], decisionType, binary(isCheck, isText, checked)),
      method("resourcecheck_check", [resourceCheckType, stringType], decisionType, binary(isCheck, isText, checked)),
    ],
  },
  one("errored", decisionField("decision_errored", boolType, () => false)),
  one("error", decisionField("decision_error", stringType, () => "")),
  one("allowed", decisionField("decision_allowed", boolType, ({ isAllowed }) => isAllowed)),
  one("reason", decisionField("decision_reason", stringType, ({ reason }) => reason)),
];

function checked(check: AccessCheck, verb: string): Value {
  const { isAllowed, reason } = check.decide({ ...check.attributes, verb });
  return new AccessDecision(isAllowed, reason);
}

function one(name: string, only: Overload): FunctionDecl {
  return { name, overloads: [only] };
}

function step(id: string, from: CelType, to: CelType, more: (text: string) => Partial<AccessAttributes>): Overload {
  return method(id, [from, stringType], to, binary(isCheck, isText, (check, text) => check.with(to, more(text))));
}

function refined(name: string, more: (text: string) => Partial<AccessAttributes>): Overload {
  return step(`resourcecheck_${name}`, resourceCheckType, resourceCheckType, more);
}

function decisionField(id: string, result: CelType, read: (decision: AccessDecision) => Value): Overload {
  return method(id, [decisionType], result, unary(isAccessDecision, read));
}
