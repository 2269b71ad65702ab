/** Built-in kinds after their creation: generations, other versions, immutable fields, approval and deletion. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { at, type Body, ingress, podSpec, service, signingRequest, template } from "./_objects.ts";
// deno-lint-ignore no-explicit-any
type Any = any;

const suspended: Body = {
  spec: {
    schedule: "*/5 * * * *",
    suspend: true,
    jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: "OnFailure" }) } } },
  },
};

/** Kinds with a generation: the resource, an object, and a change of its spec. */
const counted: readonly (readonly [string, Body, Body])[] = [
  ["networking.k8s.io/v1/networkpolicies", { spec: { podSelector: {} } }, { spec: { policyTypes: ["Egress"] } }],
  ["networking.k8s.io/v1/ingresses", ingress("a"), { spec: { ingressClassName: "other" } }],
  [
    "policy/v1/poddisruptionbudgets",
    { spec: { minAvailable: 1, selector: { matchLabels: { app: "none" } } } },
    { spec: { minAvailable: 2 } },
  ],
  ["podtemplates", { template: template("a") }, { template: { metadata: { labels: { b: "c" } } } }],
  ["batch/v1/cronjobs", suspended, { spec: { schedule: "@daily" } }],
  [
    "discovery.k8s.io/v1/endpointslices",
    { addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1"] }] },
    { endpoints: [{ addresses: ["192.0.2.2"] }] },
  ],
  ["services", service("a"), { spec: { selector: { app: "other" } } }],
  ["resourcequotas", { spec: { hard: { pods: "1" } } }, { spec: { hard: { pods: "2" } } }],
  [
    "autoscaling/v2/horizontalpodautoscalers",
    { spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 3 } },
    { spec: { maxReplicas: 4 } },
  ],
];

const generations = counted.map(([resource, body, change]) =>
  scenario(`${resource}: the generation counts the changes of the spec`, async (run) => {
    const one = at(run, resource, "a");
    const pick = ({ metadata }: Any) => metadata.generation ?? "none";
    const patch = (path: string, body: Any) =>
      run.call({ method: "PATCH", path, type: "application/merge-patch+json", body, pick });
    await run.call({ path: at(run, resource), body: { ...body, metadata: { name: "a" } }, pick });
    await patch(one, { metadata: { labels: { changed: "yes" } } });
    await patch(one, change);
    await patch(one, change);
    await patch(one, { metadata: { generation: 7 } });
    await patch(one, { metadata: { annotations: { changed: "yes" } } });
  })
);

/** Metrics and a behavior that only autoscaling/v2 can express. */
const scaling = {
  minReplicas: 2,
  metrics: [
    { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 40 } } },
    { type: "Pods", pods: { metric: { name: "hits" }, target: { type: "AverageValue", averageValue: "10" } } },
    {
      type: "Object",
      object: {
        describedObject: { apiVersion: "networking.k8s.io/v1", kind: "Ingress", name: "main" },
        metric: { name: "requests", selector: { matchLabels: { a: "b" } } },
        target: { type: "Value", value: "2k" },
      },
    },
    { type: "External", external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "30" } } },
    {
      type: "ContainerResource",
      containerResource: { name: "cpu", container: "main", target: { type: "Utilization", averageUtilization: 60 } },
    },
  ],
  behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
};

const versions: readonly ConformanceCase[] = [
  scenario("a HorizontalPodAutoscaler in both of its versions", async (run) => {
    const old = at(run, "autoscaling/v1/horizontalpodautoscalers");
    const next = at(run, "autoscaling/v2/horizontalpodautoscalers");
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    await run.call({
      path: next,
      body: { metadata: { name: "a" }, spec: { scaleTargetRef, maxReplicas: 3, ...scaling } },
    });
    const live = await run.call({ path: `${old}/a` });
    const spec = { ...live.spec, targetCPUUtilizationPercentage: 70 };
    await run.call({ method: "PUT", path: `${old}/a`, body: { ...live, spec } });
    await run.call({ path: `${next}/a` });
    await run.call({ path: old, body: { metadata: { name: "b" }, spec: { scaleTargetRef, maxReplicas: 3 } } });
    await run.call({ path: `${next}/b`, pick: ({ spec }) => spec });
  }),
];

const claim: Body = {
  metadata: { name: "a" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "none", resources: { requests: { storage: "1Gi" } } },
};

const claims: readonly ConformanceCase[] = [
  scenario("mutable and immutable fields of a PersistentVolumeClaim", async (run) => {
    const path = at(run, "persistentvolumeclaims");
    await run.call({ path, body: claim });
    const patch = (part: string, body: Any) =>
      run.call({
        method: "PATCH",
        path: `${path}/a${part}`,
        type: "application/merge-patch+json",
        body,
        pick: ({ spec, status, details }) => ({
          spec,
          status,
          fields: details?.causes?.map(({ field }: Any) => field),
        }),
      });
    await patch("", { spec: { resources: { requests: { storage: "2Gi" } } } });
    await patch("", { spec: { storageClassName: "other" } });
    await patch("", { spec: { volumeMode: "Block" } });
  }),
  scenario("a deleted PersistentVolumeClaim disappears when no Pod uses it", async (run) => {
    const path = at(run, "persistentvolumeclaims");
    await run.call({ path, body: claim, pick: ({ metadata }) => metadata.finalizers });
    await run.call({
      method: "DELETE",
      path: `${path}/a`,
      pick: ({ kind, metadata }) => ({ kind, isMarked: metadata.deletionTimestamp !== undefined }),
    });
    await run.until(`${path}/a`, (_, code) => code === 404);
    await run.call({ path: `${path}/a` });
  }, { needsControllers: true }),
];

const requested: Body = { spec: { request: signingRequest, signerName: "example.com/a", usages: ["client auth"] } };

const signing: readonly ConformanceCase[] = [
  scenario("a CertificateSigningRequest is approved and signed", async (run) => {
    const all = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const name = run.name("jane");
    const pick = ({ kind, spec, status, message, reason }: Any) => ({
      kind,
      hasUser: spec?.username !== "" && spec?.groups.includes("system:masters"),
      signerName: spec?.signerName,
      status,
      message,
      reason,
    });
    const write = (part: string, body: Any) =>
      run.call({ method: "PATCH", path: `${all}/${name}${part}`, type: "application/merge-patch+json", body, pick });
    const condition = (type: string, status = "True") => ({
      status: { conditions: [{ type, status, reason: "Tested" }] },
    });
    await run.call({ path: all, body: { metadata: { name }, ...requested, status: { certificate: "eA==" } }, pick });
    await write("", { spec: { signerName: "example.com/b" }, ...condition("Approved") });
    await write("/status", condition("Approved"));
    await write("/approval", condition("Approved", "False"));
    await write("/approval", condition("Approved"));
    await write("/approval", { status: { certificate: "eA==" } });
    await write("/approval", condition("Denied"));
    await write("/status", { status: { certificate: "eA==" } });
    await write("/status", { status: { certificate: signingRequest } });
    await run.call({
      path: `${all}?fieldSelector=spec.signerName%3Dexample.com%2Fa`,
      pick: ({ items }) => items.filter(({ metadata }: Any) => metadata.name === name).length,
    });
    await run.call({ method: "DELETE", path: `${all}/${name}`, pick: ({ kind }) => kind });
  }),
];

export const kindLifecycleCases: readonly ConformanceCase[] = [...generations, ...versions, ...claims, ...signing];
