/** Reading: lists, selectors, pages, versions, watches. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, configMap, lease, pod, secret } from "./_objects.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const names = (list: Any) => ({ metadata: list.metadata, names: list.items.map(({ metadata }: Any) => metadata.name) });

/** For lists whose resourceVersion depends on other clients. */
const namesAlone = (list: Any) => names(list).names;

async function createSecrets(run: CaseRun, count: number): Promise<Any> {
  let last: Any;
  for (let number = 0; number < count; number++) {
    const labels = { kind: "it", parity: number % 2 === 0 ? "even" : "odd" };
    last = await run.prepare({
      path: at(run, "secrets"),
      body: { ...secret(`s-${number}`), metadata: { name: `s-${number}`, labels } },
    });
  }
  return last;
}

const selectors = [
  "parity=even",
  "parity==odd",
  "parity!=odd,kind=it",
  "parity in (even, odd)",
  "parity notin (even),kind",
  "!parity",
  "kind,!absent",
  "kind in ()",
  "kind=",
  "absent!=x,kind",
  "size>5",
  "size>x",
  "kind in (it",
  "=x",
  "a b",
  "-a=b",
  "kind=it=it",
  ",",
  "kind=not ok!",
  `${"a".repeat(64)}=b`,
];

const lists: readonly ConformanceCase[] = [
  requests("an empty list", (run) => [
    { path: at(run, "secrets") },
    { path: at(run, "apps/v1/deployments") },
    { path: at(run, "coordination.k8s.io/v1/leases") },
  ]),
  ...selectors.map((selector) =>
    scenario(`the label selector ${JSON.stringify(selector.slice(0, 30))}`, async (run) => {
      await createSecrets(run, 3);
      await run.call({ path: `${at(run, "secrets")}?labelSelector=${encodeURIComponent(selector)}`, pick: names });
    })
  ),
  scenario("field selectors", async (run) => {
    await createSecrets(run, 3);
    const fields = [
      "metadata.name=s-1",
      "metadata.name!=s-1",
      `metadata.namespace=${run.namespace}`,
      "metadata.namespace=other",
      "type=Opaque",
      "type!=Opaque",
      "metadata.name=s-1,type=Opaque",
      "metadata.name==s-2",
      "metadata.labels.kind=it",
      "data=x",
      "metadata.name",
      "metadata.name>1",
      "=",
      "",
    ];
    for (const field of fields) {
      await run.call({ path: `${at(run, "secrets")}?fieldSelector=${encodeURIComponent(field)}`, pick: names });
    }
  }),
  requests("field selectors that only some kinds support", (run) => [
    { path: `${at(run, "pods")}?fieldSelector=spec.nodeName%3D,status.phase%3DPending`, pick: namesAlone },
    { path: `${at(run, "pods")}?fieldSelector=spec.image%3Da` },
    { path: `${at(run, "configmaps")}?fieldSelector=status.phase%3DActive` },
    { path: `${at(run, "events")}?fieldSelector=involvedObject.name%3Da,reason%3Db`, pick: namesAlone },
    { path: `${at(run, "events.k8s.io/v1/events")}?fieldSelector=regarding.name%3Da` },
    { path: `${at(run, "apps/v1/replicasets")}?fieldSelector=status.replicas%3D1`, pick: namesAlone },
    { path: `${at(run, "apps/v1/deployments")}?fieldSelector=spec.replicas%3D1` },
    { path: `${at(run, "batch/v1/jobs")}?fieldSelector=status.successful%3D1`, pick: namesAlone },
    { path: "/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue", pick: namesAlone },
    { path: "/api/v1/namespaces?fieldSelector=status.phase%3DTerminatinG", pick: namesAlone },
    {
      path: "/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=spec.signerName%3Dx",
      pick: namesAlone,
    },
  ]),
  scenario("pages: limit, continue, remainingItemCount", async (run) => {
    await createSecrets(run, 5);
    const path = at(run, "secrets");
    const first = await run.call({ path: `${path}?limit=2`, pick: names });
    const token = encodeURIComponent(first.metadata.continue);
    const second = await run.call({ path: `${path}?limit=2&continue=${token}`, pick: names });
    await run.call({ path: `${path}?limit=2&continue=${encodeURIComponent(second.metadata.continue)}`, pick: names });
    await run.call({ path: `${path}?continue=${token}`, pick: names });
    await run.call({ path: `${path}?limit=5`, pick: names });
    await run.call({ path: `${path}?limit=2&labelSelector=kind%3Dit`, pick: names });
    await run.call({
      path: `${path}?limit=1&resourceVersion=0&labelSelector=kind`,
      pick: (list) => list.items.length > 0,
    });
    await run.call({ path: `${path}?limit=2&continue=${token}&resourceVersion=5` });
    await run.call({ path: `${path}?limit=2&continue=${token}&resourceVersionMatch=Exact` });
    await run.call({ path: `${path}?limit=2&continue=bm9uc2Vuc2U` });
    await run.call({ path: `${path}?limit=x` });
    await run.call({ path: `${path}?limit=-1`, pick: names });
  }),
  scenario("a continued list is consistent with its beginning", async (run) => {
    await createSecrets(run, 4);
    const path = at(run, "secrets");
    const first = await run.call({ path: `${path}?limit=2`, pick: names });
    await run.prepare({ method: "DELETE", path: `${path}/s-3` });
    await run.prepare({ path, body: secret("s-2b") });
    await run.call({ path: `${path}?limit=9&continue=${encodeURIComponent(first.metadata.continue)}`, pick: names });
    await run.call({ path, pick: names });
  }),
  scenario("resourceVersion and resourceVersionMatch of a list", async (run) => {
    const last = await createSecrets(run, 3);
    const version = last.metadata.resourceVersion;
    await run.prepare({ method: "DELETE", path: at(run, "secrets", "s-0") });
    const queries = [
      "resourceVersion=0&labelSelector=absent",
      `resourceVersion=${version}&resourceVersionMatch=Exact`,
      `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      `resourceVersion=${version}`,
      `resourceVersion=${version}&limit=1&resourceVersionMatch=Exact`,
      "resourceVersionMatch=Exact",
      "resourceVersionMatch=NotOlderThan",
      "resourceVersion=0&resourceVersionMatch=Exact",
      "resourceVersion=5&resourceVersionMatch=Nonsense",
      "resourceVersion=text",
      "resourceVersion=-1",
      "resourceVersion=text&resourceVersionMatch=Exact",
      "sendInitialEvents=true",
    ];
    for (const query of queries) {
      await run.call({
        path: `${at(run, "secrets")}?${query}`,
        pick: (list) => list.items.map((item: Any) => item.metadata.name),
      });
    }
  }),
  requests("a resourceVersion in the future", (run) => [
    { path: `${at(run, "secrets")}?resourceVersion=999999999` },
    { path: `${at(run, "secrets")}?resourceVersion=999999999&resourceVersionMatch=Exact` },
    { path: `${at(run, "secrets", "a")}?resourceVersion=999999999` },
  ]),
  scenario("resourceVersion of a get", async (run) => {
    const { metadata } = await run.call({ path: at(run, "secrets"), body: secret("a") });
    const cached = `${at(run, "secrets", "a")}?resourceVersion=0`;
    await run.until(cached, (_, code) => code === 200); // the cache may be behind
    await run.call({ path: cached, pick: ({ kind }) => kind });
    await run.call({ path: `${at(run, "secrets", "a")}?resourceVersion=${metadata.resourceVersion}` });
    await run.call({ path: `${at(run, "secrets", "a")}?resourceVersion=text` });
    await run.call({ path: at(run, "secrets", "b") });
  }),
  requests("lists over all namespaces", (run) => [
    { path: `/api/v1/secrets?fieldSelector=metadata.namespace%3D${run.namespace}` },
    { path: `/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%3D${run.namespace}` },
    { path: "/api/v1/namespaces/never-made/secrets" },
  ]),
  requests(
    "lists without objects, in each form",
    (run) =>
      [
        "application/json",
        ...["Table", "PartialObjectMetadataList"].map((as) => `application/json;as=${as};v=v1;g=meta.k8s.io`),
      ]
        .map((accept) => ({ path: at(run, "services"), accept })),
  ),
  requests("lists and objects as metadata only", (run) => [
    { path: at(run, "secrets"), body: secret("a") },
    { path: at(run, "secrets") },
    { path: at(run, "secrets"), accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" },
    { path: at(run, "secrets", "a"), accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" },
  ]),
];

const merge = "application/merge-patch+json";

const watches: readonly ConformanceCase[] = [
  scenario("a watch delivers added, modified and deleted objects", async (run) => {
    const path = at(run, "secrets");
    const { metadata } = await run.prepare({ path });
    await run.watch(`${path}?resourceVersion=${metadata.resourceVersion}`, {
      count: 3,
      act: async () => {
        await run.prepare({ path, body: secret("a") });
        await run.prepare({ method: "PATCH", path: `${path}/a`, type: merge, body: { stringData: { b: "c" } } });
        await run.prepare({ method: "DELETE", path: `${path}/a` });
      },
    });
  }),
  scenario("a watch without a resourceVersion begins with the existing objects", async (run) => {
    const path = at(run, "secrets");
    await run.prepare({ path, body: secret("a") });
    await run.prepare({ path, body: secret("b") });
    await run.watch(path, { count: 2 });
    await run.watch(`${path}?resourceVersion=0&fieldSelector=metadata.name%3Db`, { count: 1 });
  }),
  scenario(
    "a watch with a selector delivers ADDED and DELETED when an object starts and stops matching",
    async (run) => {
      const path = at(run, "secrets");
      const { metadata } = await run.prepare({ path });
      const label = (value: string | null) =>
        run.prepare({
          method: "PATCH",
          path: `${path}/a`,
          type: merge,
          body: { metadata: { labels: { tier: value } } },
        });
      await run.watch(`${path}?resourceVersion=${metadata.resourceVersion}&labelSelector=tier%3Dfront`, {
        count: 4,
        act: async () => {
          await run.prepare({ path, body: secret("a") });
          await label("front");
          await run.prepare({ method: "PATCH", path: `${path}/a`, type: merge, body: { stringData: { x: "y" } } });
          await label("back");
          await label("front");
        },
      });
    },
  ),
  scenario("a watch delivers MODIFIED before DELETED if a finalizer blocks the deletion", async (run) => {
    const path = at(run, "secrets");
    const { metadata } = await run.prepare({ path });
    await run.watch(`${path}?resourceVersion=${metadata.resourceVersion}`, {
      count: 3,
      act: async () => {
        await run.prepare({
          path,
          body: { ...secret("a"), metadata: { name: "a", finalizers: ["example.com/hold"] } },
        });
        await run.prepare({ method: "DELETE", path: `${path}/a` });
        await run.prepare({
          method: "PATCH",
          path: `${path}/a`,
          type: merge,
          body: { metadata: { finalizers: null } },
        });
      },
    });
  }),
  scenario("sendInitialEvents ends with an annotated bookmark", async (run) => {
    const path = at(run, "secrets");
    await run.prepare({ path, body: secret("a") });
    await run.prepare({ path, body: secret("b") });
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await run.watch(`${path}?${query}`, { count: 3 });
    await run.watch(`${path}?${query}&resourceVersion=0`, { count: 3 });
    await run.watch(`${path}?${query}&labelSelector=absent`, { count: 1 });
    await run.watch(`${path}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`, {
      count: 1,
      timeoutSeconds: 1,
    });
  }),
  requests("invalid options of a watch", (run) => [
    { path: `${at(run, "secrets")}?watch=true&sendInitialEvents=true` },
    { path: `${at(run, "secrets")}?watch=true&resourceVersionMatch=NotOlderThan` },
    { path: `${at(run, "secrets")}?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact` },
    { path: `${at(run, "secrets")}?watch=true&resourceVersion=text` },
    { path: `${at(run, "secrets")}?watch=true&labelSelector=%3D%3D` },
    { path: `${at(run, "secrets")}?watch=true&fieldSelector=data%3Dx` },
    { path: `${at(run, "secrets")}?watch=true&continue=x&resourceVersionMatch=NotOlderThan&sendInitialEvents=true` },
    { path: `${at(run, "secrets")}?watch=true&timeoutSeconds=x` },
  ]),
  scenario("a watch from a resourceVersion in the future", async (run) => {
    await run.watch(`${at(run, "secrets")}?resourceVersion=999999999`, { count: 1, timeoutSeconds: 1 });
  }),
  scenario("a watch ends after timeoutSeconds without an event", async (run) => {
    await run.watch(at(run, "secrets"), { count: 1, timeoutSeconds: 1 });
  }),
  scenario("a watch of one object by its path", async (run) => {
    const path = at(run, "secrets");
    await run.prepare({ path, body: secret("a") });
    await run.prepare({ path, body: secret("b") });
    await run.watch(`${path}?fieldSelector=metadata.name%3Da`, { count: 1 });
    const old = path.replace("/api/v1/", "/api/v1/watch/");
    await run.watch(`${old}/a`, { count: 1 });
    await run.watch(old, { count: 2 });
  }),
  scenario("a watch of tables and of metadata", async (run) => {
    const path = at(run, "configmaps");
    const { metadata } = await run.prepare({ path: at(run, "secrets") });
    for (
      const accept of [
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "application/json;as=Table;g=meta.k8s.io;v=v1",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
      ]
    ) {
      const name = `a-${accept.length}`;
      await run.watch(`${path}?resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3D${name}`, {
        count: 2,
        accept,
        act: async () => {
          await run.prepare({ path, body: configMap(name) });
          await run.prepare({ method: "PATCH", path: `${path}/${name}`, type: merge, body: { data: { b: "c" } } });
        },
      });
    }
  }),
  scenario("watches over all namespaces and of a cluster-scoped kind", async (run) => {
    await run.prepare({ path: at(run, "coordination.k8s.io/v1/leases"), body: lease("a") });
    await run.watch(`/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%3D${run.namespace}`, {
      count: 1,
    });
    await run.watch(`/api/v1/namespaces?fieldSelector=metadata.name%3D${run.namespace}`, { count: 1 });
  }),
  scenario("a watch in YAML", async (run) => {
    await run.watch(at(run, "secrets"), { count: 1, accept: "application/yaml", timeoutSeconds: 1 });
  }),
  scenario("a watch of Pods by node", async (run) => {
    const path = at(run, "pods");
    // No other run may use its name: Pods of a Node that does not exist are deleted a minute after it was first named.
    const name = run.name("node");
    await run.watch(`${path}?fieldSelector=spec.nodeName%3D${name}`, {
      count: 1,
      act: async () => {
        await run.prepare({ path, body: pod("a") });
        const binding = { metadata: { name: "a" }, target: { kind: "Node", name } };
        await run.prepare({ path: `${path}/a/binding`, body: binding });
      },
    });
  }, { needsAccount: true }),
];

export const readCases: readonly ConformanceCase[] = [...lists, ...watches];
