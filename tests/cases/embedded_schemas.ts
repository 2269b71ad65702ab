/**
 * A kind that embeds every schema of `schemas`, and values that an API server accepts and refuses in it. What is a Pod
 * template is also sent as a built-in PodTemplate: both must have the same verdict.
 */
import { ApiError, type Client } from "../../src/client/mod.ts";
import { type EmbeddedSchemas, PodTemplate, schemas } from "../../src/kinds.ts";
import { defineResource, z } from "../../src/schema/mod.ts";
import { assert, assertEquals } from "../testing.ts";

const fields = Object.entries(schemas).map(([name, schema]) => [name, schema.optional()] as const);

/** One optional field for each schema. */
export const Embedding = defineResource({
  group: "embedding.example.dev",
  version: "v1",
  kind: "Embedding",
  scope: "Namespaced",
  spec: z.object(Object.fromEntries(fields)),
});

const container = { name: "web", image: "web:1" };
const metadata = { name: "web", labels: { app: "web" }, annotations: { a: "1" } };

/** Whether an API server accepts a value; "duplicate" is what it refuses and zod cannot. */
type Expected = boolean | "duplicate";
type Case = readonly [name: keyof EmbeddedSchemas, value: unknown, expected: Expected];

/** A Pod template, and whether an API server accepts it. */
function template(spec: unknown, expected: Expected): Case {
  return ["podTemplateSpec", { metadata: { labels: { app: "web" } }, spec }, expected];
}

const cases: readonly Case[] = [
  template({ containers: [container], restartPolicy: "Always", dnsPolicy: "ClusterFirst" }, true),
  template({ containers: [{ ...container, resources: { limits: { cpu: "1", memory: "64Mi" } } }] }, true),
  template({ containers: [{ ...container, ports: [{ containerPort: 80 }, { containerPort: 81 }] }] }, true),
  template({ containers: [{ ...container, livenessProbe: { httpGet: { path: "/", port: "http" } } }] }, true),
  template({ containers: [{ ...container, livenessProbe: { tcpSocket: { port: 80 } } }] }, true),
  template({ containers: [container], tolerations: [{ key: "a", operator: "Exists", effect: "NoSchedule" }] }, true),
  template({ containers: [container], volumes: [{ name: "a", configMap: { name: "b", defaultMode: 420 } }] }, true),
  template({}, false),
  template({ containers: "web" }, false),
  template({ containers: [{ image: "web:1" }] }, false),
  template({ containers: [container, container] }, "duplicate"),
  template({ containers: [container], restartPolicy: "Sometimes" }, false),
  template({ containers: [container], dnsPolicy: "Somewhere" }, false),
  template({ containers: [{ ...container, imagePullPolicy: "Rarely" }] }, false),
  template({ containers: [{ ...container, ports: [{ containerPort: "http" }] }] }, false),
  template({ containers: [{ ...container, ports: [{ containerPort: 80, protocol: "ICMP" }] }] }, false),
  template({ containers: [{ ...container, env: [{ value: "a" }] }] }, false),
  template({ containers: [{ ...container, resources: { limits: { memory: "64 MiB" } } }] }, false),
  template({ containers: [{ ...container, livenessProbe: { tcpSocket: { port: true } } }] }, false),
  template({ containers: [container], hostNetwork: "yes" }, false),
  template({ containers: [container], volumes: [{ name: "a", configMap: { items: [{ key: "a" }] } }] }, false),
  template({ containers: [container], terminationGracePeriodSeconds: "soon" }, false),
  ["podSpec", { containers: [container], nodeSelector: { disk: "ssd" } }, true],
  ["podSpec", { containers: [container], nodeSelector: { disk: 1 } }, false],
  ["container", { ...container, env: [{ name: "a", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }] }, true],
  ["container", { image: "web:1" }, false],
  ["jobTemplateSpec", { metadata, spec: { backoffLimit: 2, template: { spec: { containers: [container] } } } }, true],
  ["jobTemplateSpec", { spec: { backoffLimit: 2 } }, false],
  ["jobSpec", { completionMode: "Indexed", template: { spec: { containers: [container] } } }, true],
  ["jobSpec", { completionMode: "Random", template: { spec: { containers: [container] } } }, false],
  ["labelSelector", { matchLabels: { a: "b" }, matchExpressions: [{ key: "a", operator: "Exists" }] }, true],
  ["labelSelector", { matchExpressions: [{ key: "a" }] }, false],
  ["objectMeta", metadata, true],
  ["objectMeta", { labels: { app: 1 } }, false],
  ["resourceRequirements", { requests: { cpu: "100m", memory: 1024 }, claims: [{ name: "gpu" }] }, true],
  ["resourceRequirements", { claims: [{ name: "gpu" }, { name: "gpu" }] }, "duplicate"],
  ["toleration", { tolerationSeconds: 30, effect: "NoExecute" }, true],
  ["toleration", { effect: "Never" }, false],
  ["serviceSpec", { type: "ClusterIP", ports: [{ port: 80, targetPort: "http" }] }, true],
  ["serviceSpec", { type: "Internal" }, false],
  ["secretKeySelector", { name: "a", key: "b", optional: true }, true],
  ["secretKeySelector", { name: "a" }, false],
  ["condition", {
    type: "Ready",
    status: "True",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    reason: "AllReady",
    message: "",
  }, true],
  ["condition", { type: "Ready", status: "True", lastTransitionTime: "now", reason: "A", message: "" }, false],
  ["persistentVolumeClaimSpec", { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }, true],
  ["persistentVolumeClaimSpec", { volumeMode: "Tape" }, false],
  ["policyRule", { apiGroups: [""], resources: ["pods"], verbs: ["get"] }, true],
  ["policyRule", { resources: ["pods"] }, false],
];

/** The stored object, or the code of the refusal. */
type Verdict = { readonly kind: "stored"; readonly object: unknown } | {
  readonly kind: "refused";
  readonly code: number;
};

async function verdictOf(create: () => Promise<unknown>): Promise<Verdict> {
  try {
    return { kind: "stored", object: await create() };
  } catch (error) {
    if (error instanceof ApiError && (error.code === 422 || error.code === 400)) {
      return { kind: "refused", code: error.code };
    }
    throw error;
  }
}

/** Checks every case against a server that has the CRD of {@link Embedding}. @returns how many it has checked */
export async function checkEmbeddedSchemas(client: Client, namespace: string): Promise<number> {
  for (const [index, [field, value, expected]] of cases.entries()) {
    const about = `${field} ${JSON.stringify(value)}`;
    const metadata = { namespace, name: `case-${index}` };
    const object = { apiVersion: "embedding.example.dev/v1", kind: "Embedding", metadata, spec: { [field]: value } };
    const parsed = Embedding.safeParse(object);
    assertEquals(parsed.kind, expected === false ? "invalid" : "valid", `zod: ${about}`);
    const verdict = await verdictOf(() => client.create(Embedding, object as never));
    assertEquals(verdict.kind, expected === true ? "stored" : "refused", `the custom object: ${about}`);
    if (verdict.kind === "stored") {
      // Nothing is pruned, and the server sets the defaults that zod sets.
      assert(parsed.kind === "valid");
      assertEquals(Object(verdict.object).spec, parsed.object.spec, about);
    }
    if (field !== "podTemplateSpec") continue;
    const builtin = await verdictOf(() => client.create(PodTemplate, { metadata, template: value } as never));
    assertEquals(builtin.kind, verdict.kind, `the PodTemplate: ${about}`);
  }
  return cases.length;
}
