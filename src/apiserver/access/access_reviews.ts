/**
 * The review resources: SelfSubjectReview, SubjectAccessReview and its variants, SelfSubjectRulesReview, TokenReview.
 * `kubectl auth can-i` and `whoami`, metrics servers and `controller doctor` use them. Source: kubernetes
 * `pkg/registry/authorization` and `authentication` of 1.36.
 */
import {
  type Authorizer,
  badRequest,
  type FieldError,
  goAggregate,
  invalid,
  isJsonObject,
  type JsonObject,
  type User,
} from "../model/mod.ts";
import { type ActionCall, readMetadata, type ReviewHandler, timestamp } from "../registry/mod.ts";
import { objectAt, textAt, textsAt } from "../kinds/mod.ts";
import type { NodeAuthorizer } from "./node_authorizer.ts";
import { type MissingRole, missingRolesText, type RbacAuthorizer } from "./rbac.ts";
import {
  attributeErrors,
  metadataErrors,
  namespaceErrors,
  pathAttributesOf,
  resourceAttributesOf,
  selectorErrors,
  selectorProblem,
} from "./review_spec.ts";
import type { TokenAuthority } from "./token_authority.ts";

/** What the reviews need. */
export interface AccessReviewParts {
  readonly authorizer: Authorizer;
  /** Knows the rules of users. @default nobody knows them */
  readonly rbac?: RbacAuthorizer | undefined;
  /** Decides about kubelets, whose rules cannot be listed. @default none does */
  readonly nodes?: NodeAuthorizer | undefined;
  readonly tokens: TokenAuthority;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The handlers of all reviews. */
export function accessReviews({ authorizer, rbac, nodes, tokens, now }: AccessReviewParts): readonly ReviewHandler[] {
  const decide = (call: ActionCall, user: User, namespace?: string) => subjectReview(call, authorizer, user, namespace);
  return [
    review("selfsubjectaccessreviews.authorization.k8s.io", (call) => decide(call, call.user)),
    review("subjectaccessreviews.authorization.k8s.io", (call) => decide(call, reviewedUser(call))),
    review(
      "localsubjectaccessreviews.authorization.k8s.io",
      (call) => decide(call, reviewedUser(call), call.namespace),
    ),
    {
      collection: "selfsubjectrulesreviews.authorization.k8s.io",
      // Alone among the reviews, the response does not repeat the metadata and the spec.
      review: (call) => ({
        ...reviewBody({ ...call, body: {} }),
        metadata: {},
        spec: {},
        status: rulesReview(call, rbac, nodes),
      }),
    },
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
  const errors = [
    ...attributeErrors(spec),
    ...(isSelf ? [] : userErrors(user)),
    ...selectorErrors(spec),
    ...metadataErrors(reviewBody(call), namespace),
    ...namespaceErrors(spec, namespace),
  ];
  // The real server omits the kind here.
  if (errors.length > 0) throw invalid({ group: "authorization.k8s.io", resource: "", name: "" }, errors);
  const attributes = isJsonObject(resourceAttributes)
    ? resourceAttributesOf(user, resourceAttributes)
    : pathAttributesOf(user, nonResourceAttributes);
  const { isAllowed, reason } = authorizer.authorize(attributes);
  const evaluationError = selectorProblem(spec);
  return {
    allowed: isAllowed,
    ...(reason === "" ? {} : { reason }),
    ...(evaluationError === "" ? {} : { evaluationError }),
  };
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

/** All rules that RBAC knows. */
function rulesReview(
  call: ActionCall,
  rbac: RbacAuthorizer | undefined,
  nodes: NodeAuthorizer | undefined,
): JsonObject {
  const namespace = textAt(specOf(call), "namespace");
  if (namespace === "") throw badRequest("no namespace on request");
  const missing: MissingRole[] = [];
  const granted = rbac === undefined ? [] : [...rbac.rulesFor(call.user, namespace, missing)];
  const rules = granted.map(({ rule }) => ({ ...noRule, ...rule }));
  const isIncomplete = nodes?.decidesAbout(call.user) === true;
  const evaluationError = goAggregate([
    ...(isIncomplete ? ["node authorizer does not support user rule resolution"] : []),
    ...(missing.length === 0 ? [] : [missingRolesText(missing)]),
  ]);
  const all = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] };
  const everything = [all, { ...all, apiGroups: [], resources: [], nonResourceURLs: ["*"] }];
  const known = rbac === undefined ? everything : rules;
  const filled = (entries: Record<string, readonly string[]>) =>
    Object.fromEntries(Object.entries(entries).filter(([, values]) => values.length > 0));
  return {
    resourceRules: known.filter(({ resources }) => resources.length > 0).map((
      { verbs, apiGroups, resources, resourceNames },
    ) => filled({ verbs, apiGroups, resources, resourceNames })),
    nonResourceRules: known.filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => filled({ verbs, nonResourceURLs })),
    incomplete: isIncomplete,
    ...(evaluationError === "" ? {} : { evaluationError }),
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
  if (known === undefined) return { user: {}, error: "[invalid bearer token, Token has been invalidated]" };
  if (common.length === 0) {
    const shown = (values: readonly string[]) => `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
    const why = `token audiences ${shown(known.audiences)} is invalid for the target audiences ${shown(audiences)}`;
    return { user: {}, error: `[invalid bearer token, ${why}]` };
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
