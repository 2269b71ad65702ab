/** Updates and deletions: versions, preconditions, generations, finalizers, propagation. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import { at, type Body, configMap, deployment, lease, role, secret, service } from "./_objects.ts";

const updates: readonly ConformanceCase[] = [
  scenario("an update with the version of before, with a stale one, with none", async (site) => {
    const path = at(site, "configmaps");
    const first = await site.call({ path, body: configMap("a") });
    const { metadata } = first;
    await site.call({ method: "PUT", path: `${path}/a`, body: { ...first, data: { a: "1" } } });
    await site.call({ method: "PUT", path: `${path}/a`, body: { ...first, data: { a: "2" } } });
    await site.call({ method: "PUT", path: `${path}/a`, body: configMap("a", { a: "3" }) });
    await site.call({ method: "PUT", path: `${path}/a`, body: configMap("a", {}, { resourceVersion: "text" }) });
    await site.call({ method: "PUT", path: `${path}/a`, body: configMap("a", {}, { uid: metadata.uid }) });
    await site.call({ method: "PUT", path: `${path}/a`, body: configMap("a", {}, { uid: "another" }) });
  }),
  requests("an update of what is not there", (site) => [
    { method: "PUT", path: at(site, "configmaps", "a"), body: configMap("a") },
    { method: "PUT", path: at(site, "configmaps", "a"), body: configMap("a", {}, { resourceVersion: "5" }) },
    { method: "PUT", path: at(site, "coordination.k8s.io/v1/leases", "a"), body: lease("a") },
    { method: "PUT", path: at(site, "coordination.k8s.io/v1/leases", "b"), body: lease("c") },
    { method: "PUT", path: at(site, "rbac.authorization.k8s.io/v1/roles", "a"), body: role("a") },
    { method: "PUT", path: at(site, "secrets", "a"), body: secret("a") },
  ]),
  requests("an update whose body names another object", (site) => [
    { path: at(site, "configmaps"), body: configMap("a") },
    { method: "PUT", path: at(site, "configmaps", "a"), body: configMap("b") },
    { method: "PUT", path: at(site, "configmaps", "a"), body: { data: {} } },
    { method: "PUT", path: at(site, "configmaps", "a"), body: configMap("a", {}, { namespace: "other" }) },
    { method: "PUT", path: at(site, "configmaps", "a"), body: secret("a") },
  ]),
  scenario("an update that changes nothing keeps the version", async (site) => {
    const path = at(site, "configmaps");
    const first = await site.call({ path, body: configMap("a") });
    await site.call({ method: "PUT", path: `${path}/a`, body: first });
    await site.call({ method: "PATCH", path: `${path}/a`, type: "application/merge-patch+json", body: {} });
    await site.call({ path: `${path}/a` });
  }),
  requests("what may not change", (site) => [
    { path: at(site, "configmaps"), body: { ...configMap("a"), immutable: true } },
    {
      method: "PUT",
      path: at(site, "configmaps", "a"),
      body: { ...configMap("a", { key: "other" }), immutable: true },
    },
    { method: "PUT", path: at(site, "configmaps", "a"), body: configMap("a", { key: "other" }) },
    { path: at(site, "secrets"), body: secret("a") },
    { method: "PUT", path: at(site, "secrets", "a"), body: { ...secret("a"), type: "example.com/other" } },
    { path: at(site, "services"), body: service("a") },
    { method: "PUT", path: at(site, "services", "a"), body: service("a", { clusterIP: "10.96.200.200" }) },
    { method: "PUT", path: at(site, "services", "a"), body: service("a", { ports: [] }) },
  ]),
  requests("what the server set stays", (site) => [
    { path: at(site, "configmaps"), body: configMap("a") },
    {
      method: "PUT",
      path: at(site, "configmaps", "a"),
      body: configMap("a", {}, { creationTimestamp: "2001-01-01T00:00:00Z", generation: 9, generateName: "b" }),
    },
    { method: "PUT", path: at(site, "configmaps", "a"), body: configMap("a", {}, { managedFields: [] }) },
    { method: "PUT", path: at(site, "configmaps", "a"), body: configMap("a", {}, { managedFields: [{}] }) },
    {
      method: "PUT",
      path: at(site, "configmaps", "a"),
      body: configMap("a", {}, { managedFields: [{ manager: "x", operation: "Up" }] }),
    },
  ]),
  scenario("a dry run of an update stores nothing", async (site) => {
    const path = at(site, "configmaps");
    await site.call({ path, body: configMap("a") });
    await site.call({ method: "PUT", path: `${path}/a?dryRun=All`, body: configMap("a", { b: "c" }) });
    await site.call({ method: "DELETE", path: `${path}/a?dryRun=All` });
    await site.call({ path: `${path}/a` });
  }),
  requests("the generation counts changes of the spec", (site) => {
    const path = at(site, "networking.k8s.io/v1/networkpolicies");
    const policy = (spec: Body, labels: Body = {}) => ({ metadata: { name: "a", labels }, spec });
    const pick = (object: { metadata: { generation?: number } }) => object.metadata.generation ?? "none";
    return [
      { path, body: policy({ podSelector: {} }), pick },
      { method: "PUT", path: `${path}/a`, body: policy({ podSelector: {} }, { a: "b" }), pick },
      { method: "PUT", path: `${path}/a`, body: policy({ podSelector: { matchLabels: { a: "b" } } }), pick },
      { method: "PUT", path: `${path}/a`, body: policy({ podSelector: {} }), pick },
    ];
  }),
];

const body = (options: Body) => ({ kind: "DeleteOptions", apiVersion: "v1", ...options });

const deletions: readonly ConformanceCase[] = [
  requests("a deletion, and another", (site) => [
    { path: at(site, "configmaps"), body: configMap("a") },
    { method: "DELETE", path: at(site, "configmaps", "a") },
    { method: "DELETE", path: at(site, "configmaps", "a") },
  ]),
  scenario("preconditions of a deletion", async (site) => {
    const path = at(site, "configmaps");
    const { metadata } = await site.call({ path, body: configMap("a") });
    const remove = (preconditions: Body) =>
      site.call({ method: "DELETE", path: `${path}/a`, body: body({ preconditions }) });
    await remove({ uid: "another" });
    await remove({ resourceVersion: "1" });
    await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    await site.call({ path: `${path}/a` });
  }),
  scenario("a finalizer holds an object until it is taken off", async (site) => {
    const path = at(site, "configmaps");
    const held = configMap("a", {}, { finalizers: ["example.com/hold", "example.com/other"] });
    await site.call({ path, body: held });
    await site.call({ method: "DELETE", path: `${path}/a` });
    await site.call({ method: "DELETE", path: `${path}/a` });
    const live = await site.call({ path: `${path}/a` });
    const { metadata } = live;
    const write = (finalizers: readonly string[], rest: Body = {}) =>
      site.call({
        method: "PUT",
        path: `${path}/a`,
        body: { ...live, ...rest, metadata: { ...metadata, resourceVersion: undefined, finalizers } },
      });
    await write(["example.com/hold", "example.com/other", "example.com/new"]);
    await write(["example.com/other"], { data: { late: "yes" } });
    await site.call({ path, body: configMap("a") });
    await write([]);
    await site.call({ path: `${path}/a` });
  }),
  scenario("propagation policies leave their mark", async (site) => {
    const path = at(site, "configmaps");
    for (const [name, propagationPolicy] of [["a", "Foreground"], ["b", "Orphan"], ["c", "Background"]] as const) {
      await site.call({ path, body: configMap(name, {}, { finalizers: ["example.com/hold"] }) });
      await site.call({ method: "DELETE", path: `${path}/${name}`, body: body({ propagationPolicy }) });
    }
    await site.call({ method: "DELETE", path: `${path}/a`, body: body({ propagationPolicy: "Orphan" }) });
    await site.call({ method: "DELETE", path: `${path}/b?propagationPolicy=Foreground` });
    for (const name of ["a", "b", "c"]) {
      const patch = { metadata: { finalizers: null } };
      await site.prepare({
        method: "PATCH",
        path: `${path}/${name}`,
        type: "application/merge-patch+json",
        body: patch,
      });
    }
  }),
  requests("options of a deletion that are wrong", (site) => [
    { path: at(site, "configmaps"), body: configMap("a", {}, { finalizers: ["example.com/hold"] }) },
    { method: "DELETE", path: at(site, "configmaps", "a"), body: body({ propagationPolicy: "Sideways" }) },
    {
      method: "DELETE",
      path: at(site, "configmaps", "a"),
      body: body({ propagationPolicy: "Orphan", orphanDependents: true }),
    },
    { method: "DELETE", path: at(site, "configmaps", "a"), body: body({ gracePeriodSeconds: "soon" }) },
    { method: "DELETE", path: at(site, "configmaps", "a"), body: body({ dryRun: ["Some"] }) },
    { method: "DELETE", path: at(site, "configmaps", "a"), body: "{" },
    { method: "DELETE", path: at(site, "configmaps", "a"), body: configMap("a") },
    { method: "DELETE", path: `${at(site, "configmaps", "a")}?gracePeriodSeconds=x` },
    { method: "DELETE", path: at(site, "configmaps", "a"), type: "text/plain", body: "text" },
    {
      method: "PATCH",
      path: at(site, "configmaps", "a"),
      type: "application/merge-patch+json",
      body: { metadata: { finalizers: null } },
    },
    { method: "DELETE", path: at(site, "configmaps", "a") },
  ]),
  scenario("a collection is deleted by selector", async (site) => {
    const path = at(site, "configmaps");
    for (const name of ["a", "b", "c"]) {
      await site.call({ path, body: configMap(name, {}, { labels: { which: name === "c" ? "other" : "these" } }) });
    }
    await site.call({ method: "DELETE", path: `${path}?labelSelector=which%3Dthese&dryRun=All` });
    await site.call({ method: "DELETE", path: `${path}?labelSelector=which%3Dthese` });
    await site.call({ path: `${path}?labelSelector=which`, pick: (list) => list.items });
    await site.call({ method: "DELETE", path: `${path}?fieldSelector=metadata.name%3Dc` });
    await site.call({ method: "DELETE", path: `${path}?labelSelector=which` });
    await site.call({ method: "DELETE", path: `${path}?labelSelector=%3D%3D` });
  }),
  scenario("dependents go with their owner, in the background", async (site) => {
    const path = at(site, "configmaps");
    const { metadata: { uid } } = await site.call({ path, body: configMap("owner") });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    await site.call({ path, body: configMap("owned", {}, { ownerReferences }) });
    await site.call({ method: "DELETE", path: `${path}/owner` });
    await site.until(`${path}/owned`, (_, code) => code === 404);
    await site.call({ path: `${path}/owned` });
  }, { needsControllers: true }),
  scenario("dependents that block hold their owner in the foreground", async (site) => {
    const path = at(site, "configmaps");
    const { metadata: { uid } } = await site.call({ path, body: configMap("owner") });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true }];
    await site.call({ path, body: configMap("owned", {}, { ownerReferences, finalizers: ["example.com/hold"] }) });
    await site.call({ method: "DELETE", path: `${path}/owner?propagationPolicy=Foreground` });
    await site.until(`${path}/owned`, (object) => object.metadata?.deletionTimestamp !== undefined);
    await site.call({ path: `${path}/owner` });
    const patch = { metadata: { finalizers: null } };
    await site.call({ method: "PATCH", path: `${path}/owned`, type: "application/merge-patch+json", body: patch });
    await site.until(`${path}/owner`, (_, code) => code === 404);
  }, { needsControllers: true }),
  scenario("orphans lose their owner and stay", async (site) => {
    const path = at(site, "configmaps");
    const { metadata: { uid } } = await site.call({ path, body: configMap("owner") });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    await site.call({ path, body: configMap("owned", {}, { ownerReferences }) });
    // The collector has to know of the pair before it can part it.
    await new Promise((resolve) => setTimeout(resolve, 500));
    await site.call({ method: "DELETE", path: `${path}/owner?propagationPolicy=Orphan` });
    await site.until(`${path}/owner`, (_, code) => code === 404);
    await site.call({ path: `${path}/owned`, pick: ({ metadata }) => metadata.ownerReferences ?? "none" });
  }, { needsControllers: true }),
  scenario("a namespace ends with all that is in it", async (site) => {
    const path = `/api/v1/namespaces/${site.name("ns")}`;
    await site.call({ path: "/api/v1/namespaces", body: { metadata: { name: site.name("ns") } } });
    await site.call({ path: `${path}/configmaps`, body: configMap("a", {}, { finalizers: ["example.com/hold"] }) });
    await site.call({ method: "DELETE", path });
    await site.call({ path: `${path}/configmaps`, body: configMap("b") });
    await site.until(
      path,
      (live) =>
        (live.status?.conditions ?? []).some((condition: Body) =>
          condition["type"] === "NamespaceFinalizersRemaining" && condition["status"] === "True"
        ),
    );
    await site.call({ path, pick: ({ spec, status }) => ({ spec, status }) });
    const patch = { metadata: { finalizers: null } };
    await site.call({
      method: "PATCH",
      path: `${path}/configmaps/a`,
      type: "application/merge-patch+json",
      body: patch,
    });
    await site.until(path, (_, code) => code === 404);
    await site.call({ path });
  }, { needsControllers: true }),
  scenario("a Deployment gets a ReplicaSet, and both their status", async (site) => {
    const path = at(site, "apps/v1/deployments");
    await site.call({ path, body: deployment("web") });
    await site.until(
      `${path}/web`,
      (live) => live.status?.observedGeneration === 1 && live.status.conditions?.length > 0,
    );
    await site.call({
      path: `${path}/web`,
      pick: ({ spec, status, metadata }) => ({ spec, status, annotations: metadata.annotations }),
    });
    await site.call({
      path: at(site, "apps/v1/replicasets"),
      pick: ({ items }) => items.map(({ spec, metadata }: Body) => ({ spec, metadata })),
    });
  }, {
    needsControllers: true,
    deliberate:
      "a template's hash is made of its JSON here and of a dump of Go structs there, and each controller has a " +
      "field manager's name of its own",
  }),
];

export const changeCases: readonly ConformanceCase[] = [...updates, ...deletions];
