/** Reading: lists, selectors, pages, versions, watches. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Site } from "../site.ts";
import { at, configMap, lease, pod, secret } from "./_objects.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const names = (list: Any) => ({ metadata: list.metadata, names: list.items.map(({ metadata }: Any) => metadata.name) });

/** For lists of many kinds: their versions are of whoever wrote last. */
const namesAlone = (list: Any) => names(list).names;

async function fill(site: Site, count: number): Promise<Any> {
  let last: Any;
  for (let number = 0; number < count; number++) {
    const labels = { kind: "it", parity: number % 2 === 0 ? "even" : "odd" };
    last = await site.prepare({
      path: at(site, "secrets"),
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
  requests("an empty list", (site) => [
    { path: at(site, "secrets") },
    { path: at(site, "apps/v1/deployments") },
    { path: at(site, "coordination.k8s.io/v1/leases") },
  ]),
  ...selectors.map((selector) =>
    scenario(`the label selector ${JSON.stringify(selector.slice(0, 30))}`, async (site) => {
      await fill(site, 3);
      await site.call({ path: `${at(site, "secrets")}?labelSelector=${encodeURIComponent(selector)}`, pick: names });
    })
  ),
  scenario("field selectors", async (site) => {
    await fill(site, 3);
    const fields = [
      "metadata.name=s-1",
      "metadata.name!=s-1",
      `metadata.namespace=${site.namespace}`,
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
      await site.call({ path: `${at(site, "secrets")}?fieldSelector=${encodeURIComponent(field)}`, pick: names });
    }
  }),
  requests("field selectors that only some kinds know", (site) => [
    { path: `${at(site, "pods")}?fieldSelector=spec.nodeName%3D,status.phase%3DPending`, pick: namesAlone },
    { path: `${at(site, "pods")}?fieldSelector=spec.image%3Da` },
    { path: `${at(site, "configmaps")}?fieldSelector=status.phase%3DActive` },
    { path: `${at(site, "events")}?fieldSelector=involvedObject.name%3Da,reason%3Db`, pick: namesAlone },
    { path: `${at(site, "events.k8s.io/v1/events")}?fieldSelector=regarding.name%3Da` },
    { path: `${at(site, "apps/v1/replicasets")}?fieldSelector=status.replicas%3D1`, pick: namesAlone },
    { path: `${at(site, "apps/v1/deployments")}?fieldSelector=spec.replicas%3D1` },
    { path: `${at(site, "batch/v1/jobs")}?fieldSelector=status.successful%3D1`, pick: namesAlone },
    { path: "/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue", pick: namesAlone },
    { path: "/api/v1/namespaces?fieldSelector=status.phase%3DTerminatinG", pick: namesAlone },
    {
      path: "/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=spec.signerName%3Dx",
      pick: namesAlone,
    },
  ]),
  scenario("pages: limit, continue, remainingItemCount", async (site) => {
    await fill(site, 5);
    const path = at(site, "secrets");
    const first = await site.call({ path: `${path}?limit=2`, pick: names });
    const token = encodeURIComponent(first.metadata.continue);
    const second = await site.call({ path: `${path}?limit=2&continue=${token}`, pick: names });
    await site.call({ path: `${path}?limit=2&continue=${encodeURIComponent(second.metadata.continue)}`, pick: names });
    await site.call({ path: `${path}?continue=${token}`, pick: names });
    await site.call({ path: `${path}?limit=5`, pick: names });
    await site.call({ path: `${path}?limit=2&labelSelector=kind%3Dit`, pick: names });
    await site.call({
      path: `${path}?limit=1&resourceVersion=0&labelSelector=kind`,
      pick: (list) => list.items.length > 0,
    });
    await site.call({ path: `${path}?limit=2&continue=${token}&resourceVersion=5` });
    await site.call({ path: `${path}?limit=2&continue=${token}&resourceVersionMatch=Exact` });
    await site.call({ path: `${path}?limit=2&continue=bm9uc2Vuc2U` });
    await site.call({ path: `${path}?limit=x` });
    await site.call({ path: `${path}?limit=-1`, pick: names });
  }),
  scenario("a continued list is consistent with its beginning", async (site) => {
    await fill(site, 4);
    const path = at(site, "secrets");
    const first = await site.call({ path: `${path}?limit=2`, pick: names });
    await site.prepare({ method: "DELETE", path: `${path}/s-3` });
    await site.prepare({ path, body: secret("s-2b") });
    await site.call({ path: `${path}?limit=9&continue=${encodeURIComponent(first.metadata.continue)}`, pick: names });
    await site.call({ path, pick: names });
  }),
  scenario("resourceVersion and resourceVersionMatch of a list", async (site) => {
    const last = await fill(site, 3);
    const version = last.metadata.resourceVersion;
    await site.prepare({ method: "DELETE", path: at(site, "secrets", "s-0") });
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
      await site.call({
        path: `${at(site, "secrets")}?${query}`,
        pick: (list) => list.items.map((item: Any) => item.metadata.name),
      });
    }
  }),
  requests("a version that has not come yet", (site) => [
    { path: `${at(site, "secrets")}?resourceVersion=999999999` },
    { path: `${at(site, "secrets")}?resourceVersion=999999999&resourceVersionMatch=Exact` },
    { path: `${at(site, "secrets", "a")}?resourceVersion=999999999` },
  ]),
  scenario("resourceVersion of a get", async (site) => {
    const { metadata } = await site.call({ path: at(site, "secrets"), body: secret("a") });
    await site.call({ path: `${at(site, "secrets", "a")}?resourceVersion=0`, pick: ({ kind }) => kind });
    await site.call({ path: `${at(site, "secrets", "a")}?resourceVersion=${metadata.resourceVersion}` });
    await site.call({ path: `${at(site, "secrets", "a")}?resourceVersion=text` });
    await site.call({ path: at(site, "secrets", "b") });
  }),
  requests("lists over all namespaces", (site) => [
    { path: `/api/v1/secrets?fieldSelector=metadata.namespace%3D${site.namespace}` },
    { path: `/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%3D${site.namespace}` },
    { path: "/api/v1/namespaces/never-made/secrets" },
  ]),
  requests("the longer forms of metadata in lists", (site) => [
    { path: at(site, "secrets"), body: secret("a") },
    { path: at(site, "secrets") },
    { path: at(site, "secrets"), accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" },
    { path: at(site, "secrets", "a"), accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" },
  ]),
];

const merge = "application/merge-patch+json";

const watches: readonly ConformanceCase[] = [
  scenario("a watch tells what is added, changed and deleted", async (site) => {
    const path = at(site, "secrets");
    const { metadata } = await site.prepare({ path });
    await site.watch(`${path}?resourceVersion=${metadata.resourceVersion}`, {
      count: 3,
      act: async () => {
        await site.prepare({ path, body: secret("a") });
        await site.prepare({ method: "PATCH", path: `${path}/a`, type: merge, body: { stringData: { b: "c" } } });
        await site.prepare({ method: "DELETE", path: `${path}/a` });
      },
    });
  }),
  scenario("a watch from no version begins with what is there", async (site) => {
    const path = at(site, "secrets");
    await site.prepare({ path, body: secret("a") });
    await site.prepare({ path, body: secret("b") });
    await site.watch(path, { count: 2 });
    await site.watch(`${path}?resourceVersion=0&fieldSelector=metadata.name%3Db`, { count: 1 });
  }),
  scenario("what comes to match a selector is added, what ceases to is deleted", async (site) => {
    const path = at(site, "secrets");
    const { metadata } = await site.prepare({ path });
    const label = (value: string | null) =>
      site.prepare({
        method: "PATCH",
        path: `${path}/a`,
        type: merge,
        body: { metadata: { labels: { tier: value } } },
      });
    await site.watch(`${path}?resourceVersion=${metadata.resourceVersion}&labelSelector=tier%3Dfront`, {
      count: 4,
      act: async () => {
        await site.prepare({ path, body: secret("a") });
        await label("front");
        await site.prepare({ method: "PATCH", path: `${path}/a`, type: merge, body: { stringData: { x: "y" } } });
        await label("back");
        await label("front");
      },
    });
  }),
  scenario("deletion through a finalizer is a change first", async (site) => {
    const path = at(site, "secrets");
    const { metadata } = await site.prepare({ path });
    await site.watch(`${path}?resourceVersion=${metadata.resourceVersion}`, {
      count: 3,
      act: async () => {
        await site.prepare({
          path,
          body: { ...secret("a"), metadata: { name: "a", finalizers: ["example.com/hold"] } },
        });
        await site.prepare({ method: "DELETE", path: `${path}/a` });
        await site.prepare({
          method: "PATCH",
          path: `${path}/a`,
          type: merge,
          body: { metadata: { finalizers: null } },
        });
      },
    });
  }),
  scenario("sendInitialEvents ends with a bookmark that says so", async (site) => {
    const path = at(site, "secrets");
    await site.prepare({ path, body: secret("a") });
    await site.prepare({ path, body: secret("b") });
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await site.watch(`${path}?${query}`, { count: 3 });
    await site.watch(`${path}?${query}&resourceVersion=0`, { count: 3 });
    await site.watch(`${path}?${query}&labelSelector=absent`, { count: 1 });
    await site.watch(`${path}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`, {
      count: 1,
      timeoutSeconds: 1,
    });
  }),
  requests("watches that are refused", (site) => [
    { path: `${at(site, "secrets")}?watch=true&sendInitialEvents=true` },
    { path: `${at(site, "secrets")}?watch=true&resourceVersionMatch=NotOlderThan` },
    { path: `${at(site, "secrets")}?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact` },
    { path: `${at(site, "secrets")}?watch=true&resourceVersion=text` },
    { path: `${at(site, "secrets")}?watch=true&labelSelector=%3D%3D` },
    { path: `${at(site, "secrets")}?watch=true&fieldSelector=data%3Dx` },
    { path: `${at(site, "secrets")}?watch=true&continue=x&resourceVersionMatch=NotOlderThan&sendInitialEvents=true` },
    { path: `${at(site, "secrets")}?watch=true&timeoutSeconds=x` },
  ]),
  scenario("a watch from before what is kept", async (site) => {
    await site.watch(`${at(site, "secrets")}?resourceVersion=1`, { count: 1, timeoutSeconds: 2 });
  }),
  scenario("a watch from a version that has not come", async (site) => {
    await site.watch(`${at(site, "secrets")}?resourceVersion=999999999`, { count: 1, timeoutSeconds: 4 });
  }),
  scenario("a watch ends after timeoutSeconds, without a word", async (site) => {
    await site.watch(at(site, "secrets"), { count: 1, timeoutSeconds: 1 });
  }),
  scenario("a watch of one object by its path", async (site) => {
    const path = at(site, "secrets");
    await site.prepare({ path, body: secret("a") });
    await site.prepare({ path, body: secret("b") });
    await site.watch(`${path}?fieldSelector=metadata.name%3Da`, { count: 1 });
    const old = path.replace("/api/v1/", "/api/v1/watch/");
    await site.watch(`${old}/a`, { count: 1 });
    await site.watch(old, { count: 2 });
  }),
  scenario("a watch of tables and of metadata", async (site) => {
    const path = at(site, "configmaps");
    const { metadata } = await site.prepare({ path: at(site, "secrets") });
    for (
      const accept of [
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "application/json;as=Table;g=meta.k8s.io;v=v1",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
      ]
    ) {
      const name = `a-${accept.length}`;
      await site.watch(`${path}?resourceVersion=${metadata.resourceVersion}&fieldSelector=metadata.name%3D${name}`, {
        count: 2,
        accept,
        act: async () => {
          await site.prepare({ path, body: configMap(name) });
          await site.prepare({ method: "PATCH", path: `${path}/${name}`, type: merge, body: { data: { b: "c" } } });
        },
      });
    }
  }),
  scenario("watches over all namespaces and of what has none", async (site) => {
    await site.prepare({ path: at(site, "coordination.k8s.io/v1/leases"), body: lease("a") });
    await site.watch(`/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%3D${site.namespace}`, {
      count: 1,
    });
    await site.watch(`/api/v1/namespaces?fieldSelector=metadata.name%3D${site.namespace}`, { count: 1 });
  }),
  scenario("a watch in YAML", async (site) => {
    await site.watch(at(site, "secrets"), { count: 1, accept: "application/yaml", timeoutSeconds: 1 });
  }),
  scenario("a watch of Pods by node", async (site) => {
    const path = at(site, "pods");
    await site.watch(`${path}?fieldSelector=spec.nodeName%3Dnode-x`, {
      count: 1,
      act: async () => {
        await site.prepare({ path, body: pod("a") });
        const binding = { metadata: { name: "a" }, target: { kind: "Node", name: "node-x" } };
        await site.prepare({ path: `${path}/a/binding`, body: binding });
      },
    });
  }, { needsAccount: true }),
];

export const readCases: readonly ConformanceCase[] = [...lists, ...watches];
