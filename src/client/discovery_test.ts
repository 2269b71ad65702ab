/** Tests of Discovery with both forms of discovery documents. */
import { drain, VirtualClock } from "../async/mod.ts";
import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { Client } from "./client.ts";
import { Discovery, serverVersion } from "./discovery.ts";
import { UnknownKindError } from "./server_client.ts";
import { RecordingLogger } from "./testing/cluster_access.ts";

const aggregatedCore = {
  kind: "APIGroupDiscoveryList",
  items: [{
    versions: [{
      version: "v1",
      resources: [
        {
          resource: "pods",
          responseKind: { kind: "Pod" },
          scope: "Namespaced",
          singularResource: "pod",
          verbs: ["get", "list"],
          shortNames: ["po"],
          categories: ["all"],
          subresources: [{ subresource: "log" }],
        },
        {
          resource: "namespaces",
          responseKind: { kind: "Namespace" },
          scope: "Cluster",
          singularResource: "namespace",
          verbs: ["get"],
          shortNames: ["ns"],
        },
        {
          resource: "events",
          responseKind: { kind: "Event" },
          scope: "Namespaced",
          singularResource: "event",
          verbs: ["get"],
          shortNames: ["ev"],
        },
      ],
    }],
  }],
};
const aggregatedGroups = (extra: object[] = []) => ({
  kind: "APIGroupDiscoveryList",
  items: [
    {
      metadata: { name: "apps" },
      versions: [{
        version: "v1",
        resources: [{
          resource: "deployments",
          responseKind: { kind: "Deployment" },
          scope: "Namespaced",
          singularResource: "deployment",
          verbs: ["get"],
          shortNames: ["deploy"],
        }],
      }],
    },
    {
      metadata: { name: "events.k8s.io" },
      versions: [{
        version: "v1",
        resources: [{ resource: "events", responseKind: { kind: "Event" }, scope: "Namespaced", verbs: [] }],
      }],
    },
    { metadata: { name: "broken.example" }, versions: [{ version: "v1", freshness: "Stale", resources: null }] },
    ...extra,
  ],
});
const foos = {
  metadata: { name: "example.dev" },
  versions: [{
    version: "v2",
    resources: [{ resource: "foos", responseKind: { kind: "Foo" }, scope: "Namespaced", verbs: [] }],
  }, {
    version: "v1",
    resources: [{ resource: "foos", responseKind: { kind: "Foo" }, scope: "Namespaced", verbs: [] }],
  }],
};

const oldForm: Record<string, unknown> = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/api/v1": {
    kind: "APIResourceList",
    groupVersion: "v1",
    resources: [
      {
        name: "pods",
        singularName: "pod",
        namespaced: true,
        kind: "Pod",
        verbs: ["get", "list"],
        shortNames: ["po"],
        categories: ["all"],
      },
      { name: "pods/log", singularName: "", namespaced: true, kind: "Pod", verbs: ["get"] },
    ],
  },
  "/apis": {
    kind: "APIGroupList",
    groups: [
      {
        name: "apps",
        versions: [{ groupVersion: "apps/v1beta1" }, { groupVersion: "apps/v1" }],
        preferredVersion: { groupVersion: "apps/v1" },
      },
      { name: "down.example", versions: [{ groupVersion: "down.example/v1" }] },
    ],
  },
  "/apis/apps/v1": {
    kind: "APIResourceList",
    groupVersion: "apps/v1",
    resources: [{ name: "deployments", namespaced: true, kind: "Deployment", verbs: [] }],
  },
  "/apis/apps/v1beta1": {
    kind: "APIResourceList",
    groupVersion: "apps/v1beta1",
    resources: [{ name: "deployments", namespaced: true, kind: "Deployment", verbs: [] }],
  },
};

function discovery(
  documents: Record<string, unknown>,
): { discovery: Discovery; paths: string[]; clock: VirtualClock; logger: RecordingLogger } {
  const paths: string[] = [];
  const clock = new VirtualClock();
  const logger = new RecordingLogger();
  const client = new Client((request) => {
    const { pathname } = new URL(request.url);
    paths.push(pathname);
    const exists = Object.hasOwn(documents, pathname);
    return Promise.resolve(exists ? Response.json(documents[pathname]) : Response.json({}, { status: 503 }));
  });
  return { discovery: new Discovery(client, { clock, logger }), paths, clock, logger };
}

test("find() accepts plural, singular, short name and kind, with group and version", async () => {
  const { discovery: found, paths } = discovery({ "/api": aggregatedCore, "/apis": aggregatedGroups() });
  const plural = async (name: string) => {
    const one = await found.find(name);
    return one === undefined ? undefined : `${one.resource.plural}.${one.resource.version}.${one.resource.group}`;
  };
  for (
    const name of [
      "deploy",
      "deployment",
      "deployments",
      "Deployment",
      "deployments.apps",
      "deployments.v1.apps",
      "DEPLOY",
    ]
  ) {
    assertEquals(await plural(name), "deployments.v1.apps", name);
  }
  for (const name of ["deploy.apps", "deployments.app", "deploy.ap"]) {
    assertEquals(await plural(name), "deployments.v1.apps", name);
  }
  assertEquals([await plural("po."), await plural("deployments.apps.v1"), await plural("deployments.batch")], [
    "pods.v1.",
    undefined,
    undefined,
  ]);
  assertEquals([await plural("po"), await plural("ns"), await plural("nonsense")], [
    "pods.v1.",
    "namespaces.v1.",
    undefined,
  ]);
  assertEquals([await plural("events"), await plural("events.events.k8s.io")], [
    "events.v1.",
    "events.v1.events.k8s.io",
  ]);
  assertEquals(paths.sort(), ["/api", "/apis"]);
});

test("a found kind has its scope, verbs, categories and subresources", async () => {
  for (const documents of [{ "/api": aggregatedCore, "/apis": aggregatedGroups() }, oldForm]) {
    const pods = await discovery(documents).discovery.find("pods");
    assertEquals(pods, {
      resource: { group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" },
      singular: "pod",
      shortNames: ["po"],
      categories: ["all"],
      verbs: ["get", "list"],
      subresources: ["log"],
    });
  }
});

test("in the old form preferred versions are first, and a group that is down is left out", async () => {
  const { discovery: found, paths, logger } = discovery(oldForm);
  assertEquals((await found.find("deployments"))?.resource.version, "v1");
  assertEquals(
    (await found.findKind({ group: "apps", kind: "Deployment", version: "v1beta1" }))?.resource.version,
    "v1beta1",
  );
  assertEquals(paths.length, 6);
  assertEquals(logger.warnings, ["discovering a group failed"]);
});

test("an unknown name reads the kinds again, at most once in ten seconds", async () => {
  const documents: Record<string, unknown> = { "/api": aggregatedCore, "/apis": aggregatedGroups() };
  const { discovery: found, paths, clock } = discovery(documents);
  assertEquals(await found.find("foos"), undefined);
  documents["/apis"] = aggregatedGroups([foos]);
  await clock.advance(9_000);
  assertEquals([await found.find("foos"), paths.length], [undefined, 2]);
  await clock.advance(1_000);
  assertEquals((await found.find("foos"))?.resource.version, "v2");
  assertEquals((await found.findKind({ group: "example.dev", kind: "Foo" }))?.resource.version, "v2");
  assertEquals(paths.length, 4);
});

test("callers that look for unknown names at the same time share one read, and none ends that of another", async () => {
  const answers: (() => void)[] = [];
  let requests = 0;
  const client = new Client((request) => {
    requests++;
    const { pathname } = new URL(request.url);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    request.signal.addEventListener("abort", () => reject(request.signal.reason));
    answers.push(() => resolve(Response.json(pathname === "/api" ? aggregatedCore : aggregatedGroups())));
    return promise;
  });
  const first = new AbortController();
  const given = client.resource("po", { signal: first.signal }).catch((reason) => reason);
  const left = client.resource("ns", { signal: AbortSignal.abort("left") }).catch((reason) => reason);
  const found = client.resource("deploy");
  assertEquals([await left, requests], ["left", 2]);
  first.abort("enough");
  assertEquals(await given, "enough");
  await drain();
  assertEquals(requests, 4);
  for (const answer of answers) answer();
  assertEquals((await found).plural, "deployments");
});

test("resource() of a client finds names and kinds, and asks again for an unknown one at most once a second", async () => {
  const documents: Record<string, unknown> = { "/api": aggregatedCore, "/apis": aggregatedGroups() };
  const clock = new VirtualClock();
  let requests = 0;
  const client = new Client((request) => {
    requests++;
    return Promise.resolve(Response.json(documents[new URL(request.url).pathname]));
  }, { clock });
  assertEquals(requests, 0);
  assertEquals(await client.resource("deploy"), {
    ...{ group: "apps", version: "v1", kind: "Deployment", plural: "deployments", scope: "Namespaced" },
  });
  await assertRejects(
    () => client.resource({ group: "example.dev", version: "v2", kind: "Foo" }),
    /^Cannot find the kind "Foo\.v2\.example\.dev": the API server serves none of that name\. Compare it/,
  );
  documents["/apis"] = aggregatedGroups([foos]);
  await clock.advance(999);
  assertEquals([await client.resource("foos").catch((error) => error instanceof UnknownKindError), requests], [
    true,
    2,
  ]);
  await clock.advance(1);
  assertEquals([(await client.resource("foos.example.dev")).version, requests], ["v2", 4]);
  assertEquals((await client.resources()).map(({ resource }) => resource.kind).includes("Foo"), true);
});

test("a response of an unknown form is an error", async () => {
  const { discovery: found } = discovery({ "/api": { kind: "Other" }, "/apis": aggregatedGroups() });
  await assertRejects(
    () => found.resources(),
    /^Cannot discover the kinds of \/api: its response cannot be used: it has an unknown form$/,
  );
});

test("serverVersion() reads the version, and throws for another response", async () => {
  const version = { major: "1", minor: "36", gitVersion: "v1.36.3", platform: "linux/amd64", goVersion: "go1.26" };
  const client = (body: unknown) => new Client(() => Promise.resolve(Response.json(body)));
  const { goVersion: _, ...expected } = version;
  assertEquals(await serverVersion(client(version)), expected);
  await assertRejects(
    () => serverVersion(client({ hello: "world" })),
    /cannot be used: major: expected string, received undefined$/,
  );
  await assertRejects(() => serverVersion(client(null)), /cannot be used: expected object, received null$/);
});
