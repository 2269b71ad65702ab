/**
 * Attacks by the shape of answers: an API server, or a proxy before it, whose answers are JSON of the wrong shape. A
 * generator replaces each part of a good answer by values of other types, and cuts texts anywhere.
 *
 * The rules: a request resolves with an object whose metadata has the declared types, or rejects with an
 * InvalidResponseError that names the field, or with the ApiError of a Status; a command ends with an exit code and words,
 * never as a defect (70). A write whose answer cannot be used is followed by a read of the object.
 */
import { builtin, keyOf, type KubeObject, type Resource } from "../../src/api/mod.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { FakeCrdCluster } from "../../src/cli/testing/fake_crd_cluster.ts";
import { createProcess, runCommandLine, startCommandLine } from "../../src/cli/testing/run_command.ts";
import { emptyList, podController, Website, websiteController } from "../../src/cli/testing/test_kinds.ts";
import {
  ApiError,
  Client,
  Discovery,
  InvalidResponseError,
  isOutcomeUnknown,
  serverVersion,
  UnreachableError,
} from "../../src/client/mod.ts";
import { controller, done, manifest } from "../../src/controller/mod.ts";
import { nextTurn } from "../../src/runtime/mod.ts";
import { CrdResource } from "../../src/schema/mod.ts";
import { FakeCluster } from "../fakes/cluster.ts";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../testing.ts";

const { ConfigMap, Lease, Secret, MutatingWebhookConfiguration } = builtin;

const odd: readonly unknown[] = [undefined, null, [], {}, "text", 7, -1, 1e300, true, [null], [[]], { toString: 5 }];

/** Copies of a value in which one part is odd, for each part and each odd value. */
function oddVersions(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    [...odd, ...oddVersions(part)].map((other) => {
      if (!Array.isArray(value)) return { ...value, [key]: other };
      return value.map((item: unknown, index) => `${index}` === key ? other : item);
    })
  );
}

const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true };
const metadata = {
  namespace: "a",
  name: "b",
  uid: "u",
  resourceVersion: "5",
  generation: 1,
  creationTimestamp: "2026-01-01T00:00:00Z",
  deletionTimestamp: "2026-01-01T00:00:00Z",
  labels: { a: "b" },
  annotations: { a: "b" },
  ownerReferences: [owner],
  finalizers: ["x.dev/y"],
};
const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "b" } };
const status = {
  apiVersion: "v1",
  kind: "Status",
  status: "Failure",
  code: 409,
  reason: "Conflict",
  message: "no",
  details: { name: "b", uid: "u", causes: [{ reason: "R", message: "m", field: "f" }], retryAfterSeconds: 1 },
};
const lease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "a", name: "b" },
  spec: { holderIdentity: "x", leaseDurationSeconds: 15, leaseTransitions: 1, acquireTime: "t", renewTime: "t" },
};
const webhooks = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name: "b" },
  webhooks: [{
    name: "w",
    clientConfig: { caBundle: "", service: { namespace: "a", name: "b", path: "/", port: 443 } },
    rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
  }],
};

type Send = (client: Client) => Promise<unknown>;

/** Each request, a good answer, and what its answer must be when it resolves. */
const requests: readonly (readonly [name: string, answer: object, code: number, send: Send])[] = [
  ["get", configMap, 200, (client) => client.get(ConfigMap, "a/b")],
  ["create", configMap, 201, (client) => client.create(ConfigMap, { metadata: { namespace: "a", name: "b" } })],
  ["patch", configMap, 200, (client) => client.patch(ConfigMap, "a/b", { kind: "merge", value: {} })],
  ["delete", configMap, 200, (client) => client.delete(ConfigMap, "a/b")],
  ["delete with a Status", { ...status, status: "Success" }, 200, (client) => client.delete(ConfigMap, "a/b")],
  ["a failure", status, 409, (client) => client.get(ConfigMap, "a/b")],
  ["Lease", lease, 200, (client) => client.get(Lease, "a/b")],
  ["Secret", { ...configMap, kind: "Secret" }, 200, (client) => client.get(Secret, "a/b")],
  ["webhooks", webhooks, 200, (client) => client.get(MutatingWebhookConfiguration, "b")],
  ["CRD", Website.crd, 200, (client) => client.get(CrdResource, Website.crd.metadata.name)],
  ["version", { major: "1", minor: "36", gitVersion: "v1.36.3" }, 200, (client) => serverVersion(client)],
  [
    "token",
    { kind: "TokenRequest", status: { token: "t", expirationTimestamp: "t" } },
    201,
    (client) => client.createToken("a/b"),
  ],
  ["list", { apiVersion: "v1", kind: "ConfigMapList", metadata: { resourceVersion: "1" }, items: [configMap] }, 200, (
    client,
  ) => client.listAll(ConfigMap)],
];

function assertKnownError(error: unknown, label: string): void {
  const isKnown = error instanceof InvalidResponseError || error instanceof ApiError ||
    error instanceof UnreachableError;
  assert(isKnown, `${label}: ${error}`);
  assert(error.message.startsWith("Cannot ") && error.message.length < 2_000, `${label}: ${error.message}`);
}

/** Uses what a caller uses without a check. */
function use(result: unknown): void {
  const object = result as Partial<KubeObject>;
  if (object.metadata === undefined) return;
  const { labels = {}, annotations = {}, ownerReferences = [], finalizers = [], resourceVersion = "" } =
    object.metadata;
  assertEquals(keyOf(object as KubeObject).split("/").at(-1), object.metadata.name);
  for (const value of [...Object.values(labels), ...Object.values(annotations), ...finalizers]) value.trim();
  for (const { name, uid } of ownerReferences) `${name.trim()} ${uid.trim()}`;
  resourceVersion.trim();
}

test("[113] an answer of any odd shape is used, or is an error that names what is wrong", async () => {
  for (const [name, answer, code, send] of requests) {
    const good = new Client(() => Promise.resolve(Response.json(answer, { status: code })));
    if (code < 400) use(await send(good));
    let refused = 0;
    for (const version of [...odd, ...oddVersions(answer)]) {
      const label = `${name}: ${JSON.stringify(version)}`;
      const client = new Client(() => Promise.resolve(new Response(JSON.stringify(version) ?? "", { status: code })));
      try {
        use(await send(client));
      } catch (error) {
        assertKnownError(error, label);
        refused++;
      }
    }
    assert(refused > 10, `${name}: only ${refused} were refused`);
  }
});

test("[113] an answer that is cut at any byte is an error that names the request", async () => {
  const text = JSON.stringify(configMap);
  for (let length = 0; length < text.length; length++) {
    const client = new Client(() => Promise.resolve(new Response(text.slice(0, length))));
    const error = await assertRejects(() => client.get(ConfigMap, "a/b"));
    assert(error instanceof InvalidResponseError, String(error));
    assertMatch(error.message, /^Cannot get ConfigMap "a\/b": /);
  }
});

test("[113] another object, another kind or a Table is not taken for the answer", async () => {
  const table = { apiVersion: "meta.k8s.io/v1", kind: "Table", metadata: { resourceVersion: "1" }, rows: [] };
  const others = [
    { ...configMap, metadata: { ...metadata, name: "c" } },
    { ...configMap, metadata: { ...metadata, namespace: "c" } },
    { ...configMap, kind: "Secret" },
    { ...configMap, apiVersion: "v2" },
    { ...status, status: "Success" },
    table,
  ];
  for (const other of others) {
    const client = new Client(() => Promise.resolve(Response.json(other)));
    const error = await assertRejects(() => client.get(ConfigMap, "a/b"));
    assert(error instanceof InvalidResponseError, String(error));
  }
  // An empty list would delete everything from a cache.
  for (const other of [table, { ...status, status: "Success" }, configMap, {}]) {
    const client = new Client(() => Promise.resolve(Response.json(other)));
    assert(await assertRejects(() => client.list(ConfigMap)) instanceof InvalidResponseError);
  }
});

test("[113] a write whose answer cannot be used is reported as unknown, so the object is read again", async () => {
  const read: string[] = [];
  const observer = {
    onStored: () => assert(false, "the answer was used"),
    onRemoved: () => assert(false, "the answer was used"),
    onUnknown: (_: Resource, key: string) => Promise.resolve(void read.push(key)),
  };
  const writes: readonly Send[] = [
    (client) => client.create(ConfigMap, { metadata: { namespace: "a", name: "b" } }),
    (client) => client.patch(ConfigMap, "a/b", { kind: "merge", value: {} }),
    (client) => client.apply(ConfigMap, { metadata: { namespace: "a", name: "b" } }, { fieldManager: "m" }),
    (client) => client.delete(ConfigMap, "a/b"),
  ];
  for (const send of writes) {
    for (const text of ["", "{", "null", '{"kind":"ConfigMap"}', '{"kind":"ConfigMap","metadata":{"name":7}}']) {
      const client = new Client(() => Promise.resolve(new Response(text))).withWriteObserver(observer);
      const error = await assertRejects(() => send(client));
      assert(isOutcomeUnknown(error, undefined), String(error));
    }
  }
  assertEquals(read.length, writes.length * 5);
});

test("[113] discovery of any odd shape is read, or is an error", async () => {
  const kind = { resource: "foos", responseKind: { kind: "Foo" }, scope: "Cluster", verbs: ["get"], shortNames: ["f"] };
  const group = { metadata: { name: "x.dev" }, versions: [{ version: "v1", resources: [kind] }] };
  const whole = { kind: "APIGroupDiscoveryList", items: [group] };
  const old = { kind: "APIResourceList", groupVersion: "v1", resources: [{ name: "a", namespaced: true, kind: "A" }] };
  const versions = { kind: "APIVersions", versions: ["v1"] };
  const groups = { kind: "APIGroupList", groups: [] };
  const variants = [
    ...oddVersions(whole).map((one) => [one, whole, old]),
    ...oddVersions(versions).map((one) => [one, groups, old]),
    ...oddVersions(old).map((one) => [versions, groups, one]),
  ];
  for (const [core, apis, list] of variants) {
    const client = new Client(({ url }) => {
      const { pathname } = new URL(url);
      const answer = pathname === "/api" ? core : pathname === "/apis" ? apis : list;
      return Promise.resolve(new Response(JSON.stringify(answer) ?? ""));
    });
    try {
      await new Discovery(client).find("foos");
    } catch (error) {
      assertKnownError(error, JSON.stringify([core, apis, list]));
    }
  }
});

const operator = { name: "op", version: "1.2.3", controllers: [websiteController, podController] };
const commands = ["install-crds", "install-crds --diff", "uninstall-crds --yes", "doctor"];

for (const command of commands) {
  test(`[84, 113] ${command} never ends as a defect, whatever the server answers`, async () => {
    const random = seededRandom(113);
    const below = (count: number) => Math.floor(random.next() * count);
    const codes = new Set<number>();
    for (let round = 0; round < 150; round++) {
      const cluster = new FakeCrdCluster();
      if (below(4) > 0) {
        cluster.install(Website.crd);
        cluster.store([{ namespace: "shop", name: "w", storedIn: "v1" }]);
      }
      const attackFrom = below(8);
      let requests = 0;
      let seen = "";
      const transport = async (request: Request) => {
        const response = await cluster.transport(request);
        if (requests++ < attackFrom || new URL(request.url).pathname === "/version") return response;
        const good: unknown = await response.clone().json();
        const versions = [...odd, ...oddVersions(good)];
        const answer = below(3) === 0 ? good : versions[below(versions.length)];
        seen += `${request.method} ${request.url} ${JSON.stringify(answer)}\n`;
        return new Response(JSON.stringify(answer) ?? "", { status: response.status });
      };
      const result = await runCommandLine(operator, command.split(" "), { transport });
      assert(result.code !== 70 && !/TypeError|defect/.test(result.err), `${result.err}\nafter ${seen.slice(-2_000)}`);
      codes.add(result.code);
    }
    assert(codes.has(1) || codes.has(6), [...codes].join());
  });
}

test("[84, 113] run --once never ends as a defect, whatever the server answers", async () => {
  const random = seededRandom(114);
  const below = (count: number) => Math.floor(random.next() * count);
  const copying = controller("copier").for(ConfigMap).owns(builtin.Service).reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    await ctx.apply(manifest(builtin.Service, { metadata: { namespace, name }, spec: { clusterIP: "None" } }));
    return done;
  });
  const codes = new Set<number>();
  for (let round = 0; round < 60; round++) {
    const cluster = new FakeCluster();
    cluster.put("/api/v1/namespaces/a/configmaps/b", { ...configMap, metadata: { namespace: "a", name: "b" } });
    cluster.intercept = ({ method, url }, path) => {
      if (path === "/version") return Response.json({ gitVersion: "v1.36.3" });
      return method === "GET" && url.includes("limit=1") ? Response.json(emptyList) : undefined;
    };
    const [attackFrom, isAttacked] = [below(8), below(4)];
    let requests = 0;
    let seen = "";
    const transport = async (request: Request) => {
      const response = await cluster.transport(request);
      const isWatch = request.url.includes("watch=true");
      // Half of the attacks stop again, so that some runs converge.
      const isGood = requests++ < attackFrom || isWatch || (isAttacked > 1 && requests > attackFrom + 6);
      if (isGood || new URL(request.url).pathname === "/version") return response;
      const good: unknown = await response.clone().json();
      const versions = [...odd, ...oddVersions(good)];
      const answer = below(3) === 0 ? good : versions[below(versions.length)];
      seen += `${request.method} ${request.url} ${JSON.stringify(answer)}\n`;
      return new Response(JSON.stringify(answer) ?? "", { status: response.status });
    };
    const operator = { name: "op", version: "1.2.3", controllers: [copying] };
    const process = createProcess(["run", "--all", "--once", "--graceful-shutdown-timeout", "1s"], { transport });
    let code: number | undefined;
    startCommandLine(operator, process, transport).then((ended) => code = ended);
    // Files and modules are read in real time.
    for (let turn = 0; turn < 100_000 && requests === 0 && code === undefined; turn++) await nextTurn();
    for (let step = 0; step < 600 && code === undefined; step++) {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      await process.clock.advance(200);
      if (step === 300 && code === undefined) process.signal("SIGTERM");
    }
    assert(code !== undefined, `it runs on after ${seen.slice(-2_000)}`);
    assert(code !== 70 && !/TypeError|defect/.test(process.err), `${process.err}\nafter ${seen.slice(-3_000)}`);
    codes.add(code);
  }
  assert(codes.has(1), [...codes].join());
});
