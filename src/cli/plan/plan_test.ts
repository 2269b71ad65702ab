import { join } from "node:path";
import { tmpdir } from "node:os";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done, manifest, requeueAfter, whenObject, whenServed } from "../../controller/mod.ts";
import { withFlags } from "../../manager/mod.ts";
import { CrdResource, defineResource, z } from "../../schema/mod.ts";
import { flag } from "../flags/mod.ts";
import { statusResponse } from "../testing/fake_server.ts";
import { PlannedWorld, Site, sites } from "./testing/planned_world.ts";

const { ConfigMap, Deployment, Pod, Secret, Service } = builtin;

/** A folder for the files of one test. */
function folder(): Disposable & { file(name: string, text: string): string } {
  const path = mkdtempSync(join(tmpdir(), "plan-"));
  return {
    file(name, text) {
      writeFileSync(join(path, name), text);
      return join(path, name);
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Two reconciled Sites, `blog` and `shop`. */
async function twoSites(): Promise<PlannedWorld> {
  const cluster = await PlannedWorld.start([sites()]);
  for (const name of ["blog", "shop"]) await cluster.world.create(Site, { name, spec: { host: `${name}.dev` } });
  await cluster.stopOperator();
  return cluster;
}

test("[126] plan of a converged cluster shows nothing, ends with 0 and only reads", async () => {
  await using cluster = await twoSites();
  const { code, out, err } = await cluster.plan([sites()]);
  assertEquals({ code, out, err }, { code: 0, out: "", err: "op: plan: no changes\n" });
  assertEquals(cluster.writes, []);
});

test("[126] plan shows a diff for each object that run would change, grouped by cause", async () => {
  await using cluster = await twoSites();
  await cluster.world.patch(ConfigMap, "default/blog", { kind: "merge", value: { data: { url: "http://else" } } });
  await cluster.world.delete(ConfigMap, "default/shop");
  const { uid } = cluster.world.get(ConfigMap, "default/blog").metadata;
  const [blog, shop] = ["blog", "shop"].map((name) => cluster.world.get(Site, `default/${name}`).metadata.uid);
  const { code, out, err } = await cluster.plan([sites()]);
  assertEquals({ code, err }, { code: 2, err: "op: plan: 1 to update, 1 to create\n" });
  const creation = cluster.world.get(ConfigMap, "default/blog").metadata.creationTimestamp;
  assertEquals(
    out,
    `# sites: Site default/blog
# update ConfigMap default/blog
--- LIVE/v1.ConfigMap.default.blog
+++ PLAN/v1.ConfigMap.default.blog
@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  url: http://else
+  url: http://blog.dev
 kind: ConfigMap
 metadata:
   creationTimestamp: "${creation}"
# sites: Site default/shop
# create ConfigMap default/shop
--- LIVE/v1.ConfigMap.default.shop
+++ PLAN/v1.ConfigMap.default.shop
@@ -0,0 +1,14 @@
+apiVersion: v1
+data:
+  url: http://shop.dev
+kind: ConfigMap
+metadata:
+  name: shop
+  namespace: default
+  ownerReferences:
+  - apiVersion: example.dev/v1
+    blockOwnerDeletion: true
+    controller: true
+    kind: Site
+    name: shop
+    uid: ${shop}
`,
  );
  assert(uid !== undefined && blog !== undefined);
  assertEquals(cluster.writes, []);
  assertEquals(cluster.world.get(ConfigMap, "default/blog").data, { url: "http://else" });
});

test("plan -o name prints one line for each object, -o json the states", async () => {
  await using cluster = await twoSites();
  await cluster.world.delete(ConfigMap, "default/shop");
  assertEquals((await cluster.plan([sites()], ["-o", "name"])).out, "create ConfigMap default/shop\n");
  const { code, out, err } = await cluster.plan([sites()], ["-o", "json"]);
  assertEquals([code, err], [2, ""]);
  const { changes, ...rest } = JSON.parse(out);
  assertEquals(rest, {
    apiVersion: "pintle.dev/v1alpha1",
    kind: "Plan",
    operator: { name: "op", version: "1.0.0" },
    controllers: ["sites"],
    time: rest.time,
    refused: [],
    endless: [],
    failing: [],
    warnings: [],
  });
  const [change] = changes;
  assertEquals([changes.length, change.action, change.by], [
    1,
    "create",
    [{ by: "controller", controller: "sites", kind: "Site", key: "default/shop" }],
  ]);
  assertEquals([change.before, change.after.data], [undefined, { url: "http://shop.dev" }]);
});

test("[126] plan --against shows only what this version does differently", async () => {
  await using cluster = await twoSites();
  using files = folder();
  // The drift that both versions repair is no difference of theirs.
  await cluster.world.delete(ConfigMap, "default/shop");
  const running = files.file("running.json", (await cluster.plan([sites()], ["-o", "json"])).out);
  const same = await cluster.plan([sites()], ["--against", running]);
  assertEquals([same.code, same.out, same.err], [0, "", "op: plan: no changes\n"]);
  const next = await cluster.plan([sites("https")], ["--against", running, "-o", "name"]);
  assertEquals([next.code, next.out.split("\n")], [2, [
    "update ConfigMap default/blog",
    "update Site default/blog",
    "update Site default/shop",
    "create ConfigMap default/shop",
    "",
  ]]);
  const { out } = await cluster.plan([sites("https")], ["--against", running]);
  assertStringIncludes(out, "# create ConfigMap default/shop (the other version: create)\n");
  assertStringIncludes(out, "-  url: http://shop.dev\n+  url: https://shop.dev\n");
  assertStringIncludes(out, "# update ConfigMap default/blog (the other version: no change)\n");
});

test("plan shows first what is deleted, also by the garbage collector", async () => {
  const closing = controller("sites").for(Site).owns(ConfigMap).finalize(() => Promise.resolve(done)).reconcile(
    async (ctx) => {
      const { namespace, name = "" } = ctx.object.metadata;
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { url: ctx.object.spec.host } }));
      return done;
    },
  );
  await using cluster = await PlannedWorld.start([closing]);
  for (const name of ["a", "b"]) await cluster.world.create(Site, { name, spec: { host: `${name}.dev` } });
  await cluster.stopOperator();
  await cluster.world.delete(Site, "default/b");
  await cluster.world.delete(ConfigMap, "default/a");
  const { code, out, err } = await cluster.plan([closing]);
  assertEquals([code, err], [2, "op: plan: 2 to delete, 1 to create\n"]);
  const headlines = out.split("\n").filter((line) => line.startsWith("# "));
  assertEquals(headlines, [
    "# sites: Site default/b",
    "# delete ConfigMap default/b",
    "# delete Site default/b",
    "# sites: Site default/a",
    "# create ConfigMap default/a",
  ]);
});

test("plan --files shows what follows after an apply, and new objects have no invented UIDs", async () => {
  await using cluster = await twoSites();
  using files = folder();
  const site = { apiVersion: "example.dev/v1", kind: "Site", metadata: { name: "new" }, spec: { host: "new.dev" } };
  const path = files.file("site.json", JSON.stringify(site));
  const { code, out } = await cluster.plan([sites()], ["--files", path]);
  assertEquals(code, 2, out);
  assertStringIncludes(out, "# --files\n# create Site default/new (also by sites: Site default/new)\n");
  assertStringIncludes(out, "# sites: Site default/new\n# create ConfigMap default/new\n");
  assertStringIncludes(out, "+    uid: (UID of Site default/new)\n");
  const blog = { ...site, metadata: { namespace: "default", name: "blog" }, spec: { host: "new.dev" } };
  const manager = "kubectl-client-side-apply"; // of kubectl apply
  await cluster.world.patch(Site, "default/blog", { kind: "merge", value: { spec: { host: "old.dev" } } });
  const { metadata: { managedFields = [] } } = cluster.world.get(Site, "default/blog");
  const entries = managedFields.map((entry) => entry.manager === "user" ? { ...entry, manager } : entry);
  const operations = [{ op: "replace", path: "/metadata/managedFields", value: entries }] as const;
  await cluster.world.client.patch(Site, "default/blog", { kind: "json", operations });
  const applied = await cluster.plan([sites()], ["--files", files.file("blog.json", JSON.stringify(blog))]);
  assertEquals(applied.code, 2, applied.err);
  assertStringIncludes(applied.out, "-  host: old.dev\n+  host: new.dev\n");
  const bad = files.file("bad.yaml", "apiVersion: example.dev/v1\nkind: Site\n");
  const refused = await cluster.plan([sites()], ["--files", bad]);
  assertEquals([refused.code, refused.err], [
    1,
    `op: Cannot read manifests from "${bad}:1": metadata.name is missing\n`,
  ]);
  const invalid = files.file("invalid.yaml", JSON.stringify({ ...site, spec: {} }));
  const rejected = await cluster.plan([sites()], ["--files", invalid]);
  assertEquals(rejected.code, 1);
  assertMatch(rejected.err, /^op: Cannot apply Site "default\/new" of [^\n]*: [^\n]*spec\.host: Required/);
  assertEquals(cluster.writes, []);
});

test("[security 31] plan shows that a Secret changes, and never its values", async () => {
  const keys = (value: string) =>
    controller("keys").for(Site).owns(Secret).reconcile(async (ctx) => {
      const { namespace, name = "" } = ctx.object.metadata;
      const data = { token: btoa(value), same: btoa("same-value") };
      await ctx.apply(manifest(Secret, { metadata: { namespace, name }, data }));
      return done;
    });
  await using cluster = await PlannedWorld.start([keys("old-value")]);
  await cluster.world.create(Site, { name: "a", spec: { host: "a.dev" } });
  await cluster.stopOperator();
  for (const format of ["diff", "json", "yaml"]) {
    const { code, out, err } = await cluster.plan([keys("new-value")], ["-o", format]);
    assertEquals(code, 2);
    for (const value of ["old-value", "new-value", "same-value"]) assert(!`${out}${err}`.includes(btoa(value)), out);
    if (format !== "diff") continue;
    assertStringIncludes(
      out,
      '   same: "***"\n-  token: "*** (before)"\n+  token: "*** (after)"\n'.replaceAll('"', "'"),
    );
  }
});

test("plan says which writes would go on for ever, and still ends", async () => {
  const restless = controller("restless", { ownWrites: "deliver" }).for(ConfigMap).uses(ConfigMap, ["patch"]).reconcile(
    async (ctx) => {
      const value = { metadata: { annotations: { at: new Date(ctx.clock.now()).toISOString() } } };
      await ctx.patch(ConfigMap, ctx.object, { kind: "merge", value });
      return requeueAfter(60_000);
    },
  );
  await using cluster = await twoSites();
  const { code, out } = await cluster.plan([restless]);
  assertEquals(code, 2, out);
  assertStringIncludes(out, "# 2 problems: these would go on for ever\n");
  assertMatch(out, /# {3}restless default\/blog: it wrote configmaps "default\/blog" \d+ times, with the same content/);
  assertStringIncludes(out, "+    at: (time of the write)\n");
});

test("a flag of a controller that plan has itself is left out, and has its default", async () => {
  const schema = z.object({
    output: flag(z.enum(["loud", "quiet"]).default("quiet"), { flags: "-o, --output <voice>", about: "the voice" }),
    color: flag(z.string().default("red"), { flags: "--color <name>", about: "the color" }),
  });
  const speaking = withFlags(sites(), schema, ({ flags: { output, color } }) => sites(`${output}-${color}`));
  await using cluster = await twoSites();
  const { out } = await cluster.plan([speaking], ["-o", "json", "--color", "blue"]);
  assertEquals(JSON.parse(out).changes[0].after.data, { url: "quiet-blue://blog.dev" });
});

test("plan names the objects that would fail, and ends with 1", async () => {
  const failing = controller("failing").for(Site).reconcile((ctx) => {
    if (ctx.object.metadata.name === "blog") throw new Error("Cannot serve blog: it has no port");
    return Promise.resolve(done);
  });
  await using cluster = await twoSites();
  const { code, out, err } = await cluster.plan([failing]);
  assertEquals(code, 1);
  assertStringIncludes(
    out,
    "# 1 problem: these would fail\n#   failing default/blog: Cannot serve blog: it has no port\n",
  );
  assertMatch(err, /Cannot plan everything: failing default\/blog would fail: Cannot serve blog: it has no port\./);
});

test("[126] a controller of a plan cannot call another system", async () => {
  const calling = controller("calling").for(Site).reconcile(async () => {
    await fetch("http://127.0.0.1:9/secret-path?token=abc");
    return done;
  });
  await using cluster = await twoSites();
  const { code, err } = await cluster.plan([calling]);
  assertEquals(code, 1);
  assertStringIncludes(err, "Cannot call http://127.0.0.1:9: a plan calls no other system");
  assert(!err.includes("secret-path"));
});

test("a daemon that calls another system is named, and the rest is planned", async () => {
  const linked = controller("linked").for(Site).daemon(async () => {
    await new Promise((_, reject) => {
      new WebSocket("ws://127.0.0.1:9/path?token=abc").onerror = () => reject(new Error("the call was sent"));
    });
  }).reconcile(() => Promise.resolve(done));
  await using cluster = await twoSites();
  const { code, err } = await cluster.plan([linked]);
  assertEquals([code, err], [
    2,
    "op: the plan lacks what the daemons of linked would do: Cannot call ws://127.0.0.1:9: a plan calls no other system\n" +
    "op: plan: 2 to update\n",
  ]);
});

test("addresses and ports that the server will choose for a new Service are no differences of two versions", async () => {
  const serving = (count: number) =>
    controller("serving").for(Site).owns(Service).reconcile(async (ctx) => {
      const { namespace, name = "" } = ctx.object.metadata;
      const chosen = Array.from({ length: count }, (_, at) => ({ name: `${name}-${at}`, spec: {} }));
      for (const { spec, ...metadata } of [...chosen, { name, spec: { clusterIP: `10.96.0.${name.length}0` } }]) {
        await ctx.apply(manifest(Service, {
          metadata: { namespace, ...metadata },
          spec: { ...spec, type: "NodePort", ports: [{ port: 80 }] },
        }));
      }
      return done;
    });
  await using cluster = await PlannedWorld.start([sites()]);
  await cluster.world.create(Site, { name: "blog", spec: { host: "blog.dev" } });
  await cluster.stopOperator();
  using files = folder();
  const { out } = await cluster.plan([serving(1)], ["-o", "json"]);
  const [first, last] = JSON.parse(out).changes.map(({ after }: { after: { spec: object } }) => after.spec);
  assertEquals([last.clusterIP, first.clusterIP, first.ports], [
    "(cluster IP of Service default/blog-0)",
    "10.96.0.40",
    [{ port: 80, protocol: "TCP", targetPort: 80 }],
  ]);
  const next = await cluster.plan([serving(2)], ["--against", files.file("running.json", out), "-o", "name"]);
  assertEquals(next.out, "create Service default/blog-1\n");
});

test("[126] running Deployments and Pods are no changes, and dependents of unknown owners stay", async () => {
  const watching = controller("watching", { recordsEvents: false }).for(Deployment).watches(Pod, { to: () => [] })
    .watches(ConfigMap, { to: () => [] }).reconcile(() => Promise.resolve(done));
  await using cluster = await PlannedWorld.start([], true);
  const { world } = cluster;
  const labels = { app: "web" };
  const containers = [{ name: "web", image: "nginx" }];
  const template = { metadata: { labels }, spec: { containers } };
  await world.create(Deployment, { name: "web", spec: { replicas: 2, selector: { matchLabels: labels }, template } });
  await world.settled();
  const stranger = {
    apiVersion: "other.dev/v1",
    kind: "Other",
    name: "gone",
    uid: "11111111-2222-3333-4444-555555555555",
  };
  await world.client.create(ConfigMap, {
    metadata: { namespace: "default", name: "kept", ownerReferences: [stranger] },
  });
  assertEquals(world.list(Pod).length, 2);
  const { code, out, err } = await cluster.plan([watching], ["--show-cluster"]);
  assertEquals({ code, out, err }, { code: 0, out: "", err: "op: plan: no changes\n" });
});

test("[126] a rollout that is stuck in the cluster is none that the plan completes", async () => {
  const watching = controller("watching", { recordsEvents: false }).for(Deployment).watches(Pod, { to: () => [] })
    .reconcile(() => Promise.resolve(done));
  await using cluster = await PlannedWorld.start([]); // nothing rolls out there
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } };
  await cluster.world.create(Deployment, { name: "web", spec: { selector: { matchLabels: labels }, template } });
  const { code, out } = await cluster.plan([watching], ["--show-cluster"]);
  assertEquals([code, out], [0, ""]);
});

test("plan completes the rollouts that its controllers begin and wait for", async () => {
  const rolling = controller("rolling").for(Site).owns(Deployment).reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const labels = { site: name };
    const live = await ctx.apply(manifest(Deployment, {
      metadata: { namespace, name },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } },
      },
    }));
    await ctx.patchStatus({ url: live.status?.availableReplicas === 3 ? "http://ready" : "http://waiting" });
    return done;
  });
  await using cluster = await twoSites();
  const { out } = await cluster.plan([rolling], ["-o", "json"]);
  const changes: readonly { kind: string; name: string; after: { status?: object } }[] = JSON.parse(out).changes;
  assertEquals(
    changes.map(({ kind, name, after: { status } }) => ({ kind, name, status })),
    [
      { kind: "Site", name: "blog", status: { url: "http://ready" } },
      { kind: "Site", name: "shop", status: { url: "http://ready" } },
      { kind: "Deployment", name: "blog", status: undefined },
      { kind: "Deployment", name: "shop", status: undefined },
    ],
  );
  const all = await cluster.plan([rolling], ["--show-cluster", "-o", "name"]);
  assertEquals(all.out.split("\n").filter((line) => line.startsWith("create Pod ")).length, 6, all.out);
});

test("plan --crds shows the new definition, converted and defaulted objects, and those that the schema refuses", async () => {
  const Next = defineResource({
    group: "example.dev",
    version: "v1",
    kind: "Site",
    scope: "Namespaced",
    spec: z.object({ host: z.string().max(8), port: z.int32().default(80) }),
    status: z.object({ url: z.string().optional() }),
  });
  const next = controller("sites").for(Next, { writesStatus: false }).reconcile(() => Promise.resolve(done));
  await using cluster = await twoSites();
  await cluster.world.create(Site, { name: "long", spec: { host: "a-long-host.dev" } });
  const { code, out } = await cluster.plan([next], ["--crds"]);
  assertEquals(code, 2, out);
  assertStringIncludes(out, "# install-crds\n");
  assertStringIncludes(out, "# update CustomResourceDefinition sites.example.dev\n");
  assertStringIncludes(out, "# update Site default/blog\n");
  assertStringIncludes(out, "+  port: 80\n");
  assertStringIncludes(out, "# 1 problem: the new schema refuses these objects\n#   install-crds Site default/long: ");
  assertEquals((await cluster.plan([next])).code, 0, "without --crds the live definition stays");
  await using empty = await PlannedWorld.start([]);
  const installed = await empty.plan([next], ["--crds", "-o", "name"]);
  assertEquals([installed.code, installed.out, installed.err], [
    2,
    "create CustomResourceDefinition sites.example.dev\n",
    "op: plan: 1 to create\n",
  ]);
});

test("plan does without a kind that is watched under a condition, and plans it where the cluster has it", async () => {
  const Route = defineResource({
    group: "example.dev",
    version: "v1",
    kind: "Route",
    scope: "Namespaced",
    spec: z.object({ host: z.string() }),
  });
  const routed = controller("routed").for(Secret)
    .owns(Route, { activation: whenServed(Route) })
    .owns(ConfigMap, { activation: whenObject(ConfigMap, "default/features", (map) => map !== undefined) })
    .reconcile(async (ctx) => {
      const { namespace } = ctx.object.metadata;
      const metadata = { namespace, name: "main" };
      if (ctx.isActive(Route)) await ctx.apply(manifest(Route, { metadata, spec: { host: "a.example.dev" } }));
      if (ctx.isActive(ConfigMap)) await ctx.apply(manifest(ConfigMap, { metadata, data: {} }));
      return done;
    });
  await using cluster = await PlannedWorld.start([]);
  await cluster.world.create(Secret, { name: "team" });
  await cluster.stopOperator();
  assertEquals((await cluster.plan([routed], ["-o", "name"])).out, "");
  await cluster.world.client.create(CrdResource, Route.crd);
  await cluster.world.create(ConfigMap, { name: "features" });
  const { out } = await cluster.plan([routed], ["-o", "name"]);
  assertEquals(out.split("\n").filter((line) => line !== "").length, 2, out);
});

test("plan names what is missing: a permission with its rule, a definition, and a wrong command line with 1", async () => {
  await using cluster = await twoSites();
  cluster.intercept = ({ url }) =>
    url.includes("/configmaps") ? statusResponse(403, "Forbidden", "configmaps is forbidden") : undefined;
  const denied = await cluster.plan([sites()], ["-n", "default"]);
  assertEquals([denied.code, denied.err], [
    4,
    'op: Cannot plan controller "sites": this user may not list configmaps in namespace "default". ' +
    'Give the user a Role in default with: apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"]\n',
  ]);
  cluster.intercept = ({ url }) => url.includes("/sites") ? statusResponse(404, "NotFound", "no such kind") : undefined;
  const missing = await cluster.plan([sites()]);
  assertEquals([missing.code, missing.err], [
    6,
    'op: Cannot plan controller "sites": the CustomResourceDefinition sites.example.dev is not installed in version v1. ' +
    "Add --crds to plan its installation, or run: op install-crds sites\n",
  ]);
  cluster.intercept = () => undefined;
  using files = folder();
  const none = files.file("none.json", "{}");
  for (
    const [args, state] of [
      [["--bogus"], /^op: Cannot parse the command line: unknown option '--bogus'/],
      [["nothing"], /^op: Cannot find controller "nothing"/],
      [["--horizon", "soon"], /--horizon/],
      [["--against", none], /^op: Cannot compare with "[^"]+": it is no plan: apiVersion: /],
      [["--against", `${none}.missing`], /^op: Cannot read the plan "/],
      [["--files", `${none}.missing`], /^op: Cannot read manifests from "/],
    ] as const
  ) {
    const { code, out, err } = await cluster.plan([sites()], args);
    assertEquals([code, out], [1, ""], err);
    assertMatch(err, state);
  }
});
