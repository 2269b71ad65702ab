/**
 * The review resources: SelfSubjectReview, SubjectAccessReview and its variants, SelfSubjectRulesReview, TokenReview.
 * `kubectl auth can-i` and `whoami`, metrics servers and `controller doctor` use them. Source: kubernetes
 * `pkg/registry/authorization` and `authentication` of 1.36.
 */
import {
  type Attributes,
  type Authorizer,
  badRequest,
  type FieldError,
  invalid,
  isJsonObject,
  type Json,
  type JsonObject,
  type User,
} from "../model/mod.ts";
import { type ActionCall, readMetadata, type ReviewHandler, timestamp } from "../registry/mod.ts";
import { objectAt, textAt, textsAt } from "../kinds/mod.ts";
import { RbacAuthorizer } from "./rbac.ts";
import type { TokenAuthority } from "./token_authority.ts";

/** What the reviews need. */
export interface AccessReviewParts {
  readonly authorizer: Authorizer;
  readonly tokens: TokenAuthority;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The handlers of all reviews. */
export function accessReviews({ authorizer, tokens, now }: AccessReviewParts): readonly ReviewHandler[] {
  const decide = (call: ActionCall, user: User, namespace?: string) => subjectReview(call, authorizer, user, namespace);
  return [
    review("selfsubjectaccessreviews.authorization.k8s.io", (call) => decide(call, call.user)),
    review("subjectaccessreviews.authorization.k8s.io", (call) => decide(call, reviewedUser(call))),
    review(
      "localsubjectaccessreviews.authorization.k8s.io",
      (call) => decide(call, reviewedUser(call), call.namespace),
    ),
    review("selfsubjectrulesreviews.authorization.k8s.io", (call) => rulesReview(call, authorizer)),
    { collection: "selfsubjectreviews.authentication.k8s.io", review: (call) => selfReview(call, now) },
    review("tokenreviews.authentication.k8s.io", (call) => tokenReview(call, tokens)),
  ];
}

/** SelfSubjectReview, the only review with a creationTimestamp. */
function selfReview(call: ActionCall, now: () => number): JsonObject {
  const body = reviewBody(call);
  const metadata = { ...readMetadata(body), creationTimestamp: timestamp(now()) };
  return { ...body, metadata, status: { userInfo: infoOf(call.user) } };
}

function review(collection: string, statusOf: (call: ActionCall) => JsonObject): ReviewHandler {
  return { collection, review: (call) => ({ ...reviewBody(call), status: statusOf(call) }) };
}

function subjectReview(call: ActionCall, authorizer: Authorizer, user: User, namespace?: string): JsonObject {
  const spec = specOf(call);
  const { resourceAttributes, nonResourceAttributes } = spec;
  const isSelf = call.kind.kind.startsWith("Self");
  const errors = [...attributeErrors(spec), ...(isSelf ? [] : userErrors(user)), ...namespaceErrors(spec, namespace)];
  // The real server omits the kind here.
  if (errors.length > 0) throw invalid({ group: "authorization.k8s.io", resource: "", name: "" }, errors);
  const attributes = isJsonObject(resourceAttributes)
    ? resourceAttributesOf(user, resourceAttributes)
    : pathAttributesOf(user, nonResourceAttributes);
  const { isAllowed, reason } = authorizer.authorize(attributes);
  return { allowed: isAllowed, ...(reason === "" ? {} : { reason }) };
}

function attributeErrors({ resourceAttributes, nonResourceAttributes }: JsonObject): readonly FieldError[] {
  const [isResource, isPath] = [isJsonObject(resourceAttributes), isJsonObject(nonResourceAttributes)];
  if (isResource !== isPath) return [];
  if (isResource && isJsonObject(nonResourceAttributes)) {
    const { path = "", verb = "" } = nonResourceAttributes;
    const detail = "cannot be specified in combination with resourceAttributes";
    // The real server prints its Go struct here.
    const value: Json = { Path: path, Verb: verb };
    return [{ type: "Invalid", field: "spec.nonResourceAttributes", value, detail }];
  }
  const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  return [{ type: "Invalid", field: "spec.resourceAttributes", value: null, detail }];
}

function userErrors({ name, groups }: User): readonly FieldError[] {
  if (name !== "" || groups.length > 0) return [];
  return [{
    type: "Invalid",
    field: "spec.user",
    value: "",
    detail: "at least one of user or group must be specified",
  }];
}

/** A review in a namespace must be about that namespace. */
function namespaceErrors(spec: JsonObject, namespace: string | undefined): readonly FieldError[] {
  if (namespace === undefined) return [];
  const errors: FieldError[] = [];
  const requested = isJsonObject(spec.resourceAttributes) ? textAt(spec.resourceAttributes, "namespace") : namespace;
  if (requested !== namespace) {
    const field = "spec.resourceAttributes.namespace";
    errors.push({ type: "Invalid", field, value: requested, detail: "must match metadata.namespace" });
  }
  if (isJsonObject(spec.nonResourceAttributes)) {
    const { path = "", verb = "" } = spec.nonResourceAttributes;
    const value: Json = { Path: path, Verb: verb };
    const detail = "disallowed on this kind of request";
    errors.push({ type: "Invalid", field: "spec.nonResourceAttributes", value, detail });
  }
  return errors;
}

function resourceAttributesOf(user: User, attributes: JsonObject): Attributes {
  const text = (key: string) => textAt(attributes, key);
  return {
    user,
    verb: text("verb"),
    isResourceRequest: true,
    group: text("group"),
    version: text("version"),
    resource: text("resource"),
    subresource: text("subresource"),
    namespace: text("namespace"),
    name: text("name"),
    path: "",
  };
}

function pathAttributesOf(user: User, value: Json | undefined): Attributes {
  const attributes = isJsonObject(value) ? value : {};
  const rest = { group: "", version: "", resource: "", subresource: "", namespace: "", name: "" };
  const [verb, path] = [textAt(attributes, "verb"), textAt(attributes, "path")];
  return { user, verb, isResourceRequest: false, ...rest, path };
}

function reviewedUser(call: ActionCall): User {
  const spec = specOf(call);
  const extra = objectAt(spec, "extra");
  return {
    name: textAt(spec, "user"),
    uid: textAt(spec, "uid"),
    groups: textsAt(spec, "groups"),
    extra: new Map(Object.keys(extra).map((key) => [key, textsAt(extra, key)] as const)),
  };
}

const noRule = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

/** All rules that RBAC knows. Other authorizers have no list of rules. */
function rulesReview(call: ActionCall, authorizer: Authorizer): JsonObject {
  const namespace = textAt(specOf(call), "namespace");
  if (namespace === "") throw badRequest("no namespace on request");
  const rules = authorizer instanceof RbacAuthorizer
    ? [...authorizer.rulesFor(call.user, namespace)].map(({ rule }) => ({ ...noRule, ...rule }))
    : [];
  const isMaster = call.user.groups.includes("system:masters");
  const all = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] };
  const known = isMaster ? [all, { ...all, apiGroups: [], resources: [], nonResourceURLs: ["*"] }, ...rules] : rules;
  const filled = (entries: Record<string, readonly string[]>) =>
    Object.fromEntries(Object.entries(entries).filter(([, values]) => values.length > 0));
  return {
    resourceRules: known.filter(({ resources }) => resources.length > 0).map((
      { verbs, apiGroups, resources, resourceNames },
    ) => filled({ verbs, apiGroups, resources, resourceNames })),
    nonResourceRules: known.filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => filled({ verbs, nonResourceURLs })),
    incomplete: false,
  };
}

function tokenReview(call: ActionCall, tokens: TokenAuthority): JsonObject {
  const spec = specOf(call);
  const token = textAt(spec, "token");
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const requested = textsAt(spec, "audiences");
  const audiences = requested.length === 0 ? [tokens.issuer] : requested;
  const known = tokens.read(token);
  const common = known?.audiences.filter((audience) => audiences.includes(audience)) ?? [];
  if (known === undefined || common.length === 0) {
    return { user: {}, error: "[invalid bearer token, Token has been invalidated]" };
  }
  return { authenticated: true, user: infoOf(known.user), audiences: common };
}

function infoOf({ name, uid, groups, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    groups,
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

function reviewBody({ body = {}, kind }: ActionCall): JsonObject {
  return { ...body, apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind };
}

function specOf({ body = {} }: ActionCall): JsonObject {
  return objectAt(body, "spec");
}
