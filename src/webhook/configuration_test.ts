import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { Pool } from "./testing/reviews.ts";
import { configurationTargets, lintWebhooks, webhookConfigurations } from "./configuration.ts";
import { converting } from "./conversion.ts";
import { allow, defaulting, validating, type WebhookOptions } from "./webhook.ts";

const service = { kind: "service", namespace: "ops", name: "webhook" } as const;

test("configurations have the safe defaults, and the caBundle if one is given", () => {
  const webhooks = [
    defaulting(Pool, (object) => object),
    validating(Pool, { create: () => allow() }),
    converting(Pool, []),
  ];
  const { mutating, validating: judging, conversions } = webhookConfigurations(webhooks, {
    name: "op",
    address: service,
    caBundle: "PEM",
  });
  assertEquals(mutating?.metadata.name, "op");
  assertEquals<unknown>(mutating?.webhooks, [{
    name: "default.pools.nodes.example.dev",
    admissionReviewVersions: ["v1"],
    clientConfig: {
      service: { namespace: "ops", name: "webhook", path: "/mutate-nodes-example-dev-v1-pool", port: 443 },
      caBundle: btoa("PEM"),
    },
    rules: [{
      apiGroups: ["nodes.example.dev"],
      apiVersions: ["v1"],
      operations: ["CREATE", "UPDATE"],
      resources: ["pools"],
      scope: "Cluster",
    }],
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    sideEffects: "None",
    timeoutSeconds: 10,
    namespaceSelector: {
      matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["ops", "kube-system"] }],
    },
    matchConditions: [{
      name: "pintle.dev/not-being-deleted",
      expression: "!(request.operation == 'UPDATE' && has(object.metadata.deletionTimestamp))",
    }],
    reinvocationPolicy: "IfNeeded",
  }]);
  assertEquals(judging?.webhooks?.[0]?.rules?.[0]?.operations, ["CREATE"]);
  assertEquals(conversions.get("pools.nodes.example.dev"), {
    strategy: "Webhook",
    webhook: {
      conversionReviewVersions: ["v1"],
      clientConfig: {
        service: { namespace: "ops", name: "webhook", path: "/convert", port: 443 },
        caBundle: btoa("PEM"),
      },
    },
  });
  assertEquals(configurationTargets(webhooks, "op"), [
    { kind: "mutating", name: "op" },
    { kind: "validating", name: "op" },
    { kind: "converting", name: "pools.nodes.example.dev" },
  ]);
});

test("a webhook without operations is in no configuration, and two webhooks of one name are refused", () => {
  const options = { name: "op", address: service };
  const webhooks = [validating(Pool, {}), defaulting(Pool, (one) => one, { operations: [] })];
  const { mutating, validating: judging } = webhookConfigurations(webhooks, options);
  assertEquals([mutating, judging?.webhooks], [undefined, []]);
  const judged = validating(Pool, { create: () => allow() });
  const other = validating(Pool, { update: () => allow() }, { path: "/other" });
  assertThrows(
    () => webhookConfigurations([judged, other], options),
    /two webhooks have the name "validate\.pools\.nodes\.example\.dev"; set the option name of one$/,
  );
});

test("a configuration has a URL instead of a service", () => {
  const address = { kind: "url", url: "https://10.0.0.1:9443" } as const;
  const { mutating, validating: judging } = webhookConfigurations([validating(Pool, { create: () => allow() })], {
    name: "op",
    address,
  });
  assertEquals(mutating, undefined);
  assertEquals(judging?.webhooks?.[0]?.clientConfig, {
    url: "https://10.0.0.1:9443/validate-nodes-example-dev-v1-pool",
  });
});

test("settings that lock clusters are refused unless the webhook accepts the risk", () => {
  const everywhere = { namespaceSelector: {} };
  const cases: readonly (readonly [Parameters<typeof defaulting>[0], WebhookOptions, readonly string[]])[] = [
    [Pool, {}, []],
    [builtin.Pod, {}, []],
    [builtin.Lease, {}, ["locks-cluster refused"]],
    [builtin.Node, {}, ["locks-cluster refused"]],
    [builtin.Lease, { failurePolicy: "Ignore" }, []],
    [builtin.Lease, { acceptedRisks: ["locks-cluster"] }, []],
    [builtin.Pod, everywhere, ["locks-own-namespace refused", "locks-own-namespace refused"]],
    [builtin.Pod, { ...everywhere, objectSelector: { matchLabels: { a: "b" } } }, []],
    [builtin.Pod, { namespaceSelector: { matchLabels: { judged: "yes" } } }, []],
    [Pool, { timeoutSeconds: 30 }, ["waits-long refused"]],
    [Pool, { operations: ["CREATE", "DELETE"] }, ["blocks-deletion warning"]],
    [builtin.MutatingWebhookConfiguration, { failurePolicy: "Ignore" }, ["judges-itself refused"]],
  ];
  for (const [resource, options, expected] of cases) {
    const webhook = defaulting(resource, (object) => object, options);
    const found = lintWebhooks([webhook], "ops").map(({ rule, severity }) => `${rule} ${severity}`);
    assertEquals(found, [...expected], `${resource.kind} ${JSON.stringify(options)}`);
    const generate = () => webhookConfigurations([webhook], { name: "op", address: service });
    if (expected.some((line) => line.endsWith("refused"))) {
      assertThrows(generate, /^Cannot generate webhook configurations/);
    } else generate();
  }
});
