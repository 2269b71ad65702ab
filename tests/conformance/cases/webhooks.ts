/** Admission webhooks. Each case serves its webhook over HTTPS on the loopback address. */
import { Buffer } from "node:buffer";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { type Any, withWebhookServer } from "./_webhook_server.ts";
import { at, type Body, configMap, service } from "./_objects.ts";

type Sort = "Mutating" | "Validating";

const configurations = (sort: Sort) =>
  `/apis/admissionregistration.k8s.io/v1/${sort.toLowerCase()}webhookconfigurations`;

const configMapRule = {
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["configmaps"],
  operations: ["CREATE", "UPDATE", "DELETE"],
};

/** A case with one webhook for the ConfigMaps of its namespace. The requests to the webhook are compared too. */
function withWebhook(
  name: string,
  sort: Sort,
  respond: (review: Any) => Body | number | string,
  act: (run: CaseRun) => Promise<void>,
  webhook: Body = {},
): ConformanceCase {
  return scenario(name, async (run) => {
    await withWebhookServer(respond, async ({ url, caBundle, reviews }) => {
      const metadata = { name: run.name("hook") };
      const webhooks = [{
        name: "hook.example.com",
        clientConfig: { url, caBundle },
        rules: [configMapRule],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": run.namespace } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        ...webhook,
      }];
      await run.prepare({ path: configurations(sort), body: { metadata, webhooks } });
      try {
        // The server caches webhook configurations: repeats a request until the webhook gets it.
        const probe = { path: `${at(run, "configmaps")}?dryRun=All`, body: configMap("probe") };
        await run.until(probe, () => reviews.length > 0);
        reviews.length = 0;
        await act(run);
        run.note(
          "requests to the webhook",
          0,
          // A controller creates this ConfigMap in each new namespace, at any time.
          reviews.filter(({ request }) => request.name !== "kube-root-ca.crt").map(({ request, ...review }) => {
            const { userInfo: _, ...rest } = request;
            return { ...review, request: rest };
          }),
        );
      } finally {
        await run.prepare({ method: "DELETE", path: `${configurations(sort)}/${metadata.name}` });
      }
    });
  });
}

const patched = (operations: readonly Body[]) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

const createConfigMap = async (run: CaseRun) => {
  await run.call({ path: at(run, "configmaps"), body: configMap("a") });
};

const mergePatch = "application/merge-patch+json";

const encoded = (text: string) => Buffer.from(text).toString("base64");

const invalidPatches: readonly string[] = [
  '[{"op":"replace","path":"/data/absent","value":1}]',
  '[{"op":"add","path":"/absent/x","value":1}]',
  '[{"op":"add","path":"/metadata/labels/x","value":"y"}]',
  '[{"op":"test","path":"/data/key","value":"other"}]',
  '[{"op":"move","from":"/data/absent","path":"/data/x"}]',
  '[{"op":"copy","from":"/absent/x","path":"/data/x"}]',
  '[{"op":"explode","path":"/data"}]',
  '[{"op":"remove"}]',
  '[{"op":"remove","path":"/metadata/managedFields/7"}]',
  '[{"op":"add","path":"/metadata/managedFields/x","value":{}}]',
  '[{"op":"replace","path":"/data","value":3}]',
  '{"op":"remove"}',
  "no JSON",
];

/** Invalid responses. */
const invalidResponses:
  readonly (readonly [what: string, sort: Sort, respond: (review: Any) => Body | number | string])[] = [
    ["no response", "Validating", ({ apiVersion, kind }) => JSON.stringify({ apiVersion, kind })],
    [
      "another version",
      "Validating",
      ({ request: { uid } }) =>
        JSON.stringify({
          apiVersion: "admission.k8s.io/v1beta1",
          kind: "AdmissionReview",
          response: { uid, allowed: true },
        }),
    ],
    ["no kind", "Validating", ({ request: { uid } }) => JSON.stringify({ response: { uid, allowed: true } })],
    ["a patch of a validating webhook", "Validating", () => patched([])],
    ["a patch type of a validating webhook", "Validating", () => ({ allowed: true, patchType: "JSONPatch" })],
    ["a patch without a type", "Mutating", () => ({ allowed: true, patch: encoded("[]") })],
    ["a type without a patch", "Mutating", () => ({ allowed: true, patchType: "JSONPatch" })],
    ["a patch of another type", "Mutating", () => ({ allowed: true, patchType: "Merge", patch: encoded("[]") })],
    ["code 404", "Validating", () => 404],
    ["code 429", "Validating", () => 429],
    ["code 403", "Validating", () => 403],
    ...invalidPatches.map((patch) =>
      [
        `the patch ${patch}`,
        "Mutating",
        () => ({ allowed: true, patchType: "JSONPatch", patch: encoded(patch) }),
      ] as const
    ),
  ];

const autoscalers = "autoscaling/v2/horizontalpodautoscalers";

const autoscaler: Body = {
  metadata: { name: "a" },
  spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" }, maxReplicas: 3 },
};

const olderRules = {
  rules: [configMapRule, { ...configMapRule, apiGroups: ["autoscaling"], resources: ["horizontalpodautoscalers"] }],
};

/** Creates a HorizontalPodAutoscaler in the newer version. */
const createAutoscaler = async (run: CaseRun) => {
  await run.call({ path: at(run, autoscalers), body: autoscaler });
};

export const webhookCases: readonly ConformanceCase[] = [
  withWebhook("a webhook is called for every write", "Validating", () => ({ allowed: true }), async (run) => {
    await createConfigMap(run);
    await run.call({ method: "PUT", path: at(run, "configmaps", "a"), body: configMap("a", { b: "c" }) });
    await run.call({
      method: "PATCH",
      path: `${at(run, "configmaps", "a")}?dryRun=All&fieldManager=me`,
      type: "application/merge-patch+json",
      body: { data: { x: "y" } },
    });
    await run.call({ method: "DELETE", path: at(run, "configmaps", "a") });
    await run.call({ method: "DELETE", path: at(run, "configmaps", "a") });
  }),
  withWebhook("a webhook rejects an object", "Validating", () => ({ allowed: false }), createConfigMap),
  withWebhook(
    "a webhook rejects an object with a message and a code",
    "Validating",
    () => ({ allowed: false, status: { message: "not today", reason: "Tuesday", code: 418 } }),
    createConfigMap,
  ),
  withWebhook(
    "a webhook rejects an object with code 200",
    "Validating",
    () => ({ allowed: false, status: { code: 200 } }),
    createConfigMap,
  ),
  withWebhook(
    "a webhook warns",
    "Validating",
    () => ({ allowed: true, warnings: ["careful", "x".repeat(300)] }),
    createConfigMap,
  ),
  withWebhook("a webhook fails", "Validating", () => 500, createConfigMap),
  withWebhook("the failure of a webhook is ignored", "Validating", () => 500, createConfigMap, {
    failurePolicy: "Ignore",
  }),
  withWebhook(
    "a webhook responds with another uid",
    "Validating",
    () => ({ uid: "another", allowed: true }),
    createConfigMap,
  ),
  withWebhook(
    "a webhook changes objects",
    "Mutating",
    () => patched([{ op: "add", path: "/data/added", value: "yes" }]),
    createConfigMap,
  ),
  withWebhook(
    "a webhook's patch cannot be applied",
    "Mutating",
    () => patched([{ op: "remove", path: "/data/absent" }]),
    createConfigMap,
  ),
  withWebhook(
    "a webhook's patch makes an object invalid",
    "Mutating",
    () => patched([{ op: "add", path: "/data/bad key", value: "x" }]),
    createConfigMap,
  ),
  withWebhook(
    "a mutating webhook rejects an object",
    "Mutating",
    () => ({ allowed: false, status: { message: "never" } }),
    createConfigMap,
  ),
  withWebhook("a webhook with match conditions", "Validating", () => ({ allowed: false }), async (run) => {
    await run.call({ path: at(run, "configmaps"), body: configMap("free") });
    await run.call({ path: at(run, "configmaps"), body: configMap("probe") });
  }, { matchConditions: [{ name: "probe", expression: "object.metadata.name == 'probe'" }] }),
  withWebhook("a webhook with an object selector", "Validating", () => ({ allowed: false }), async (run) => {
    await run.call({ path: at(run, "configmaps"), body: configMap("a", {}, { labels: { checked: "no" } }) });
    await run.call({ path: at(run, "configmaps"), body: configMap("b") });
  }, { objectSelector: { matchExpressions: [{ key: "checked", operator: "NotIn", values: ["no"] }] } }),
  withWebhook(
    "a webhook is called for a generated name",
    "Validating",
    () => ({ allowed: true }),
    async (run) => {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
      await run.call({ path: `${at(run, "configmaps")}?dryRun=All`, body });
    },
  ),
  withWebhook(
    "a webhook is called for each object of a deleted collection",
    "Validating",
    () => ({ allowed: true }),
    async (run) => {
      await run.prepare({ path: at(run, "configmaps"), body: configMap("a", {}, { labels: { mine: "yes" } }) });
      await run.call({ method: "DELETE", path: `${at(run, "configmaps")}?labelSelector=mine` });
    },
  ),
  withWebhook(
    "a webhook is called for a status if its rule includes it",
    "Validating",
    () => ({ allowed: true }),
    async (run) => {
      await run.prepare({ path: at(run, "services"), body: service("a") });
      const body = { status: { conditions: [] }, metadata: { labels: { a: "b" } } };
      await run.call({ method: "PATCH", path: `${at(run, "services", "a")}/status`, type: mergePatch, body });
      await run.call({ method: "PATCH", path: at(run, "services", "a"), type: mergePatch, body });
    },
    { rules: [configMapRule, { ...configMapRule, resources: ["services/*"] }] },
  ),
  withWebhook(
    "fields that a webhook adds get defaults",
    "Mutating",
    ({ request }) =>
      request.kind.kind === "Service"
        ? patched([{ op: "add", path: "/spec/ports/-", value: { port: 81, name: "b" } }])
        : {
          allowed: true,
        },
    async (run) => {
      await run.call({
        path: at(run, "services"),
        body: service("a", { clusterIP: "None", ports: [{ port: 80, name: "a" }] }),
      });
    },
    { rules: [configMapRule, { ...configMapRule, resources: ["services"] }] },
  ),
  withWebhook(
    "a webhook changes a name",
    "Mutating",
    () => patched([{ op: "replace", path: "/metadata/name", value: "b" }]),
    createConfigMap,
  ),
  withWebhook(
    "a webhook changes a deletion",
    "Mutating",
    ({ request }) =>
      request.operation === "DELETE" ? patched([{ op: "add", path: "/data/x", value: "y" }]) : { allowed: true },
    async (run) => {
      await run.prepare({ path: at(run, "configmaps"), body: configMap("a") });
      await run.call({ method: "DELETE", path: at(run, "configmaps", "a") });
    },
  ),
  withWebhook(
    "a webhook removes the metadata",
    "Mutating",
    () => patched([{ op: "remove", path: "/metadata" }]),
    createConfigMap,
  ),
  withWebhook(
    "a webhook for an older version of a kind",
    "Validating",
    () => ({ allowed: true }),
    createAutoscaler,
    olderRules,
  ),
  withWebhook(
    "a webhook for an older version of a kind with matchPolicy Exact",
    "Validating",
    () => ({ allowed: true }),
    createAutoscaler,
    {
      ...olderRules,
      matchPolicy: "Exact",
    },
  ),
  withWebhook(
    "a webhook changes an object in an older version",
    "Mutating",
    ({ request }) =>
      request.kind.kind === "ConfigMap"
        ? { allowed: true }
        : patched([{ op: "add", path: "/spec/targetCPUUtilizationPercentage", value: 55 }]),
    createAutoscaler,
    olderRules,
  ),
  ...invalidResponses.map(([what, sort, respond]) =>
    withWebhook(`an invalid response of a webhook: ${what}`, sort, respond, createConfigMap)
  ),
];
