import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { type AdmissionRequest, type JsonObject, Refusal } from "../model/mod.ts";
import {
  admissionGroup,
  type Asked,
  authorizer,
  configMap,
  otherKinds,
  requestFor,
  StoredObjects,
} from "./_admission_rig.ts";
import { PolicyAdmission } from "./policy_admission.ts";

const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] };

/** A server's policies: the one of a test and its binding. */
function policed(spec: JsonObject, binding: JsonObject = {}, others: readonly JsonObject[] = []): PolicyAdmission {
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

/** What a policy says of a ConfigMap; "" where it lets it through. */
function verdict(policy: PolicyAdmission, { request }: Asked): string {
  try {
    policy.validate(request);
    return "";
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.message.replace(/^.*? denied request: /s, "");
  }
}

const validation = (expression: string, rest: JsonObject = {}): JsonObject => ({
  validations: [{ expression, ...rest }],
});

test("a policy that is not met refuses, with the words of the real server", () => {
  const policy = policed(validation("size(object.data) < 2", { message: "too many", reason: "Forbidden" }));
  assertEquals(verdict(policy, requestFor({ x: "1" })), "");
  const error = assertThrows(() => policy.validate(requestFor({ x: "1", y: "2" }).request));
  assert(error instanceof Refusal);
  const why = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too many";
  assertEquals(error.status.message, `configmaps "a" is forbidden: ${why}`);
  assertEquals([error.status.code, error.status.reason], [403, "Forbidden"]);
  assertEquals(error.status.details, { name: "a", kind: "configmaps", causes: [{ message: why }] });
});

const outcomes: readonly (readonly [name: string, spec: JsonObject, said: string])[] = [
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

for (const [name, spec, said] of outcomes) {
  test(`a policy with ${name} ${said === "" ? "lets the request through" : "refuses"}`, () => {
    assertEquals(verdict(policed(spec), requestFor({ x: "1" })), said);
  });
}

test("a binding may warn instead, and an audit annotation that fails refuses all the same", () => {
  const binding = { validationActions: ["Warn", "Audit"] };
  const asked = requestFor({});
  assertEquals(verdict(policed(validation("false", { message: "no" }), binding), asked), "");
  assertEquals(asked.warnings, ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"]);
  const failing = policed({ auditAnnotations: [{ key: "k", valueExpression: "object.absent + ''" }] }, binding);
  assert(verdict(failing, requestFor({})) !== "");
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

test("params are found by name or by label; each of them is asked", () => {
  const failed = "failed expression: size(object.data) <= int(params.data.most)";
  const byName = (name: string) => policed(counted, { paramRef: { name, parameterNotFoundAction: "Deny" } }, both);
  assertEquals([verdict(byName("few"), two), verdict(byName("many"), two)], [failed, ""]);
  const selector = { matchLabels: { params: "yes" } };
  assertEquals(
    verdict(policed(counted, { paramRef: { selector, parameterNotFoundAction: "Deny" } }, both), two),
    failed,
  );
});

test("params that are absent refuse or not, as the binding has it", () => {
  const absent = (action: string) => policed(counted, { paramRef: { name: "x", parameterNotFoundAction: action } });
  const why = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
  assertEquals([verdict(absent("Deny"), two), verdict(absent("Allow"), two)], [why, ""]);
});

const no = validation("false");
const matches: readonly (readonly [name: string, match: JsonObject, isAsked: boolean])[] = [
  ["the object's label", { objectSelector: { matchLabels: { a: "b" } } }, false],
  ["the namespace's label", { namespaceSelector: { matchLabels: { team: "a" } } }, true],
  ["another namespace's label", { namespaceSelector: { matchLabels: { team: "b" } } }, false],
  ["the object's name", { resourceRules: [{ ...rule, resourceNames: ["a"] }] }, true],
  ["another name", { resourceRules: [{ ...rule, resourceNames: ["b"] }] }, false],
  ["all but the object's name", { excludeResourceRules: [{ ...rule, resourceNames: ["a"] }] }, false],
  ["another operation", { resourceRules: [{ ...rule, operations: ["DELETE"] }] }, false],
];

for (const [name, matchResources, isAsked] of matches) {
  test(`a binding for ${name} ${isAsked ? "is followed" : "is not"}`, () => {
    assertEquals(verdict(policed(no, { matchResources }), requestFor({})) !== "", isAsked);
  });
}

test("a policy is not asked about policies", () => {
  const kind: AdmissionRequest["kind"] = {
    ...configMap,
    group: admissionGroup,
    plural: "validatingadmissionpolicies",
  };
  const all = policed({ ...no, matchConstraints: {} });
  assert(verdict(all, requestFor({})) !== "");
  assertEquals(verdict(all, requestFor({}, { kind })), "");
});

test("expressions of one policy share a budget", () => {
  const loop = "object.data.all(a, object.data.all(b, object.data.all(c, true)))";
  const data = Object.fromEntries(Array.from({ length: 55 }, (_, index) => [`k${index}`, "x"]));
  const many = { validations: Array.from({ length: 60 }, () => ({ expression: loop })) };
  const said = verdict(policed(many), requestFor(data));
  assertEquals(said, "validation failed due to running out of cost budget, no further validation rules will be run");
});
