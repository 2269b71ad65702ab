import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { type AdmissionRequest, type JsonObject, StatusError } from "../model/mod.ts";
import {
  admissionGroup,
  authorizer,
  configMap,
  otherKinds,
  requestFor,
  StoredObjects,
  type TestRequest,
} from "./testing/admission_requests.ts";
import { PolicyAdmission } from "./policy_admission.ts";

const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] };

/** The admission plugin with one policy and its binding. */
function admissionWith(
  spec: JsonObject,
  binding: JsonObject = {},
  others: readonly JsonObject[] = [],
): PolicyAdmission {
  const objects = new StoredObjects();
  objects.add(`validatingadmissionpolicies.${admissionGroup}`, {
    metadata: { name: "p" },
    spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
  });
  objects.add(`validatingadmissionpolicybindings.${admissionGroup}`, {
    metadata: { name: "b" },
    spec: { policyName: "p", validationActions: ["Deny"], ...binding },
  });
  for (const object of others) objects.add(configMap.collection, object);
  const findKind = (_group: string, _version: string, kind: string) => kind === "ConfigMap" ? configMap : undefined;
  return new PolicyAdmission({ objects, authorizer, findKind, otherKinds });
}

/** The message of a policy's denial; "" when it allows the request. */
function denialOf(policy: PolicyAdmission, { request }: TestRequest): string {
  try {
    policy.validate(request);
    return "";
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return error.message.replace(/^.*? denied request: /s, "");
  }
}

const validation = (expression: string, rest: JsonObject = {}): JsonObject => ({
  validations: [{ expression, ...rest }],
});

test("a violated policy denies the request with the message of the real server", () => {
  const policy = admissionWith(validation("size(object.data) < 2", { message: "too many", reason: "Forbidden" }));
  assertEquals(denialOf(policy, requestFor({ x: "1" })), "");
  const error = assertThrows(() => policy.validate(requestFor({ x: "1", y: "2" }).request));
  assert(error instanceof StatusError);
  const detail = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too many";
  assertEquals(error.status.message, `configmaps "a" is forbidden: ${detail}`);
  assertEquals([error.status.code, error.status.reason], [403, "Forbidden"]);
  assertEquals(error.status.details, { name: "a", kind: "configmaps", causes: [{ message: detail }] });
});

const outcomes: readonly (readonly [name: string, spec: JsonObject, message: string])[] = [
  [
    "an expression that fails",
    validation("object.data.absent == ''"),
    "expression 'object.data.absent == ''' resulted in error: no such key: absent",
  ],
  ["an expression that fails and may", { ...validation("object.data.absent == ''"), failurePolicy: "Ignore" }, ""],
  ["a message expression", validation("false", { messageExpression: "'no ' + object.metadata.name" }), "no a"],
  [
    "a message expression that fails",
    validation("false", { messageExpression: "object.data.absent", message: "no" }),
    "no",
  ],
  ["the old object of a CREATE, which is null", validation("!has(oldObject.data) && !oldObject.?data.hasValue()"), ""],
  ["no message at all", validation(" false "), "failed expression: false"],
  [
    "the namespace",
    validation("namespaceObject.metadata.labels.team != 'a'"),
    "failed expression: namespaceObject.metadata.labels.team != 'a'",
  ],
  ["the request", validation("request.operation != 'CREATE' || request.userInfo.username == 'jane'"), ""],
  [
    "an authorizer",
    validation("authorizer.requestResource.check('delete').allowed()"),
    "failed expression: authorizer.requestResource.check('delete').allowed()",
  ],
  ["a condition that is not met", {
    ...validation("false"),
    matchConditions: [{ name: "c", expression: "object.metadata.name == 'b'" }],
  }, ""],
  ["a condition that fails", {
    ...validation("true"),
    matchConditions: [{ name: "c", expression: "object.data.absent == ''" }],
  }, "expression 'object.data.absent == ''' resulted in error: no such key: absent"],
  ["variables", {
    ...validation("variables.twice == 2"),
    variables: [{ name: "once", expression: "size(object.data)" }, { name: "twice", expression: "variables.once * 2" }],
  }, ""],
  [
    "a variable that fails",
    { ...validation("variables.x == ''"), variables: [{ name: "x", expression: "object.data.absent" }] },
    "expression 'variables.x == ''' resulted in error: composited variable \"x\" fails to evaluate: no such key: absent",
  ],
  [
    "an audit annotation that fails",
    { auditAnnotations: [{ key: "k", valueExpression: "object.data.absent + ''" }] },
    "expression 'object.data.absent + ''' resulted in error: no such key: absent",
  ],
  [
    "an unknown kind of params",
    { ...validation("true"), paramKind: { apiVersion: "example.com/v1", kind: "Absent" } },
    "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Absent'",
  ],
];

for (const [name, spec, message] of outcomes) {
  test(`a policy with ${name} ${message === "" ? "allows the request" : "denies it"}`, () => {
    assertEquals(denialOf(admissionWith(spec), requestFor({ x: "1" })), message);
  });
}

test("a binding can warn instead, but a failed audit annotation always denies", () => {
  const binding = { validationActions: ["Warn", "Audit"] };
  const created = requestFor({});
  assertEquals(denialOf(admissionWith(validation("false", { message: "no" }), binding), created), "");
  assertEquals(created.warnings, ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"]);
  const failing = admissionWith({ auditAnnotations: [{ key: "k", valueExpression: "object.absent + ''" }] }, binding);
  assert(denialOf(failing, requestFor({})) !== "");
});

const params = (name: string, most: string): JsonObject => ({
  metadata: { name, namespace: "default", labels: { params: "yes" } },
  data: { most },
});
const counted = {
  paramKind: { apiVersion: "v1", kind: "ConfigMap" },
  ...validation("size(object.data) <= int(params.data.most)"),
};
const both = [params("few", "1"), params("many", "3")];
const two = requestFor({ x: "1", y: "2" });

test("params are found by name or by label, and the policy runs once for each", () => {
  const failed = "failed expression: size(object.data) <= int(params.data.most)";
  const byName = (name: string) =>
    admissionWith(counted, { paramRef: { name, parameterNotFoundAction: "Deny" } }, both);
  assertEquals([denialOf(byName("few"), two), denialOf(byName("many"), two)], [failed, ""]);
  const selector = { matchLabels: { params: "yes" } };
  assertEquals(
    denialOf(admissionWith(counted, { paramRef: { selector, parameterNotFoundAction: "Deny" } }, both), two),
    failed,
  );
});

test("parameterNotFoundAction decides about missing params", () => {
  const absent = (action: string) =>
    admissionWith(counted, { paramRef: { name: "x", parameterNotFoundAction: action } });
  const detail = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
  assertEquals([denialOf(absent("Deny"), two), denialOf(absent("Allow"), two)], [detail, ""]);
});

const no = validation("false");
const matches: readonly (readonly [name: string, match: JsonObject, isMatch: boolean])[] = [
  ["the object's label", { objectSelector: { matchLabels: { a: "b" } } }, false],
  ["the namespace's label", { namespaceSelector: { matchLabels: { team: "a" } } }, true],
  ["another namespace's label", { namespaceSelector: { matchLabels: { team: "b" } } }, false],
  ["the object's name", { resourceRules: [{ ...rule, resourceNames: ["a"] }] }, true],
  ["another name", { resourceRules: [{ ...rule, resourceNames: ["b"] }] }, false],
  ["all but the object's name", { excludeResourceRules: [{ ...rule, resourceNames: ["a"] }] }, false],
  ["another operation", { resourceRules: [{ ...rule, operations: ["DELETE"] }] }, false],
];

for (const [name, matchResources, isMatch] of matches) {
  test(`a binding for ${name} ${isMatch ? "matches" : "does not match"}`, () => {
    assertEquals(denialOf(admissionWith(no, { matchResources }), requestFor({})) !== "", isMatch);
  });
}

test("policies do not match policies", () => {
  const kind: AdmissionRequest["kind"] = {
    ...configMap,
    group: admissionGroup,
    plural: "validatingadmissionpolicies",
  };
  const all = admissionWith({ ...no, matchConstraints: {} });
  assert(denialOf(all, requestFor({})) !== "");
  assertEquals(denialOf(all, requestFor({}, { kind })), "");
});

test("the expressions of one policy share a cost budget", () => {
  const loop = "object.data.all(a, object.data.all(b, object.data.all(c, true)))";
  const data = Object.fromEntries(Array.from({ length: 55 }, (_, index) => [`k${index}`, "x"]));
  const many = { validations: Array.from({ length: 60 }, () => ({ expression: loop })) };
  const message = denialOf(admissionWith(many), requestFor(data));
  assertEquals(message, "validation failed due to running out of cost budget, no further validation rules will be run");
});
