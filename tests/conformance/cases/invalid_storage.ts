/** Errors and warnings of the kinds of storage, of PersistentVolumes and of APIServices: valid objects with one change each. */
import type { CaseRun } from "../case_run.ts";
import { type ConformanceCase, requests } from "../conformance_case.ts";
import { many, type MutatedKind, mutationCases } from "./_mutations.ts";
import { at, type Body } from "./_objects.ts";
import { volumeCases } from "./_invalid_volumes.ts";

const root = "/apis/storage.k8s.io/v1";
const long = "a".repeat(300);

const named = (run: CaseRun, stem: string): Body => ({ name: run.name(stem) });

const csiDriver: MutatedKind = {
  what: "a CSIDriver",
  path: () => `${root}/csidrivers`,
  good: (run) => ({ metadata: named(run, "driver"), spec: { tokenRequests: [{ audience: "a" }] } }),
  creates: [
    { spec: {} },
    { spec: undefined },
    { "metadata.name": "Bad_Name" },
    { "metadata.name": long },
    { "metadata.labels": { "bad key": "x" } },
    { "spec.attachRequired": null },
    { "spec.attachRequired": "yes" },
    { "spec.fsGroupPolicy": "Sometimes" },
    { "spec.fsGroupPolicy": "" },
    { "spec.volumeLifecycleModes": ["Persistent", "Transient", ""] },
    { "spec.volumeLifecycleModes": [] },
    { "spec.tokenRequests": [{ audience: "a" }, { audience: "a", expirationSeconds: 1 }] },
    { "spec.tokenRequests": [{ audience: "a" }, {}] },
    { "spec.tokenRequests": [{}, {}] },
    { "spec.tokenRequests": [{ audience: "a", expirationSeconds: 599 }] },
    { "spec.tokenRequests": [{ audience: "a", expirationSeconds: 4294967297 }] },
    { "spec.nodeAllocatableUpdatePeriodSeconds": 9 },
    { "spec.nodeAllocatableUpdatePeriodSeconds": -1 },
    { "spec.serviceAccountTokenInSecrets": true },
    ["tokens in Secrets and no requests for tokens", {
      "spec.tokenRequests": undefined,
      "spec.serviceAccountTokenInSecrets": false,
    }],
    { "spec.preventPodSchedulingIfMissing": true },
    { "spec.unknown": 1 },
    ["several errors", {
      "spec.fsGroupPolicy": "X",
      "spec.volumeLifecycleModes": ["Y"],
      "spec.tokenRequests": [{ audience: "b", expirationSeconds: 0 }],
      "spec.nodeAllocatableUpdatePeriodSeconds": 0,
    }],
  ],
  updates: [
    { "spec.attachRequired": false },
    { "spec.attachRequired": undefined },
    { "spec.volumeLifecycleModes": ["Ephemeral"] },
    { "spec.volumeLifecycleModes": ["Persistent", "Other"] },
    { "spec.volumeLifecycleModes": undefined },
    { "spec.podInfoOnMount": true },
    { "spec.fsGroupPolicy": "File" },
    { "spec.tokenRequests": [{ audience: "b" }] },
    { "spec.tokenRequests": undefined },
    { "metadata.resourceVersion": undefined },
    { "metadata.labels": { a: "b" } },
  ],
};

const driver = { name: "a.example", nodeID: "one", topologyKeys: ["zone"] };

const csiNode: MutatedKind = {
  what: "a CSINode",
  path: () => `${root}/csinodes`,
  good: (run) => ({ metadata: named(run, "node"), spec: { drivers: [driver] } }),
  creates: [
    { "spec.drivers": undefined },
    { "spec.drivers": null },
    { "spec.drivers": [] },
    { spec: undefined },
    { "metadata.name": "Bad_Name" },
    { "spec.drivers.0.name": undefined },
    { "spec.drivers.0.name": "Upper.Example" },
    { "spec.drivers.0.name": "bad_name" },
    { "spec.drivers.0.name": "a".repeat(64) },
    { "spec.drivers.0.nodeID": undefined },
    { "spec.drivers.0.nodeID": "n".repeat(257) },
    { "spec.drivers.0.topologyKeys": undefined },
    { "spec.drivers.0.topologyKeys": [] },
    { "spec.drivers.0.topologyKeys": [""] },
    { "spec.drivers.0.topologyKeys": ["a", "a"] },
    { "spec.drivers.0.topologyKeys": ["bad key", "a/b/c"] },
    { "spec.drivers.0.allocatable": { count: -1 } },
    { "spec.drivers.0.allocatable": { count: "1" } },
    { "spec.drivers.0.allocatable": {} },
    { "spec.drivers": [driver, driver] },
    { "spec.drivers": [{}] },
    { "spec.drivers": [{}, {}] },
    { "spec.drivers": {} },
  ],
  updates: [
    { "spec.drivers": [] },
    { "spec.drivers.0.nodeID": "two" },
    { "spec.drivers.0.topologyKeys": ["region"] },
    { "spec.drivers.0.topologyKeys": undefined },
    { "spec.drivers.0.allocatable": { count: 3 } },
    { "spec.drivers.0.allocatable": { count: -3 } },
    { "spec.drivers": [driver, { name: "b.example", nodeID: "one", topologyKeys: null }] },
    { "spec.drivers": [{ ...driver, nodeID: "two" }, { ...driver, nodeID: "three" }] },
    { "metadata.resourceVersion": undefined },
  ],
};

const csiStorageCapacity: MutatedKind = {
  what: "a CSIStorageCapacity",
  path: (run) => at(run, "storage.k8s.io/v1/csistoragecapacities"),
  good: () => ({
    metadata: { name: "a" },
    storageClassName: "fast",
    nodeTopology: { matchLabels: { zone: "a" } },
    capacity: "1Gi",
  }),
  creates: [
    { storageClassName: undefined },
    { storageClassName: "Bad_Name" },
    { storageClassName: long },
    { capacity: "-1" },
    { capacity: "much" },
    { capacity: "0" },
    { maximumVolumeSize: "-1" },
    { maximumVolumeSize: "x" },
    { nodeTopology: undefined },
    { nodeTopology: {} },
    { nodeTopology: { matchLabels: { "bad key": "x" } } },
    { nodeTopology: { matchLabels: { a: "bad value" } } },
    { nodeTopology: { matchExpressions: [{ key: "a", operator: "Like" }] } },
    { nodeTopology: { matchExpressions: [{ key: "a", operator: "In" }] } },
    { nodeTopology: { matchExpressions: [{ key: "a", operator: "In", values: ["bad value"] }] } },
    { nodeTopology: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] } },
    { nodeTopology: { matchExpressions: [{ key: "bad key", operator: "Exists" }] } },
    { nodeTopology: { matchExpressions: [{ key: "beta.kubernetes.io/os", operator: "Exists" }] } },
    { nodeTopology: { matchLabels: { "beta.kubernetes.io/arch": "x" } } },
    { "metadata.name": "Bad_Name" },
    { "metadata.namespace": "elsewhere" },
    ["several errors", { storageClassName: "-", capacity: "-2Mi", nodeTopology: { matchLabels: { "": "" } } }],
  ],
  updates: [
    { storageClassName: "slow" },
    { storageClassName: "Bad_Name" },
    { storageClassName: undefined },
    { nodeTopology: undefined },
    { nodeTopology: { matchLabels: { zone: "b" } } },
    { nodeTopology: { matchExpressions: [{ key: "a", operator: "In", values: ["bad value"] }] } },
    { capacity: "2Gi" },
    { capacity: "-2Gi" },
    { capacity: undefined },
    { "metadata.resourceVersion": undefined },
  ],
};

const inline = {
  csi: { driver: "a.example", volumeHandle: "x" },
  accessModes: ["ReadWriteOnce"],
};

const attachment: MutatedKind = {
  what: "a VolumeAttachment",
  path: () => `${root}/volumeattachments`,
  good: (run) => ({
    metadata: named(run, "attachment"),
    spec: { attacher: "a.example", nodeName: "one", source: { persistentVolumeName: "disk" } },
  }),
  creates: [
    { spec: undefined },
    { "spec.attacher": undefined },
    { "spec.attacher": "Upper.Example" },
    { "spec.attacher": "bad_name" },
    { "spec.attacher": "a".repeat(64) },
    { "spec.nodeName": undefined },
    { "spec.nodeName": "Bad_Name" },
    { "spec.source": undefined },
    { "spec.source": {} },
    { "spec.source.persistentVolumeName": "" },
    { "spec.source.persistentVolumeName": "Bad_Name" },
    { "spec.source.inlineVolumeSpec": inline },
    { "spec.source": { inlineVolumeSpec: inline } },
    { "spec.source": { inlineVolumeSpec: {} } },
    { "spec.source": { inlineVolumeSpec: { ...inline, accessModes: [] } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, capacity: { storage: "1" } } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, claimRef: { name: "a" } } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, persistentVolumeReclaimPolicy: "Delete" } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, storageClassName: "fast" } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, volumeMode: "Block" } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, nodeAffinity: {} } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, volumeAttributesClassName: "" } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, nfs: { server: "a", path: "/b" } } } },
    { "spec.source": { inlineVolumeSpec: { accessModes: ["Other"], local: { path: "/b" } } } },
    { "spec.source": { inlineVolumeSpec: { ...inline, csi: { driver: "" } } } },
    { "metadata.name": "Bad_Name" },
    { status: { attached: true, attachError: { errorCode: -1 } } },
  ],
  updates: [
    { "spec.attacher": "b.example" },
    { "spec.nodeName": "two" },
    { "spec.source.persistentVolumeName": "other" },
    { "spec.source": { inlineVolumeSpec: inline } },
    { "spec.source": { inlineVolumeSpec: {} } },
    { spec: {} },
    { status: { attached: true } },
    { "metadata.labels": { a: "b" } },
    { "metadata.resourceVersion": undefined },
  ],
  statusUpdates: [
    { status: { attached: true, attachmentMetadata: { a: "b" } } },
    { status: { attached: false, attachError: { message: "m".repeat(1025) } } },
    { status: { attached: false, detachError: { message: "gone", errorCode: -1 } } },
    { status: { attached: false, attachError: { errorCode: 5, time: "2026-01-01T00:00:00Z" } } },
    { status: {} },
    { "spec.nodeName": "two" },
    { "metadata.labels": { a: "b" } },
  ],
};

const attributesClass: MutatedKind = {
  what: "a VolumeAttributesClass",
  path: () => `${root}/volumeattributesclasses`,
  good: (run) => ({ metadata: named(run, "attributes"), driverName: "a.example", parameters: { iops: "1" } }),
  creates: [
    { driverName: undefined },
    { driverName: "" },
    { driverName: "bad driver" },
    { driverName: "Upper.Example" },
    { driverName: "a/b/c" },
    { driverName: "a".repeat(64) },
    { driverName: "/a" },
    { parameters: undefined },
    { parameters: {} },
    { parameters: null },
    { parameters: { "": "x" } },
    { parameters: { a: "" } },
    { parameters: { a: 1 } },
    ["too many parameters", { parameters: Object.fromEntries(many(513, (index) => [`k${index}`, ""])) }],
    ["too large parameters", { parameters: { a: "x".repeat(256 * 1024) } }],
    { "metadata.name": "Bad_Name" },
    { "metadata.name": long },
    { "metadata.namespace": "default" },
    { unknown: 1 },
    ["several errors", { driverName: "-", parameters: {}, "metadata.name": "-" }],
  ],
  updates: [
    { driverName: "b.example" },
    { driverName: "bad driver" },
    { driverName: undefined },
    { parameters: { iops: "2" } },
    { parameters: undefined },
    { parameters: {} },
    { "metadata.labels": { a: "b" } },
    { "metadata.resourceVersion": undefined },
  ],
};

const requirement = { key: "zone", values: ["a"] };

const storageClass: MutatedKind = {
  what: "a StorageClass",
  path: () => `${root}/storageclasses`,
  good: (run) => ({ metadata: named(run, "class"), provisioner: "a.example/disk", parameters: { a: "b" } }),
  creates: [
    { allowedTopologies: [{}] },
    { allowedTopologies: [{}, {}] },
    { allowedTopologies: [{ matchLabelExpressions: [requirement] }, { matchLabelExpressions: [requirement] }] },
    { allowedTopologies: [{ matchLabelExpressions: [requirement, requirement] }] },
    { allowedTopologies: [{ matchLabelExpressions: [{ key: "", values: [""] }] }] },
    { mountOptions: ["", "ro"] },
    { reclaimPolicy: "" },
    { volumeBindingMode: "" },
  ],
  updates: [
    { provisioner: "b.example/disk" },
    { parameters: {} },
    { reclaimPolicy: "Retain" },
    { volumeBindingMode: "WaitForFirstConsumer" },
    { allowVolumeExpansion: true },
    { mountOptions: ["ro"] },
    { allowedTopologies: [{}] },
  ],
};

const service = { namespace: "default", name: "metrics" };

const apiService: MutatedKind = {
  what: "an APIService",
  path: () => "/apis/apiregistration.k8s.io/v1/apiservices",
  good: (run) => ({
    metadata: { name: `v1.${run.unique}.example` },
    spec: {
      group: `${run.unique}.example`,
      version: "v1",
      groupPriorityMinimum: 100,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service,
    },
  }),
  creates: [
    { spec: undefined },
    { "spec.group": undefined },
    { "spec.group": "Bad_Group" },
    { "spec.version": undefined },
    { "spec.version": "V1" },
    { "spec.version": "1.0" },
    { "metadata.name": "other" },
    { "metadata.name": "v1.a/b" },
    { "metadata.name": "..v1" },
    { "spec.groupPriorityMinimum": undefined },
    { "spec.groupPriorityMinimum": -1 },
    { "spec.groupPriorityMinimum": 20001 },
    { "spec.versionPriority": undefined },
    { "spec.versionPriority": 1001 },
    { "spec.service": undefined },
    { "spec.service": {} },
    { "spec.service": { ...service, port: 0 } },
    { "spec.service": { ...service, port: 70000 } },
    { "spec.service.name": "" },
    { "spec.caBundle": "YQ==" },
    { "spec.caBundle": "%" },
    ["a local service with a bundle", { "spec.service": undefined, "spec.caBundle": "YWI=" }],
    ["a local service", { "spec.service": undefined, "spec.insecureSkipTLSVerify": undefined }],
    ["a bundle", { "spec.caBundle": "YQ==", "spec.insecureSkipTLSVerify": undefined }],
  ],
};

/** Without a Service no controller changes its status. */
const localApiService: MutatedKind = {
  ...apiService,
  what: "a local APIService",
  good: (run) => ({
    metadata: { name: `v1.${run.unique}.example` },
    spec: { group: `${run.unique}.example`, version: "v1", groupPriorityMinimum: 100, versionPriority: 10 },
  }),
  creates: [],
  updates: [
    { "spec.group": "other.example" },
    { "spec.version": "v2" },
    { "spec.groupPriorityMinimum": 0 },
    { "spec.versionPriority": 0 },
    { "spec.service": { ...service, port: -1 } },
    { "spec.service": { ...service, name: "" } },
    { "spec.service": service },
    { "spec.insecureSkipTLSVerify": true },
    { "metadata.resourceVersion": undefined },
  ],
  statusUpdates: [
    { status: { conditions: [{ type: "Available", status: "Maybe" }] } },
    { status: { conditions: [{ type: "", status: "" }] } },
    { status: { conditions: [{ type: "Other", status: "Unknown", lastTransitionTime: "2026-01-01T00:00:00Z" }] } },
    { "spec.version": "v2" },
    { "metadata.labels": { a: "b" } },
  ],
};

const componentStatus = "/api/v1/componentstatuses";
const unnamed = { metadata: { name: "a" } };
const table = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** A real server asks all components at once, and lists them in the order of their answers. */
// deno-lint-ignore no-explicit-any
function sortedNames({ items, ...rest }: any): unknown {
  const names = new Map(items.map((item: { metadata: { name: string } }) => [item.metadata.name, item]));
  return { ...rest, items: [...names.keys()].sort().map((name) => names.get(name)) };
}

/** ComponentStatuses cannot be written. */
const componentCases: readonly ConformanceCase[] = [
  requests("a ComponentStatus is not created", () => [{ path: componentStatus, body: unnamed }]),
  requests("a ComponentStatus is not updated", () => [{ method: "PUT", path: `${componentStatus}/a`, body: unnamed }]),
  requests("a ComponentStatus is not deleted", () => [{ method: "DELETE", path: `${componentStatus}/a` }]),
  requests("ComponentStatuses are not deleted", () => [{ method: "DELETE", path: componentStatus }]),
  requests("a ComponentStatus is not patched", () => [{
    method: "PATCH",
    path: `${componentStatus}/a`,
    type: "application/merge-patch+json",
    body: {},
  }]),
  requests("an unknown ComponentStatus", () => [{ path: `${componentStatus}/a` }]),
  requests("ComponentStatuses are not watched", () => [{ path: `${componentStatus}?watch=true&timeoutSeconds=1` }]),
  requests("the health of the parts of the control plane", () => [
    ...["scheduler", "controller-manager", "etcd-0"].map((name) => ({ path: `${componentStatus}/${name}` })),
    { path: componentStatus, pick: sortedNames },
    { path: `${componentStatus}/etcd-0`, accept: table },
    { path: `${componentStatus}/scheduler`, accept: table },
    { path: `${componentStatus}/etcd-0`, accept: "application/yaml" },
    { path: `${componentStatus}/etcd-0`, accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" },
  ]),
  requests("ComponentStatuses have no versions and no pages", () => [
    { path: `${componentStatus}/etcd-0?resourceVersion=777777777` },
    { path: `${componentStatus}/etcd-0?resourceVersion=a` },
    ...["resourceVersion=777777777", "resourceVersion=a", "limit=1", "continue=a", "resourceVersion=0"].map((
      query,
    ) => ({
      path: `${componentStatus}?${query}`,
      pick: sortedNames,
    })),
    { path: `${componentStatus}?resourceVersionMatch=Exact` },
    { path: `${componentStatus}?resourceVersionMatch=Exact&resourceVersion=5`, pick: sortedNames },
  ]),
  requests("ComponentStatuses by selectors", () =>
    [
      "labelSelector=a%3Db",
      "labelSelector=!a",
      "fieldSelector=metadata.name%3Dscheduler",
      "fieldSelector=metadata.name!%3Dscheduler",
      "fieldSelector=metadata.name%3Dnone",
      "fieldSelector=metadata.namespace%3Ddefault",
      "fieldSelector=spec.a%3Db",
      "fieldSelector=metadata.name%3Detcd-0&labelSelector=a",
    ].map((query) => ({ path: `${componentStatus}?${query}`, pick: sortedNames }))),
  requests("a ComponentStatus has no status", () => [{ path: `${componentStatus}/etcd-0/status` }]),
];

const clusterScoped = [csiDriver, csiNode, attachment, attributesClass, storageClass, apiService, localApiService];

export const invalidStorageCases: readonly ConformanceCase[] = [
  ...clusterScoped.flatMap((kind) => mutationCases({ ...kind, traits: { needsNamespace: false } })),
  ...mutationCases(csiStorageCapacity),
  ...volumeCases,
  ...componentCases,
];
