/** What the kubelet of a Node may do: the Node authorizer, and the admission plugin NodeRestriction. */
import type { Call, CaseRun } from "../case_run.ts";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { as, makeAccount, whoAmI } from "./_access_users.ts";
import { at, type Body, configMap, lease, pod, podSpec, secret } from "./_objects.ts";

const merge = { method: "PATCH", type: "application/merge-patch+json" } as const;
const mirror = { "kubernetes.io/config.mirror": "x" };
const csiNodes = "/apis/storage.k8s.io/v1/csinodes";
const slices = "/apis/resource.k8s.io/v1/resourceslices";

/** The Node, its UID, and the UIDs of the Pods `own` and `foreign`. */
interface Setting {
  readonly run: CaseRun;
  readonly node: string;
  readonly other: string;
  readonly nodeUid: string;
  readonly ownUid: string;
  readonly foreignUid: string;
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const dryRun = "?dryRun=All";

function owner(node: string, uid: string, rest: Body = {}): Body {
  return { apiVersion: "v1", kind: "Node", name: node, uid, controller: true, ...rest };
}

/** A mirror Pod of the Node. */
function mirrorPod({ node, nodeUid }: Setting, spec: Body = {}, metadata: Body = {}): Body {
  const own = { annotations: mirror, ownerReferences: [owner(node, nodeUid)] };
  return pod("mirror", { nodeName: node, ...spec }, { ...own, ...metadata });
}

function volumes(...sources: readonly Body[]): Body {
  return { volumes: sources.map((source, index) => ({ name: `v${index}`, ...source })) };
}

function csiNode(name: string): Body {
  return { metadata: { name }, spec: { drivers: [{ name: "a.example.com", nodeID: name }] } };
}

/** What a Node tries, after it runs the Pod `own`, while another Node runs `foreign`. Nothing is changed. */
const tries: readonly (readonly [title: string, calls: (setting: Setting) => readonly Call[]])[] = [
  ["reads what its Pods use", ({ run }) =>
    [
      ...["by-env", "by-env-from", "by-volume", "by-projection", "by-pull", "by-init"].flatMap((name) => [
        { path: at(run, "secrets", name) },
        { path: at(run, "configmaps", name) },
      ]),
      { path: `${at(run, "secrets")}?fieldSelector=metadata.name%3Dby-env` },
      { path: `${at(run, "configmaps")}?watch=true&fieldSelector=metadata.name%3Dby-volume&timeoutSeconds=1` },
      { path: at(run, "persistentvolumeclaims", "claim") },
      { path: at(run, "persistentvolumeclaims", "own-scratch") },
      { path: at(run, "serviceaccounts", "robot") },
    ].map((call) => ({ ...call, recordsDenial: true }))],
  ["reads what its Pods do not use", ({ run }) => [
    { path: at(run, "secrets", "unused") },
    { path: at(run, "secrets", "of-foreign") },
    { path: at(run, "secrets") },
    { path: "/api/v1/secrets" },
    { path: "/api/v1/secrets?fieldSelector=metadata.name%3Dby-env" },
    { path: `${at(run, "secrets")}?fieldSelector=metadata.name%3Dunused` },
    { path: at(run, "configmaps", "kube-root-ca.crt") },
    { path: at(run, "persistentvolumeclaims", "unused") },
    { path: at(run, "persistentvolumeclaims") },
    { path: at(run, "serviceaccounts", "default") },
    { path: "/api/v1/persistentvolumes/missing" },
    { path: "/api/v1/persistentvolumes" },
    { path: "/apis/storage.k8s.io/v1/volumeattachments/missing" },
    { path: "/apis/storage.k8s.io/v1/volumeattachments" },
    { path: at(run, "resource.k8s.io/v1/resourceclaims", "missing") },
  ]],
  ["writes what its Pods use", ({ run }) => [
    { path: at(run, "secrets"), body: secret("new") },
    { ...merge, path: at(run, "secrets", "by-env"), body: {} },
    { method: "DELETE", path: at(run, "configmaps", "by-env") },
    { ...merge, path: at(run, "persistentvolumeclaims", "claim"), body: {} },
    { method: "DELETE", path: at(run, "serviceaccounts", "robot") },
  ]],
  ["reads Pods", ({ run, node, other }) =>
    [
      { path: at(run, "pods", "own") },
      { path: at(run, "pods", "foreign") },
      { path: at(run, "pods", "missing") },
      { path: at(run, "pods") },
      { path: "/api/v1/pods" },
      { path: `/api/v1/pods?fieldSelector=spec.nodeName%3D${node}` },
      { path: `/api/v1/pods?fieldSelector=spec.nodeName%3D${other}` },
      { path: `/api/v1/pods?fieldSelector=spec.nodeName!%3D${node}` },
      { path: `/api/v1/pods?watch=true&timeoutSeconds=1&fieldSelector=spec.nodeName%3D${node}` },
      { path: `${at(run, "pods")}?fieldSelector=metadata.name%3Down` },
      { path: `${at(run, "pods", "own")}/log` },
      { path: `${at(run, "pods", "own")}/status` },
    ].map((call) => ({ ...call, recordsDenial: true }))],
  ["writes Pods", ({ run }) => [
    { method: "DELETE", path: at(run, "pods", "own") + dryRun, pick: () => "" },
    { method: "DELETE", path: at(run, "pods", "foreign") + dryRun },
    { method: "DELETE", path: at(run, "pods", "missing") },
    { method: "DELETE", path: at(run, "pods") },
    { ...merge, path: at(run, "pods", "own"), body: { metadata: { labels: { a: "b" } } } },
    { path: at(run, "pods", "own") + "/binding", body: {} },
  ]],
  ["writes the status of Pods", ({ run }) => {
    const status = (name: string) => `${at(run, "pods", name)}/status${dryRun}`;
    return [
      { ...merge, path: status("own"), body: { status: { phase: "Running" } }, pick: () => "" },
      { ...merge, path: status("foreign"), body: { status: { phase: "Running" } } },
      { ...merge, path: status("own"), body: { metadata: { labels: { a: "b" } } } },
      { ...merge, path: status("own"), body: { status: { resourceClaimStatuses: [{ name: "a" }] } } },
    ];
  }],
  ["evicts Pods", ({ run }) => {
    const eviction = (name: string) => ({
      path: `${at(run, "pods", name)}/eviction${dryRun}`,
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } },
    });
    return [eviction("own"), eviction("foreign"), eviction("missing")];
  }],
  ["creates Pods", (setting) => {
    const { run, node, other, nodeUid } = setting;
    const bodies = [
      pod("plain", { nodeName: node }),
      mirrorPod(setting, { nodeName: other }),
      mirrorPod(setting, {}, { ownerReferences: [] }),
      mirrorPod(setting, {}, { ownerReferences: [owner(other, nodeUid)] }),
      mirrorPod(setting, {}, { ownerReferences: [owner(node, nodeUid, { controller: false })] }),
      mirrorPod(setting, {}, { ownerReferences: [owner(node, nodeUid, { blockOwnerDeletion: true })] }),
      mirrorPod(setting, {}, { ownerReferences: [owner(node, nodeUid), owner(other, "x", { controller: false })] }),
      mirrorPod(setting, {}, { ownerReferences: [owner(node, "00000000-0000-0000-0000-000000000000")] }),
      mirrorPod(setting),
    ];
    return bodies.map((body) => ({ path: at(run, "pods") + dryRun, body, pick: () => "" }));
  }],
  ["creates Pods that refer to objects", (setting) => {
    const { run } = setting;
    const env = (from: Body) => podSpec({ containers: [{ name: "a", image: "a", envFrom: [from] }] });
    const specs = [
      { serviceAccountName: "robot" },
      { imagePullSecrets: [{ name: "a" }] },
      env({ secretRef: { name: "a" } }),
      env({ configMapRef: { name: "a" } }),
      volumes({ configMap: { name: "a" } }),
      volumes({ secret: { secretName: "a" } }),
      volumes({ csi: { driver: "a.example.com" } }),
      volumes({ persistentVolumeClaim: { claimName: "a" } }),
      volumes({ projected: { sources: [{ serviceAccountToken: { path: "a" } }] } }),
      volumes({ projected: { sources: [{ downwardAPI: {} }] } }, { emptyDir: {} }, { hostPath: { path: "/a" } }),
    ];
    return specs.map((spec) => ({ path: at(run, "pods") + dryRun, body: mirrorPod(setting, spec), pick: () => "" }));
  }],
  ["reads Nodes", ({ node, other }) =>
    [
      { path: `/api/v1/nodes/${node}` },
      { path: `/api/v1/nodes/${other}` },
      { path: "/api/v1/nodes" },
      { path: `/api/v1/nodes?fieldSelector=metadata.name%3D${node}` },
      { path: `/api/v1/nodes?fieldSelector=metadata.name%3D${other}` },
      { path: `/api/v1/nodes/${node}/status` },
      { path: `/api/v1/nodes/${node}/proxy/` },
    ].map((call) => ({ ...call, recordsDenial: true }))],
  ["writes Nodes", ({ run, node, other }) => {
    const labels = (name: string, keys: readonly string[]): Call => {
      const body = { metadata: { labels: Object.fromEntries(keys.map((key) => [key, "x"])) } };
      return { ...merge, path: `/api/v1/nodes/${name}${dryRun}`, body, pick: () => "" };
    };
    const made = run.name("made");
    return [
      labels(node, ["example.com/a", "kubernetes.io/os", "node.kubernetes.io/a", "kubelet.kubernetes.io/a"]),
      labels(node, ["node-restriction.kubernetes.io/a"]),
      labels(node, ["a.node-restriction.kubernetes.io/a", "node-role.kubernetes.io/control-plane", "k8s.io/a"]),
      labels(other, ["example.com/a"]),
      { ...merge, path: `/api/v1/nodes/${node}${dryRun}`, body: { spec: { taints: [] } } },
      { ...merge, path: `/api/v1/nodes/${node}${dryRun}`, body: { spec: { unschedulable: true } }, pick: () => "" },
      {
        ...merge,
        path: `/api/v1/nodes/${node}${dryRun}`,
        body: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "b" }] } },
      },
      { ...merge, path: `/api/v1/nodes/${node}/status${dryRun}`, body: { status: { phase: "x" } }, pick: () => "" },
      { ...merge, path: `/api/v1/nodes/${other}/status${dryRun}`, body: { status: {} } },
      { path: `/api/v1/nodes${dryRun}`, body: { metadata: { name: made } } },
      { method: "DELETE", path: `/api/v1/nodes/${node}` },
    ];
  }],
  ["writes Leases", ({ run, node, other }) => [
    { path: leases + dryRun, body: lease(node), pick: () => "" },
    { path: leases + dryRun, body: lease(other) },
    { path: at(run, "coordination.k8s.io/v1/leases"), body: lease(node) },
    { path: `${leases}/${node}` },
    { path: `${leases}/${other}` },
    { path: leases },
    { ...merge, path: `${leases}/${other}`, body: {} },
  ]],
  ["writes CSINodes", ({ node, other }) => [
    { path: csiNodes + dryRun, body: csiNode(node), pick: () => "" },
    { path: csiNodes + dryRun, body: csiNode(other) },
    { path: `${csiNodes}/${node}` },
    { path: `${csiNodes}/${other}` },
    { path: csiNodes },
  ]],
  ["writes ResourceSlices", ({ node, other }) => {
    const slice = (nodeName: string) => ({
      metadata: { name: `${node}-slice` },
      spec: { driver: "a.example.com", nodeName, pool: { name: "a", generation: 1, resourceSliceCount: 1 } },
    });
    return [
      { path: slices + dryRun, body: slice(node), pick: () => "" },
      { path: slices + dryRun, body: slice(other) },
      { path: slices },
      { path: `${slices}?fieldSelector=spec.nodeName%3D${node}`, pick: () => "" },
      { path: `${slices}?fieldSelector=spec.nodeName%3D${other}` },
      { path: `${slices}/missing` },
      { ...merge, path: `${slices}/missing/status`, body: {} },
    ];
  }],
  ["requests tokens", ({ run, ownUid, foreignUid }) => {
    const token = (boundObjectRef: Body | undefined, audiences: readonly string[] = [], account = "robot"): Call => ({
      path: `${at(run, "serviceaccounts", account)}/token`,
      body: { spec: { audiences, ...boundObjectRef === undefined ? {} : { boundObjectRef } } },
      pick: ({ spec }) => spec.audiences,
    });
    const own = { apiVersion: "v1", kind: "Pod", name: "own", uid: ownUid };
    return [
      token(own),
      token(own, ["vault"]),
      token(own, ["other"]),
      token(own, ["vault", "other"]),
      token(undefined),
      token({ ...own, uid: "" }),
      token({ ...own, uid: foreignUid }),
      token({ ...own, name: "missing" }),
      token({ ...own, name: "foreign", uid: foreignUid }),
      token({ ...own, kind: "Secret", name: "by-env" }),
      token(own, [], "default"),
    ];
  }],
  ["asks for reviews", ({ run, node }) => {
    const resourceAttributes = { namespace: run.namespace, verb: "get", resource: "secrets", name: "by-env" };
    const reviews = "/apis/authorization.k8s.io/v1";
    const fieldSelector = { requirements: [{ key: "spec.nodeName", operator: "In", values: [node] }] };
    const rawSelector = `spec.nodeName=${node}`;
    const pods = { verb: "list", resource: "pods" };
    return [
      { ...whoAmI },
      { path: `${reviews}/selfsubjectaccessreviews`, body: { spec: { resourceAttributes } } },
      { path: `${reviews}/selfsubjectaccessreviews`, body: { spec: { resourceAttributes: pods } } },
      {
        path: `${reviews}/selfsubjectaccessreviews`,
        body: { spec: { resourceAttributes: { ...pods, fieldSelector } } },
      },
      {
        path: `${reviews}/selfsubjectaccessreviews`,
        body: { spec: { resourceAttributes: { ...pods, fieldSelector: { rawSelector } } } },
      },
      {
        path: `${reviews}/selfsubjectrulesreviews`,
        body: { spec: { namespace: "default" } },
        pick: ({ status }: { readonly status: Body }) => ({
          incomplete: status["incomplete"],
          evaluationError: status["evaluationError"],
        }),
      },
    ];
  }],
];

/** A Pod that uses one object in each way. */
function ownPod(node: string): Body {
  const reference = (name: string) => ({ name });
  const variable = (type: string, ref: string) => ({
    name: type,
    valueFrom: { [ref]: { name: "by-env", key: "key" } },
  });
  const container = {
    name: "main",
    image: "example.invalid/main:1",
    env: [variable("A", "secretKeyRef"), variable("B", "configMapKeyRef")],
    envFrom: [{ secretRef: reference("by-env-from") }, { configMapRef: reference("by-env-from") }],
  };
  const both = [{ secretRef: reference("by-init") }, { configMapRef: reference("by-init") }];
  const ephemeral = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
  return pod("own", {
    nodeName: node,
    serviceAccountName: "robot",
    initContainers: [{ name: "init", image: "example.invalid/init:1", envFrom: both }],
    containers: [container],
    imagePullSecrets: [reference("by-pull")],
    volumes: [
      { name: "secret", secret: { secretName: "by-volume" } },
      { name: "config", configMap: reference("by-volume") },
      {
        name: "projected",
        projected: {
          sources: [
            { secret: reference("by-projection") },
            { configMap: reference("by-projection") },
            { serviceAccountToken: { path: "default" } },
            { serviceAccountToken: { path: "vault", audience: "vault" } },
          ],
        },
      },
      { name: "claim", persistentVolumeClaim: { claimName: "claim" } },
      { name: "scratch", ephemeral: { volumeClaimTemplate: ephemeral } },
    ],
  });
}

async function settingOf(run: CaseRun): Promise<Setting> {
  const [node, other] = [run.name("worker-1"), run.name("worker-2")];
  const { metadata } = await run.prepare({ path: "/api/v1/nodes", body: { metadata: { name: node } } });
  await run.prepare({ path: "/api/v1/nodes", body: { metadata: { name: other } } });
  await run.prepare({ path: at(run, "serviceaccounts"), body: { metadata: { name: "robot" } } });
  for (const name of ["by-env", "unused", "of-foreign"]) {
    await run.prepare({ path: at(run, "secrets"), body: secret(name) });
    await run.prepare({ path: at(run, "configmaps"), body: configMap(name) });
  }
  const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  for (const name of ["claim", "own-scratch"]) {
    await run.prepare({ path: at(run, "persistentvolumeclaims"), body: { metadata: { name }, spec: claim } });
  }
  const foreign = await run.prepare({
    path: at(run, "pods"),
    body: pod("foreign", { nodeName: other, serviceAccountName: "robot", imagePullSecrets: [{ name: "of-foreign" }] }),
  });
  const own = await run.prepare({ path: at(run, "pods"), body: ownPod(node) });
  // The authorizer reads Pods from a cache.
  for (const path of [at(run, "secrets", "by-env"), at(run, "serviceaccounts", "robot")]) {
    await run.until({ path, headers: asNode(node) }, (_, code) => code === 200);
  }
  await run.until({ path: at(run, "secrets", "of-foreign"), headers: asNode(other) }, (_, code) => code === 200);
  return { run, node, other, nodeUid: metadata.uid, ownUid: own.metadata.uid, foreignUid: foreign.metadata.uid };
}

function asNode(node: string) {
  return as(`system:node:${node}`, "system:nodes");
}

const tryCases = tries.map(([title, calls]) =>
  scenario(`a node ${title}`, async (run) => {
    const setting = await settingOf(run);
    const headers = asNode(setting.node);
    for (const call of calls(setting)) await run.call({ ...call, headers });
    for (const name of [setting.node, setting.other]) {
      await run.prepare({ method: "DELETE", path: `/api/v1/nodes/${name}` });
    }
  }, { needsAccount: true })
);

const tokenCases: readonly ConformanceCase[] = [
  scenario("a node whose Pod is gone", async (run) => {
    const { node, other } = await settingOf(run);
    const call = { path: at(run, "secrets", "by-env"), headers: asNode(node) };
    await run.prepare({ method: "DELETE", path: `${at(run, "pods", "own")}?gracePeriodSeconds=0` });
    await run.until(call, (_, code) => code === 403);
    await run.call(call);
    for (const name of [node, other]) await run.prepare({ method: "DELETE", path: `/api/v1/nodes/${name}` });
  }, { needsAccount: true }),
  scenario("a token that is bound to a Pod names its Node", async (run) => {
    const { node, other } = await settingOf(run);
    const { headers } = await makeAccount(run, "sender");
    await run.call({ ...whoAmI, headers });
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "own" };
    const path = `${at(run, "serviceaccounts", "robot")}/token`;
    const { status } = await run.prepare({ path, body: { spec: { boundObjectRef } } });
    await run.call({ ...whoAmI, headers: { authorization: `Bearer ${status.token}` } });
    await run.call({
      path: "/apis/authentication.k8s.io/v1/tokenreviews",
      body: { spec: { token: status.token } },
      pick: reviewed,
    });
    for (const name of [node, other]) await run.prepare({ method: "DELETE", path: `/api/v1/nodes/${name}` });
    await run.call({ ...whoAmI, headers: { authorization: `Bearer ${status.token}` } });
  }, { needsAccount: true }),
];

function reviewed({ status }: { readonly status: Body }): unknown {
  return status;
}

/** Cases of kubelets. */
export const nodeCases: readonly ConformanceCase[] = [...tryCases, ...tokenCases];
