/** Updates and deletions: versions, preconditions, generations, finalizers, propagation. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import { at, type Body, configMap, deployment, lease, role, secret, service } from "./_objects.ts";
import { untilCollectorSees } from "./_waits.ts";

const updates: readonly ConformanceCase[] = [
  scenario("finalizers without a domain, which only some kinds allow", async (run) => {
    const event = { involvedObject: { namespace: run.namespace } };
    const plain = { metadata: { name: "a", finalizers: ["plain"] } };
    const bodies = [
      ["coordination.k8s.io/v1/leases", {}],
      ["policy/v1/poddisruptionbudgets", { spec: { minAvailable: 1 } }],
      ["events", event],
      ["configmaps", {}],
    ] as const;
    for (const [resource, body] of bodies) {
      await run.call({ path: `${at(run, resource)}?dryRun=All`, body: { ...body, ...plain } });
    }
    const wide = [
      ["admissionregistration.k8s.io/v1/validatingwebhookconfigurations", { webhooks: [] }],
      ["admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", { webhooks: [] }],
      ["node.k8s.io/v1/runtimeclasses", { handler: "a" }],
      ["storage.k8s.io/v1/csidrivers", { spec: {} }],
    ] as const;
    for (const [resource, body] of wide) {
      const metadata = { name: run.name("plain"), finalizers: ["plain"] };
      await run.call({ path: `/apis/${resource}?dryRun=All`, body: { ...body, metadata } });
    }
  }),
  ...[["an empty list", []], ["one empty entry", [{}]], ["null", null]].map(([what, managedFields]) =>
    scenario(`managedFields that a patch and an update set to ${what}`, async (run) => {
      const path = at(run, "services");
      const live = await run.call({ path, body: service("a") });
      const metadata = { ...live.metadata, managedFields };
      await run.call({ method: "PUT", path: `${path}/a`, body: { ...live, metadata } });
      await run.prepare({ method: "DELETE", path: `${path}/a` });
      await run.call({ path, body: service("a") });
      const body = { metadata: { managedFields } };
      await run.call({ method: "PATCH", path: `${path}/a`, type: "application/merge-patch+json", body });
    })
  ),
  scenario("an update with the current resourceVersion, with an old one, without one", async (run) => {
    const path = at(run, "configmaps");
    const first = await run.call({ path, body: configMap("a") });
    const { metadata } = first;
    await run.call({ method: "PUT", path: `${path}/a`, body: { ...first, data: { a: "1" } } });
    await run.call({ method: "PUT", path: `${path}/a`, body: { ...first, data: { a: "2" } } });
    await run.call({ method: "PUT", path: `${path}/a`, body: configMap("a", { a: "3" }) });
    await run.call({ method: "PUT", path: `${path}/a`, body: configMap("a", {}, { resourceVersion: "text" }) });
    await run.call({ method: "PUT", path: `${path}/a`, body: configMap("a", {}, { uid: metadata.uid }) });
    await run.call({ method: "PUT", path: `${path}/a`, body: configMap("a", {}, { uid: "another" }) });
  }),
  requests("an update of an object that does not exist", (run) => [
    { method: "PUT", path: at(run, "configmaps", "a"), body: configMap("a") },
    { method: "PUT", path: at(run, "configmaps", "a"), body: configMap("a", {}, { resourceVersion: "5" }) },
    { method: "PUT", path: at(run, "coordination.k8s.io/v1/leases", "a"), body: lease("a") },
    { method: "PUT", path: at(run, "coordination.k8s.io/v1/leases", "b"), body: lease("c") },
    { method: "PUT", path: at(run, "rbac.authorization.k8s.io/v1/roles", "a"), body: role("a") },
    { method: "PUT", path: at(run, "secrets", "a"), body: secret("a") },
  ]),
  requests("an update whose body names another object", (run) => [
    { path: at(run, "configmaps"), body: configMap("a") },
    { method: "PUT", path: at(run, "configmaps", "a"), body: configMap("b") },
    { method: "PUT", path: at(run, "configmaps", "a"), body: { data: {} } },
    { method: "PUT", path: at(run, "configmaps", "a"), body: configMap("a", {}, { namespace: "other" }) },
    { method: "PUT", path: at(run, "configmaps", "a"), body: secret("a") },
  ]),
  scenario("an update without changes keeps the resourceVersion", async (run) => {
    const path = at(run, "configmaps");
    const first = await run.call({ path, body: configMap("a") });
    await run.call({ method: "PUT", path: `${path}/a`, body: first });
    await run.call({ method: "PATCH", path: `${path}/a`, type: "application/merge-patch+json", body: {} });
    await run.call({ path: `${path}/a` });
  }),
  requests("changes of immutable fields", (run) => [
    { path: at(run, "configmaps"), body: { ...configMap("a"), immutable: true } },
    {
      method: "PUT",
      path: at(run, "configmaps", "a"),
      body: { ...configMap("a", { key: "other" }), immutable: true },
    },
    { method: "PUT", path: at(run, "configmaps", "a"), body: configMap("a", { key: "other" }) },
    { path: at(run, "secrets"), body: secret("a") },
    { method: "PUT", path: at(run, "secrets", "a"), body: { ...secret("a"), type: "example.com/other" } },
    { path: at(run, "services"), body: service("a") },
    { method: "PUT", path: at(run, "services", "a"), body: service("a", { clusterIP: "10.96.200.200" }) },
    { method: "PUT", path: at(run, "services", "a"), body: service("a", { ports: [] }) },
  ]),
  requests("an update of metadata that the server set", (run) => [
    { path: at(run, "configmaps"), body: configMap("a") },
    {
      method: "PUT",
      path: at(run, "configmaps", "a"),
      body: configMap("a", {}, { creationTimestamp: "2001-01-01T00:00:00Z", generation: 9, generateName: "b" }),
    },
    { method: "PUT", path: at(run, "configmaps", "a"), body: configMap("a", {}, { managedFields: [] }) },
    { method: "PUT", path: at(run, "configmaps", "a"), body: configMap("a", {}, { managedFields: [{}] }) },
    {
      method: "PUT",
      path: at(run, "configmaps", "a"),
      body: configMap("a", {}, { managedFields: [{ manager: "x", operation: "Up" }] }),
    },
  ]),
  scenario("a dry run of an update stores nothing", async (run) => {
    const path = at(run, "configmaps");
    await run.call({ path, body: configMap("a") });
    await run.call({ method: "PUT", path: `${path}/a?dryRun=All`, body: configMap("a", { b: "c" }) });
    await run.call({ method: "DELETE", path: `${path}/a?dryRun=All` });
    await run.call({ path: `${path}/a` });
  }),
  requests("the generation counts changes of the spec", (run) => {
    const path = at(run, "networking.k8s.io/v1/networkpolicies");
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
  requests("a deletion, twice", (run) => [
    { path: at(run, "configmaps"), body: configMap("a") },
    { method: "DELETE", path: at(run, "configmaps", "a") },
    { method: "DELETE", path: at(run, "configmaps", "a") },
  ]),
  scenario("preconditions of a deletion", async (run) => {
    const path = at(run, "configmaps");
    const { metadata } = await run.call({ path, body: configMap("a") });
    const remove = (preconditions: Body) =>
      run.call({ method: "DELETE", path: `${path}/a`, body: body({ preconditions }) });
    await remove({ uid: "another" });
    await remove({ resourceVersion: "1" });
    await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    await run.call({ path: `${path}/a` });
  }),
  scenario("a finalizer blocks a deletion until it is removed", async (run) => {
    const path = at(run, "configmaps");
    const held = configMap("a", {}, { finalizers: ["example.com/hold", "example.com/other"] });
    await run.call({ path, body: held });
    await run.call({ method: "DELETE", path: `${path}/a` });
    await run.call({ method: "DELETE", path: `${path}/a` });
    const live = await run.call({ path: `${path}/a` });
    const { metadata } = live;
    const write = (finalizers: readonly string[], rest: Body = {}) =>
      run.call({
        method: "PUT",
        path: `${path}/a`,
        body: { ...live, ...rest, metadata: { ...metadata, resourceVersion: undefined, finalizers } },
      });
    await write(["example.com/hold", "example.com/other", "example.com/new"]);
    await write(["example.com/other"], { data: { late: "yes" } });
    await run.call({ path, body: configMap("a") });
    await write([]);
    await run.call({ path: `${path}/a` });
  }),
  scenario("propagation policies add finalizers", async (run) => {
    const path = at(run, "configmaps");
    for (const [name, propagationPolicy] of [["a", "Foreground"], ["b", "Orphan"], ["c", "Background"]] as const) {
      await run.call({ path, body: configMap(name, {}, { finalizers: ["example.com/hold"] }) });
      await run.call({ method: "DELETE", path: `${path}/${name}`, body: body({ propagationPolicy }) });
    }
    await run.call({ method: "DELETE", path: `${path}/a`, body: body({ propagationPolicy: "Orphan" }) });
    await run.call({ method: "DELETE", path: `${path}/b?propagationPolicy=Foreground` });
    for (const name of ["a", "b", "c"]) {
      const patch = { metadata: { finalizers: null } };
      await run.prepare({
        method: "PATCH",
        path: `${path}/${name}`,
        type: "application/merge-patch+json",
        body: patch,
      });
    }
  }),
  requests("invalid options of a deletion", (run) => [
    { path: at(run, "configmaps"), body: configMap("a", {}, { finalizers: ["example.com/hold"] }) },
    { method: "DELETE", path: at(run, "configmaps", "a"), body: body({ propagationPolicy: "Sideways" }) },
    {
      method: "DELETE",
      path: at(run, "configmaps", "a"),
      body: body({ propagationPolicy: "Orphan", orphanDependents: true }),
    },
    { method: "DELETE", path: at(run, "configmaps", "a"), body: body({ gracePeriodSeconds: "soon" }) },
    { method: "DELETE", path: at(run, "configmaps", "a"), body: body({ dryRun: ["Some"] }) },
    { method: "DELETE", path: at(run, "configmaps", "a"), body: "{" },
    { method: "DELETE", path: at(run, "configmaps", "a"), body: configMap("a") },
    { method: "DELETE", path: `${at(run, "configmaps", "a")}?gracePeriodSeconds=x` },
    { method: "DELETE", path: at(run, "configmaps", "a"), type: "text/plain", body: "text" },
    {
      method: "PATCH",
      path: at(run, "configmaps", "a"),
      type: "application/merge-patch+json",
      body: { metadata: { finalizers: null } },
    },
    { method: "DELETE", path: at(run, "configmaps", "a") },
  ]),
  scenario("a collection is deleted by selector", async (run) => {
    const path = at(run, "configmaps");
    for (const name of ["a", "b", "c"]) {
      await run.call({ path, body: configMap(name, {}, { labels: { which: name === "c" ? "other" : "these" } }) });
    }
    await run.call({ method: "DELETE", path: `${path}?labelSelector=which%3Dthese&dryRun=All` });
    await run.call({ method: "DELETE", path: `${path}?labelSelector=which%3Dthese` });
    await run.call({ path: `${path}?labelSelector=which`, pick: (list) => list.items });
    await run.call({ method: "DELETE", path: `${path}?fieldSelector=metadata.name%3Dc` });
    await run.call({ method: "DELETE", path: `${path}?labelSelector=which` });
    await run.call({ method: "DELETE", path: `${path}?labelSelector=%3D%3D` });
  }),
  scenario("background deletion deletes dependents after their owner", async (run) => {
    const path = at(run, "configmaps");
    const { metadata: { uid } } = await run.call({ path, body: configMap("owner") });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    await run.call({ path, body: configMap("owned", {}, { ownerReferences }) });
    await run.call({ method: "DELETE", path: `${path}/owner` });
    await run.until(`${path}/owned`, (_, code) => code === 404);
    await run.call({ path: `${path}/owned` });
  }, { needsControllers: true }),
  scenario("foreground deletion waits for dependents with blockOwnerDeletion", async (run) => {
    const path = at(run, "configmaps");
    const { metadata: { uid } } = await run.call({ path, body: configMap("owner") });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true }];
    await run.call({ path, body: configMap("owned", {}, { ownerReferences, finalizers: ["example.com/hold"] }) });
    await untilCollectorSees(run, "configmaps", configMap("unowned"));
    await run.call({ method: "DELETE", path: `${path}/owner?propagationPolicy=Foreground` });
    await run.until(`${path}/owned`, (object) => object.metadata?.deletionTimestamp !== undefined);
    await run.call({ path: `${path}/owner` });
    const patch = { metadata: { finalizers: null } };
    await run.call({ method: "PATCH", path: `${path}/owned`, type: "application/merge-patch+json", body: patch });
    await run.until(`${path}/owner`, (_, code) => code === 404);
  }, { needsControllers: true }),
  scenario("orphan deletion keeps dependents and removes their owner references", async (run) => {
    const path = at(run, "configmaps");
    const { metadata: { uid } } = await run.call({ path, body: configMap("owner") });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    await run.call({ path, body: configMap("owned", {}, { ownerReferences }) });
    await untilCollectorSees(run, "configmaps", configMap("unowned"));
    await run.call({ method: "DELETE", path: `${path}/owner?propagationPolicy=Orphan` });
    await run.until(`${path}/owner`, (_, code) => code === 404);
    await run.call({ path: `${path}/owned`, pick: ({ metadata }) => metadata.ownerReferences ?? "none" });
  }, { needsControllers: true }),
  scenario("deletion of a Namespace deletes its objects", async (run) => {
    const path = `/api/v1/namespaces/${run.name("ns")}`;
    await run.call({ path: "/api/v1/namespaces", body: { metadata: { name: run.name("ns") } } });
    await run.call({ path: `${path}/configmaps`, body: configMap("a", {}, { finalizers: ["example.com/hold"] }) });
    await run.call({ method: "DELETE", path });
    await run.call({ path: `${path}/configmaps`, body: configMap("b") });
    await run.until(
      path,
      (live) =>
        (live.status?.conditions ?? []).some((condition: Body) =>
          condition["type"] === "NamespaceFinalizersRemaining" && condition["status"] === "True"
        ),
    );
    await run.call({ path, pick: ({ spec, status }) => ({ spec, status }) });
    const patch = { metadata: { finalizers: null } };
    await run.call({
      method: "PATCH",
      path: `${path}/configmaps/a`,
      type: "application/merge-patch+json",
      body: patch,
    });
    await run.until(path, (_, code) => code === 404);
    await run.call({ path });
  }, { needsControllers: true }),
  scenario("a Deployment gets a ReplicaSet, and both get a status", async (run) => {
    const path = at(run, "apps/v1/deployments");
    await run.call({ path, body: deployment("web") });
    await run.until(
      `${path}/web`,
      (live) => live.status?.observedGeneration === 1 && live.status.conditions?.length > 0,
    );
    await run.call({
      path: `${path}/web`,
      pick: ({ spec, status, metadata }) => ({ spec, status, annotations: metadata.annotations }),
    });
    await run.call({
      path: at(run, "apps/v1/replicasets"),
      pick: ({ items }) => items.map(({ spec, metadata }: Body) => ({ spec, metadata })),
    });
  }, {
    needsControllers: true,
    deliberate:
      "the hash of a template is computed from JSON here and from a dump of Go structs in kube-controller-manager, " +
      "and the controllers have other field manager names",
  }),
];

export const changeCases: readonly ConformanceCase[] = [...updates, ...deletions];
