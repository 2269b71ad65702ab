/** Tests of rules of webhooks, and of the policies that are made of them. The two are compared in tests/controlplane. */
import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { decodeAdmissionReview } from "./admission_review.ts";
import { admissionPolicies } from "./admission_policies.ts";
import type { AdmissionRule } from "./admission_rules.ts";
import { isCheckedByPolicy, webhookConfigurations } from "./configuration.ts";
import { Pool, pool, review } from "./testing/reviews.ts";
import { allow, deny, validating, type ValidatingHandlers } from "./webhook.ts";

const handlerRule: AdmissionRule = { rule: "has(object.spec.handler)", message: "spec.handler is missing" };

/** The denial of a request about a Pool: code and message; undefined when it is allowed. */
async function denialOf(handlers: ValidatingHandlers<typeof Pool>, request: object) {
  const decoded = decodeAdmissionReview(JSON.stringify(review(request)));
  if (decoded.kind === "malformed") throw new Error(decoded.message);
  const decision = await validating(Pool, handlers).decide(decoded.request, new AbortController().signal);
  return decision.kind === "denied" ? [decision.code, decision.message] : undefined;
}

test("a rule denies with its message and the code of its reason", async () => {
  const create = { object: pool() };
  assertEquals(await denialOf({ rules: [handlerRule] }, create), [422, "spec.handler is missing"]);
  assertEquals(await denialOf({ rules: [{ ...handlerRule, reason: "Forbidden" }] }, create), [
    403,
    "spec.handler is missing",
  ]);
  assertEquals(await denialOf({ rules: [handlerRule] }, { object: pool({ handler: "a" }) }), undefined);
});

test("rules see the old object, the user and the operation, and only their own operations", async () => {
  const rules: readonly AdmissionRule[] = [
    {
      rule: "object.spec.handler == oldObject.spec.handler",
      message: "changed",
      messageExpression: "'not from ' + oldObject.spec.handler",
      operations: ["UPDATE"],
    },
    {
      rule: "'admins' in request.userInfo.groups && request.name == oldObject.metadata.name && object == null",
      message: "not by devs",
      operations: ["DELETE"],
    },
  ];
  assertEquals(validating(Pool, { rules }).operations, ["UPDATE", "DELETE"]);
  assertEquals(await denialOf({ rules }, { object: pool({ handler: "a" }) }), undefined);
  const update = { operation: "UPDATE", object: pool({ handler: "b" }), oldObject: pool({ handler: "a" }) };
  assertEquals(await denialOf({ rules }, update), [422, "not from a"]);
  const remove = { operation: "DELETE", object: null, oldObject: pool() };
  assertEquals(await denialOf({ rules }, remove), [422, "not by devs"]);
  const byAdmin = { ...remove, userInfo: { username: "bob", groups: ["admins"] } };
  assertEquals(await denialOf({ rules }, byAdmin), undefined);
});

test("rules do not keep the finalizers of an object that is being deleted", async () => {
  const object = pool({}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  assertEquals(
    await denialOf({ rules: [handlerRule] }, { operation: "UPDATE", object, oldObject: pool() }),
    undefined,
  );
});

test("the handlers decide about what the rules allow", async () => {
  const handlers = { rules: [handlerRule], create: () => deny("no more pools") };
  assertEquals(await denialOf(handlers, { object: pool() }), [422, "spec.handler is missing"]);
  assertEquals(await denialOf(handlers, { object: pool({ handler: "a" }) }), [undefined, "no more pools"]);
});

test("a rule that does not compile is refused at its definition", () => {
  const define = (rule: Partial<AdmissionRule>) => () =>
    void validating(Pool, { rules: [{ ...handlerRule, ...rule }] });
  assertThrows(
    define({ rule: "object.spec.handle == 'a'" }),
    /^Cannot define validating webhook of nodes\.example\.dev\/v1 Pool: rule .*undefined field 'handle'/s,
  );
  assertThrows(define({ rule: "object.metadata.name" }), /must evaluate to bool but got dyn/);
  assertThrows(
    define({ rule: "authorizer.group('').resource('pods').check('get').allowed()" }),
    /undeclared reference/,
  );
  assertThrows(define({ rule: "request.options == null" }), /undefined field 'options'/);
  assertThrows(define({ messageExpression: "1" }), /must evaluate to string but got int/);
  assertThrows(define({ rule: "int('x') > 1" }), /type conversion error from 'string' to 'int'/);
  assertThrows(define({ message: "two\nlines" }), /its message is not one line/);
  validating(Pool, { rules: [{ ...handlerRule, rule: "oldObject == null || object.metadata.labels == {}" }] });
});

test("rules of a kind without a schema are compiled without its fields", () => {
  const rules = [{ rule: "size(object.data) < 3", message: "at most 2 entries" }];
  assertEquals(validating(builtin.ConfigMap, { rules }).operations, ["CREATE", "UPDATE"]);
});

test("a policy matches what its webhook matches, has its rules, and names what only the webhook can decide", () => {
  const rules: readonly AdmissionRule[] = [
    handlerRule,
    { rule: "object.spec == oldObject.spec", message: "frozen", operations: ["UPDATE"], reason: "Forbidden" },
  ];
  const webhook = validating(Pool, { rules, delete: () => allow() }, { failurePolicy: "Ignore" });
  const own = { ownNamespace: "ops", ownUser: "system:serviceaccount:ops:op" };
  const [policy, binding, ...others] = admissionPolicies([webhook], { name: "op.ops", labels: { a: "b" }, ...own });
  const name = "op.ops.validate.pools.nodes.example.dev";
  const { validating: configuration } = webhookConfigurations([webhook], {
    name: "op.ops",
    address: { kind: "service", namespace: "ops", name: "op" },
    ...own,
  });
  const [entry] = configuration?.webhooks ?? [];
  assertEquals<unknown>(policy, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name, labels: { a: "b" }, annotations: { "pintle.dev/decided-by-webhook": "DELETE" } },
    spec: {
      failurePolicy: "Ignore",
      matchConstraints: {
        resourceRules: entry?.rules,
        matchPolicy: entry?.matchPolicy,
        namespaceSelector: entry?.namespaceSelector,
      },
      matchConditions: entry?.matchConditions,
      validations: [
        {
          expression: "!(request.operation in ['CREATE', 'UPDATE']) || (has(object.spec.handler))",
          message: "spec.handler is missing",
          reason: "Invalid",
        },
        {
          expression: "!(request.operation in ['UPDATE']) || (object.spec == oldObject.spec)",
          message: "frozen",
          reason: "Forbidden",
        },
      ],
    },
  });
  assertEquals<unknown>(binding, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name, labels: { a: "b" } },
    spec: { policyName: name, validationActions: ["Deny"] },
  });
  assertEquals(others, []);
});

test("a webhook without functions is not called when its policy is installed", () => {
  const [ruled, decided] = [
    validating(Pool, { rules: [handlerRule] }),
    validating(Pool, { rules: [handlerRule], create: () => allow() }, { name: "with.functions.dev" }),
  ];
  assertEquals([isCheckedByPolicy(ruled), isCheckedByPolicy(decided)], [true, false]);
  const options = { name: "op", address: { kind: "url", url: "https://a" }, omitCheckedByPolicy: true } as const;
  assertEquals(webhookConfigurations([ruled, decided], options).validating?.webhooks?.map(({ name }) => name), [
    "with.functions.dev",
  ]);
  assertEquals(webhookConfigurations([ruled], options).validating?.webhooks, []);
});
