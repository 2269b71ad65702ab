/** Writes to custom resources: scale without replicas, embedded metadata, warnings about finalizers, and dry runs. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body } from "./_objects.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const schema: Body = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        tags: { type: "object", additionalProperties: { type: "string" } },
        item: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: { type: "object", nullable: true, properties: { size: { type: "integer" }, selector: { type: "string" } } },
  },
};

const scale = {
  specReplicasPath: ".spec.size",
  statusReplicasPath: ".status.size",
  labelSelectorPath: ".status.selector",
};

const versions: readonly Body[] = [
  { name: "v1", storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {}, scale } },
  {
    name: "v2",
    storage: false,
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  },
];

function definition(group: string): Body {
  const names = { plural: "crates", singular: "crate", kind: "Crate", listKind: "CrateList" };
  const served = versions.map((version) => ({ ...version, served: true }));
  return { metadata: { name: `crates.${group}` }, spec: { group, scope: "Namespaced", names, versions: served } };
}

/** A case with its own definition of Crates. @param act gets the path of the Crates and the head of each */
function onCrates(name: string, act: (run: CaseRun, path: string, head: Body) => Promise<void>): ConformanceCase {
  return scenario(name, async (run) => {
    const group = `c${run.unique}.example.com`;
    await run.prepare({ path: definitions, body: definition(group) });
    try {
      for (const version of ["v1", "v2"]) {
        await run.until(at(run, `${group}/${version}/crates`), (_, code) => code === 200);
      }
      await act(run, at(run, `${group}/v1/crates`), { apiVersion: `${group}/v1`, kind: "Crate" });
    } finally {
      await run.prepare({ method: "DELETE", path: `${definitions}/crates.${group}` }).catch(() => undefined);
    }
  });
}

const merge = "application/merge-patch+json";

/** Sends merge patches one after the other. */
async function patches(run: CaseRun, path: string, bodies: readonly Body[]): Promise<void> {
  for (const body of bodies) await run.call({ method: "PATCH", path, type: merge, body });
}

const embedded: readonly Body[] = [
  { apiVersion: "v1", kind: "A", metadata: { name: 1 } },
  { apiVersion: "v1", kind: "A", metadata: [] },
  { apiVersion: 1, kind: "A" },
  { apiVersion: "v1", kind: "A", metadata: { name: "a", unknown: 1 } },
];

/** Metadata with wrong, unknown and empty values, in an object and in an embedded resource. */
const metadata: readonly Body[] = [
  { creationTimestamp: "x" },
  { creationTimestamp: "" },
  { creationTimestamp: "2020-01-01" },
  { creationTimestamp: "2020-01-01T00:00:00.5+01:00" },
  { creationTimestamp: 1 },
  { deletionTimestamp: "x" },
  { generation: 1.5 },
  { generation: 1e30 },
  { generation: "1" },
  { generation: -1 },
  { deletionGracePeriodSeconds: 1.5 },
  { uid: 1 },
  { labels: { a: null } },
  { annotations: { a: null } },
  { namespace: "A" },
  { ownerReferences: [1] },
  { ownerReferences: [null] },
  { ownerReferences: [{ more: 1 }] },
  { ownerReferences: [{ apiVersion: 1 }] },
  { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "u", controller: "x" }] },
  { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "u", blockOwnerDeletion: null }] },
  { ownerReferences: {} },
  { finalizers: [1] },
  { finalizers: [null] },
  { finalizers: ["a b"] },
];

/** Of entries that no server has written. */
const managedFields: readonly unknown[] = [
  {},
  [],
  [1],
  [null],
  [{ time: "x" }],
  [{ operation: "Other", fieldsType: "Other", fieldsV1: 1 }],
  [{ operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "f:a": {} }, more: 1 }],
];

const appliedSpecs: readonly (Body | null)[] = [
  null,
  {},
  { size: null },
  { tags: null },
  { tags: { a: null } },
  ...[null, { name: 1 }, { labels: { a: 1 } }, { creationTimestamp: "x" }, { name: "A/B" }].map((metadata) => ({
    item: { apiVersion: "v1", kind: "A", metadata },
  })),
];

const scales: readonly ConformanceCase[] = [
  onCrates("a custom resource without replicas has no scale until they are set", async (run, path, head) => {
    await run.prepare({ path, body: { ...head, metadata: { name: "a" }, spec: {} } });
    await run.call({ path: `${path}/a/scale` });
    await patches(run, `${path}/a/scale`, [{}, { metadata: { labels: { a: "b" } } }, { spec: { replicas: 3 } }]);
    await run.call({ path: `${path}/a/scale` });
    await run.prepare({ path, body: { ...head, metadata: { name: "b" }, spec: {} } });
    const put = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "b" }, spec: {} };
    await run.call({ method: "PUT", path: `${path}/b/scale`, body: put });
    await run.call({ path: `${path}/b` });
  }),
  onCrates("the scale of a custom resource whose status is null", async (run, path, head) => {
    const body = { ...head, metadata: { name: "a" }, spec: { size: 1 }, status: null };
    await run.call({ path, body });
    await run.call({ method: "PATCH", path: `${path}/a?fieldManager=m`, type: "application/apply-patch+yaml", body });
    const add = [{ op: "add", path: "/status", value: null }];
    await run.call({ method: "PATCH", path: `${path}/a/status`, type: "application/json-patch+json", body: add });
    await run.call({ path: `${path}/a/scale` });
  }),
];

const others: readonly ConformanceCase[] = [
  onCrates("wrong metadata of embedded resources", async (run, path, head) => {
    await run.prepare({ path, body: { ...head, metadata: { name: "a" }, spec: {} } });
    for (const item of embedded) {
      const body = { ...head, metadata: { name: "b" }, spec: { item, zoo: 1 }, extra: 1 };
      await run.call({ path: `${path}?dryRun=All&fieldValidation=Strict`, body });
      await run.call({ method: "PATCH", path: `${path}/a?dryRun=All`, type: merge, body: { spec: { item } } });
    }
  }),
  onCrates("metadata with wrong and unknown values", async (run, path, head) => {
    await run.prepare({ path, body: { ...head, metadata: { name: "a" } } });
    const apply = { method: "PATCH", type: "application/apply-patch+yaml" } as const;
    for (const more of [...metadata, ...managedFields.map((entries) => ({ managedFields: entries }))]) {
      const item = { apiVersion: "v1", kind: "A", metadata: { name: "a", ...more } };
      const query = "dryRun=All&fieldValidation=Strict";
      const embedding = { ...head, metadata: { name: "b" }, spec: { item } };
      await run.call({ path: `${path}?${query}`, body: embedding, sortsCauses: true });
      await run.call({ path: `${path}?${query}`, body: { ...head, metadata: { name: "b", ...more } } });
      if ("managedFields" in more) continue;
      const body = { ...head, metadata: { name: "a", ...more } };
      await run.call({ ...apply, path: `${path}/a?${query}&fieldManager=m`, body });
    }
  }),
  onCrates("nulls and wrong metadata of embedded resources that are applied", async (run, path, head) => {
    const type = "application/apply-patch+yaml";
    for (const [index, spec] of appliedSpecs.entries()) {
      const at = `${path}/a${index}?fieldManager=m&fieldValidation=Strict`;
      const metadata = { name: `a${index}` };
      await run.call({ method: "PATCH", path: at, type, body: { ...head, metadata, spec } });
      await run.prepare({
        method: "PATCH",
        path: at,
        type,
        body: { ...head, metadata, spec: { size: 1, tags: { a: "b" } } },
      });
      await run.call({ method: "PATCH", path: at, type, body: { ...head, metadata, spec } });
    }
  }),
  onCrates("the last field of an object that two managers have applied", async (run, path, head) => {
    const send = (manager: string, spec: Body) => ({
      method: "PATCH" as const,
      path: `${path}/a?fieldManager=${manager}`,
      type: "application/apply-patch+yaml",
      body: { ...head, metadata: { name: "a" }, spec },
    });
    await run.call(send("one", { tags: {} }));
    await run.call(send("two", { tags: { a: "b" } }));
    await run.call(send("two", {}));
  }),
  onCrates("warnings about the finalizers of a custom resource", async (run, path, head) => {
    await run.call({ path, body: { ...head, metadata: { name: "a", finalizers: ["plain"] }, spec: { size: 1 } } });
    await patches(run, `${path}/a`, [
      { metadata: { labels: { a: "b" } } },
      { metadata: { finalizers: ["plain", "with.dot"] } },
      { metadata: { finalizers: null } },
    ]);
    await patches(run, `${path}/a`, [{ metadata: { finalizers: ["plain"] } }]);
    await patches(run, `${path}/a/status`, [{ status: { size: 1 } }]);
    await patches(run, `${path}/a/scale`, [{ spec: { replicas: 2 } }]);
    await patches(run, `${path}/a`, [{ metadata: { finalizers: null } }]);
  }),
  onCrates("a dry run in another version drops what the stored version does not have", async (run, path, head) => {
    const other = path.replace("/v1/", "/v2/");
    const apiVersion = `${head["apiVersion"]}`.replace("/v1", "/v2");
    const body = { ...head, apiVersion, metadata: { name: "a" }, spec: { size: 1, color: "red" }, more: 1 };
    await run.call({ path: `${other}?dryRun=All`, body });
    await run.call({ path: other, body });
    await run.call({
      method: "PATCH",
      path: `${other}/a?dryRun=All`,
      type: merge,
      body: { spec: { size: 2, color: "blue" } },
    });
  }),
];

/** Rules that compile and whose constant parts fail, and one with a list that is too long for its cost. */
const constantRules: readonly string[] = [
  "int('x') > 1",
  "uint(-1) == 1u",
  "self.size > 0 || double('x') > 1.0",
  "self.name.find('(') == ''",
  "self.name.findAll('[').size() == 0",
  "quantity('x').isInteger()",
  "self.name.split(',', -1).all(part, part > 'a')",
];

const constants: readonly ConformanceCase[] = constantRules.map((rule) =>
  scenario(`a rule with a constant call: ${rule}`, async (run) => {
    const group = `c${run.unique}.example.com`;
    const properties = { size: { type: "integer" }, name: { type: "string", maxLength: 20 } };
    const spec = { type: "object", properties, "x-kubernetes-validations": [{ rule }] };
    const openAPIV3Schema = { type: "object", properties: { spec } };
    const names = { plural: "crates", singular: "crate", kind: "Crate", listKind: "CrateList" };
    const crdVersions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
    await run.call({
      path: `${definitions}?dryRun=All`,
      body: {
        metadata: { name: `crates.${group}` },
        spec: { group, scope: "Namespaced", names, versions: crdVersions },
      },
      pick: ({ kind }) => kind,
      sortsCauses: true,
    });
    const resourceRules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }];
    const expression = rule.replaceAll("self.", "object.metadata.");
    await run.call({
      path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All",
      body: {
        metadata: { name: run.name("constant") },
        spec: { matchConstraints: { resourceRules }, validations: [{ expression }] },
      },
      pick: ({ kind }) => kind,
    });
  })
);

export const customResourceWriteCases: readonly ConformanceCase[] = [...scales, ...others, ...constants];
