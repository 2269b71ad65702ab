/** Admission webhooks that a case serves itself, over HTTPS on the loopback address. */
import { Buffer } from "node:buffer";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { type Any, serving } from "./_hook_server.ts";
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

/** A case with one webhook for the ConfigMaps of its namespace; what the webhook saw is compared too. */
function withHook(
  name: string,
  sort: Sort,
  answer: (review: Any) => Body | number | string,
  act: (run: CaseRun) => Promise<void>,
  webhook: Body = {},
): ConformanceCase {
  return scenario(name, async (run) => {
    await serving(answer, async ({ url, caBundle, reviews }) => {
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
        // Another one of the server's caches: asks until the webhook is asked.
        const probe = {
          method: "POST",
          path: `${at(run, "configmaps")}?dryRun=All`,
          body: configMap("probe"),
        } as const;
        for (let seen = 0; reviews.length === 0 && seen < 100; seen++) {
          await run.prepare(probe).catch(() => undefined);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        reviews.length = 0;
        await act(run);
        run.note(
          "what the webhook was asked",
          0,
          // Each new namespace gets this one from a controller, at a time of its own.
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

const make = async (run: CaseRun) => {
  await run.call({ path: at(run, "configmaps"), body: configMap("a") });
};

const mergePatch = "application/merge-patch+json";

const encoded = (text: string) => Buffer.from(text).toString("base64");

const wrongPatches: readonly string[] = [
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

/** Answers that are none. */
const wrongAnswers: readonly (readonly [what: string, sort: Sort, answer: (review: Any) => Body | number | string])[] =
  [
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
    ["a patch of one that validates", "Validating", () => patched([])],
    ["a patch type of one that validates", "Validating", () => ({ allowed: true, patchType: "JSONPatch" })],
    ["a patch without a type", "Mutating", () => ({ allowed: true, patch: encoded("[]") })],
    ["a type without a patch", "Mutating", () => ({ allowed: true, patchType: "JSONPatch" })],
    ["a patch of another type", "Mutating", () => ({ allowed: true, patchType: "Merge", patch: encoded("[]") })],
    ["not found", "Validating", () => 404],
    ["too many", "Validating", () => 429],
    ["forbidden", "Validating", () => 403],
    ...wrongPatches.map((patch) =>
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

/** Creates in the newer version. */
const makeAutoscaler = async (run: CaseRun) => {
  await run.call({ path: at(run, autoscalers), body: autoscaler });
};

export const webhookCases: readonly ConformanceCase[] = [
  withHook("a webhook is asked of every write", "Validating", () => ({ allowed: true }), async (run) => {
    await make(run);
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
  withHook("a webhook says no", "Validating", () => ({ allowed: false }), make),
  withHook(
    "a webhook says no, and why",
    "Validating",
    () => ({ allowed: false, status: { message: "not today", reason: "Tuesday", code: 418 } }),
    make,
  ),
  withHook(
    "a webhook says no with a code of success",
    "Validating",
    () => ({ allowed: false, status: { code: 200 } }),
    make,
  ),
  withHook("a webhook warns", "Validating", () => ({ allowed: true, warnings: ["careful", "x".repeat(300)] }), make),
  withHook("a webhook fails", "Validating", () => 500, make),
  withHook("a webhook fails and may", "Validating", () => 500, make, { failurePolicy: "Ignore" }),
  withHook("a webhook answers nonsense", "Validating", () => ({ uid: "another", allowed: true }), make),
  withHook(
    "a webhook changes objects",
    "Mutating",
    () => patched([{ op: "add", path: "/data/added", value: "yes" }]),
    make,
  ),
  withHook("a webhook's patch is wrong", "Mutating", () => patched([{ op: "remove", path: "/data/absent" }]), make),
  withHook(
    "a webhook's patch makes an object wrong",
    "Mutating",
    () => patched([{ op: "add", path: "/data/bad key", value: "x" }]),
    make,
  ),
  withHook(
    "a webhook says no to a mutation",
    "Mutating",
    () => ({ allowed: false, status: { message: "never" } }),
    make,
  ),
  withHook("match conditions keep a webhook out", "Validating", () => ({ allowed: false }), async (run) => {
    await run.call({ path: at(run, "configmaps"), body: configMap("free") });
    await run.call({ path: at(run, "configmaps"), body: configMap("probe") });
  }, { matchConditions: [{ name: "probe", expression: "object.metadata.name == 'probe'" }] }),
  withHook("an object selector keeps a webhook out", "Validating", () => ({ allowed: false }), async (run) => {
    await run.call({ path: at(run, "configmaps"), body: configMap("a", {}, { labels: { checked: "no" } }) });
    await run.call({ path: at(run, "configmaps"), body: configMap("b") });
  }, { objectSelector: { matchExpressions: [{ key: "checked", operator: "NotIn", values: ["no"] }] } }),
  withHook(
    "a webhook is asked about names that the server makes",
    "Validating",
    () => ({ allowed: true }),
    async (run) => {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
      await run.call({ path: `${at(run, "configmaps")}?dryRun=All`, body });
    },
  ),
  withHook("a webhook is asked about each of many deletions", "Validating", () => ({ allowed: true }), async (run) => {
    await run.prepare({ path: at(run, "configmaps"), body: configMap("a", {}, { labels: { mine: "yes" } }) });
    await run.call({ method: "DELETE", path: `${at(run, "configmaps")}?labelSelector=mine` });
  }),
  withHook(
    "a webhook is asked about a status where its rule says so",
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
  withHook(
    "what a webhook adds gets its defaults",
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
  withHook(
    "a webhook changes a name",
    "Mutating",
    () => patched([{ op: "replace", path: "/metadata/name", value: "b" }]),
    make,
  ),
  withHook(
    "a webhook changes a deletion",
    "Mutating",
    ({ request }) =>
      request.operation === "DELETE" ? patched([{ op: "add", path: "/data/x", value: "y" }]) : { allowed: true },
    async (run) => {
      await run.prepare({ path: at(run, "configmaps"), body: configMap("a") });
      await run.call({ method: "DELETE", path: at(run, "configmaps", "a") });
    },
  ),
  withHook(
    "a webhook takes away what has to be there",
    "Mutating",
    () => patched([{ op: "remove", path: "/metadata" }]),
    make,
  ),
  withHook("a webhook of an older version", "Validating", () => ({ allowed: true }), makeAutoscaler, olderRules),
  withHook("a webhook of an older version and no other", "Validating", () => ({ allowed: true }), makeAutoscaler, {
    ...olderRules,
    matchPolicy: "Exact",
  }),
  withHook(
    "a webhook changes an object in an older version",
    "Mutating",
    ({ request }) =>
      request.kind.kind === "ConfigMap"
        ? { allowed: true }
        : patched([{ op: "add", path: "/spec/targetCPUUtilizationPercentage", value: 55 }]),
    makeAutoscaler,
    olderRules,
  ),
  ...wrongAnswers.map(([what, sort, answer]) => withHook(`a webhook's answer is wrong: ${what}`, sort, answer, make)),
];
