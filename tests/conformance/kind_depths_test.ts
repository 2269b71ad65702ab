import { assert, assertEquals, test } from "../testing.ts";
import { builtinFamilies, kindEffects } from "../../src/apiserver/kinds/mod.ts";
import { kubernetesApi } from "../../src/apiserver/mod.ts";
import { clusterWatches, kindLines, notServed } from "./kind_depths.ts";

test("every built-in kind says what follows from its objects, and no other kind does", () => {
  const collections = builtinFamilies().map(({ collection }) => collection);
  assertEquals(Object.keys(kindEffects).toSorted(), collections.toSorted());
});

test("the simulated cluster acts on what it is said to act on, and reconciles nothing that is stored only", () => {
  const watches = clusterWatches();
  for (const [collection, effect] of Object.entries(kindEffects)) {
    // What keeps objects from being deleted too early does not act on them.
    const reconciling = [...watches].filter((one) => one.startsWith(`${collection} for `) && !/-protection-/.test(one));
    if (effect.kind === "stored") assertEquals(reconciling, []);
    if (effect.kind !== "cluster") continue;
    for (const name of effect.controllers) {
      const isWatching = ["for", "watches"].some((role) => watches.has(`${collection} ${role} ${name}`));
      assert(isWatching, `${name} does not watch ${collection}`);
    }
  }
});

test("what is stored only, is shallow and is full are all among the kinds", () => {
  const depths = new Set(kindLines().map(({ depth }) => depth));
  assertEquals([...depths].toSorted(), ["full", "shallow", "stored only"]);
});

test("a path that is listed as not served is not, and one that is served is not listed", async () => {
  const missing = await notServed();
  assert(missing.includes("/statusz"), missing.join());
  const served = ["pods/exec", "pods/log", "pods/portforward", "/version"];
  for (const path of served) assert(!missing.includes(path), missing.join());
});

test("the create of a stored-only kind answers with a warning that says what does not happen; an update does not", async () => {
  using server = kubernetesApi().server;
  const path = "/apis/apiregistration.k8s.io/v1/apiservices";
  const apiService = {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1.example.com" },
    spec: {
      group: "example.com",
      version: "v1",
      groupPriorityMinimum: 100,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service: { namespace: "default", name: "api" },
    },
  };
  const send = (method: string, url: string, body: unknown) =>
    server.fetch(
      new Request(`http://in.memory${url}`, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  const created = await send("POST", path, apiService);
  assertEquals([created.status, created.headers.get("warning")], [
    201,
    '299 - "this server only stores the APIService: no request is passed on to another API server"',
  ]);
  const stored = await created.json();
  const updated = await send("PUT", `${path}/v1.example.com`, {
    ...stored,
    metadata: { ...stored.metadata, labels: { a: "b" } },
  });
  assertEquals([updated.status, updated.headers.get("warning")], [200, null]);
  const other = await send("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } });
  assertEquals([other.status, other.headers.get("warning")], [201, null]);
});
