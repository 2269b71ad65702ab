import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done } from "../../controller/mod.ts";
import { type Crd, type CustomResource, defineResource, type OtherVersionOptions, z } from "../../schema/mod.ts";
import { migrationAnnotation } from "./migrate_storage.ts";
import { installedBy } from "./plan_crd.ts";
import { FakeCrdCluster } from "../testing/fake_crd_cluster.ts";
import type { TestTerminal } from "../testing/test_process.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";
import { statusResponse } from "../testing/fake_server.ts";

const crdName = "websites.example.dev";
const line = `customresourcedefinition.apiextensions.k8s.io/${crdName}`;

/** The kind Website of one release. */
function website(
  version: string,
  host: z.ZodType = z.string().max(253),
  versions: readonly OtherVersionOptions[] = [],
): CustomResource {
  const spec = z.object({ host });
  return defineResource({ group: "example.dev", version, kind: "Website", scope: "Namespaced", spec, versions });
}

function controllerOf(resource: CustomResource): ControllerDefinition {
  return controller("website").for(resource).owns(builtin.ConfigMap).reconcile(() => Promise.resolve(done));
}

const spec = z.object({ host: z.string().max(253) });
const v1 = website("v1");
/** Two releases later: v2 is the storage version, v1 still exists. */
const both = website("v2", undefined, [{ name: "v1", spec, storage: false }]);
const v2 = website("v2");

interface Release {
  readonly args?: string;
  readonly version?: string;
  readonly terminal?: TestTerminal;
}

/** Runs `install-crds` of a release until its end. */
async function install(
  cluster: FakeCrdCluster,
  resource: CustomResource,
  release: Release = {},
): Promise<CommandResult> {
  const { args = "", version = "1.0.0", terminal } = release;
  const operator = { name: "controller", version, controllers: [controllerOf(resource)] };
  const words = `install-crds ${args}`.trimEnd().split(" ");
  return await runCommandLine(operator, words, { transport: cluster.transport, terminal });
}

/** Objects as they are stored. */
function objects(count: number, storedIn: string, host = "a.dev") {
  return Array.from(
    { length: count },
    (_, index) => ({ namespace: "shop", name: `w${index}`, spec: { host }, storedIn }),
  );
}

/** Returns `crd` with changed versions. */
function withVersions(crd: Crd, change: (version: Crd["spec"]["versions"][number]) => object): Crd {
  const versions = crd.spec.versions.map((version) => ({ ...version, ...change(version) }));
  return { ...crd, spec: { ...crd.spec, versions } };
}

test("[85] install-crds creates a definition, and a second run changes nothing", async () => {
  const cluster = new FakeCrdCluster();
  assertEquals(await install(cluster, v1), { code: 0, out: `${line} created\n`, err: "" });
  const { resourceVersion, annotations } = cluster.crd(crdName)?.metadata ?? {};
  assertEquals(annotations, { [installedBy]: "controller/1.0.0" });
  const writes = cluster.writes.length;
  assertEquals(await install(cluster, v1), { code: 0, out: `${line} unchanged\n`, err: "" });
  assertEquals(cluster.writes.length, writes + 1);
  assert(resourceVersion !== undefined);
});

test("--diff prints the fields that change, and nothing without a change", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, v1);
  const next = website("v1", z.string().max(300));
  const { code, out, err } = await install(cluster, next, { args: "--diff" });
  assertEquals([code, err], [0, ""]);
  const path = "spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.host.maxLength";
  assertEquals(out.split("\n"), [
    `--- ${line} (cluster)`,
    `+++ ${line} (this program)`,
    `- ${path}: 253`,
    `+ ${path}: 300`,
    "",
  ]);
  assertEquals(await install(cluster, v1, { args: "--diff" }), { code: 0, out: "", err: "" });
  const created = await install(new FakeCrdCluster(), v1, { args: "--diff" });
  assertMatch(created.out, /^--- [^\n]+\n\+\+\+ [^\n]+\n(\+ [^\n]+\n){10,}$/);
});

test("--diff has colours on a terminal", async () => {
  const { out } = await install(new FakeCrdCluster(), v1, { args: "--diff", terminal: { isTerminal: true } });
  assertStringIncludes(out, "\u001b[32m+ spec.");
});

test("[85] --dry-run=server and --diff write nothing", async () => {
  const cluster = new FakeCrdCluster();
  for (const args of ["--dry-run=server", "--diff"]) {
    assertEquals((await install(cluster, v1, { args })).code, 0);
    assert(cluster.writes.every((write) => write.includes("dryRun=All")), args);
  }
  assertEquals(cluster.crd(crdName), undefined);
});

test("[84] flags that contradict each other are a usage error", async () => {
  for (const args of ["--diff --dry-run=client", "--diff -o yaml"]) {
    const { code, err } = await install(new FakeCrdCluster(), v1, { args });
    assertEquals(code, 2);
    assertMatch(err, /--diff and --(dry-run=client|output) are both given/);
  }
});

test("a narrower schema is installed when all stored objects fit it", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, v1);
  cluster.store(objects(3, "v1", "a.dev"));
  const { code, out } = await install(cluster, website("v1", z.string().max(5)));
  assertEquals([code, out], [0, `${line} configured\n`]);
});

test("a schema that breaks stored objects is rejected, with the objects, their fields and the advice", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, v1);
  cluster.store([
    ...objects(2, "v1", "a.dev"),
    ...objects(5, "v1", "long.example.dev").map((one, index) => ({
      ...one,
      name: `long${index}`,
    })),
  ]);
  cluster.pageSize = 3;
  const writes = cluster.writes.length;
  const { code, out, err } = await install(cluster, website("v1", z.string().max(5)));
  assertEquals([code, out, cluster.writes.length], [1, "", writes]);
  assertEquals(
    err,
    `controller: Cannot install ${crdName}: 5 of 7 stored objects would break: ` +
      "shop/long0: spec.host has 16 characters, the maximum is 5; " +
      "shop/long1: spec.host has 16 characters, the maximum is 5; " +
      "shop/long2: spec.host has 16 characters, the maximum is 5; and 2 more. " +
      `Change them first, for example: kubectl edit ${crdName} long0 -n shop; or --allow-breaking\n`,
  );
  const forced = await install(cluster, website("v1", z.string().max(5)), { args: "--allow-breaking" });
  assertEquals([forced.code, forced.out], [0, `${line} configured\n`]);
  assertMatch(forced.err, /v1: spec\.host changes its maxLength from 253 to 5/);
});

test("a removed field is rejected only when an object has it", async () => {
  const cluster = new FakeCrdCluster();
  const wide = defineResource({
    ...{ group: "example.dev", version: "v1", kind: "Website", scope: "Namespaced" },
    spec: z.object({ host: z.string().max(253), color: z.string().optional() }),
  });
  await install(cluster, wide);
  cluster.store(objects(1, "v1"));
  assertEquals((await install(cluster, v1, { args: "--diff" })).code, 0);
  cluster.store([{ namespace: "shop", name: "red", spec: { host: "a", color: "red" }, storedIn: "v1" }]);
  const { code, err } = await install(cluster, v1);
  assertEquals(code, 1);
  assertStringIncludes(err, 'shop/red: spec.color is "red" and would be lost');
});

test("an object that does not fit the old schema either is not reported", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, website("v1", z.string().max(10)));
  cluster.store(objects(1, "v1", "much.too.long.example.dev"));
  assertEquals((await install(cluster, website("v1", z.string().max(5)))).code, 0);
});

test("new rules and defaults are printed and allowed", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, website("v1", z.string().max(253).default("a")));
  cluster.store(objects(1, "v1"));
  const next = z.string().max(253).default("b").meta({ cel: [{ rule: "self != 'x'", message: "x is taken" }] });
  const { code, err } = await install(cluster, website("v1", next));
  assertEquals(code, 0);
  assertMatch(err, /spec\.host changes its default from "a" to "b"/);
  assertMatch(err, /spec\.host has the new rule self != 'x'/);
});

test("a version is not removed before it was deprecated", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, both);
  const { code, err } = await install(cluster, v2);
  assertEquals(code, 1);
  assertMatch(err, /version v1 is removed: clients may use it\. Keep that version and mark it deprecated/);
  const deprecated = website("v2", undefined, [{ name: "v1", spec, deprecated: true }]);
  await install(cluster, deprecated);
  assertEquals((await install(cluster, v2)).code, 0);
});

test("a changed scope is rejected", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, v1);
  const other = defineResource({ group: "example.dev", version: "v1", kind: "Website", scope: "Cluster", spec });
  const { code, err } = await install(cluster, other);
  assertEquals(code, 1);
  assertMatch(err, /the scope changes from Namespaced to Cluster\. That makes it another kind/);
});

test("an older program does not replace the definition of a newer one", async () => {
  const cluster = new FakeCrdCluster();
  const wider = website("v1", z.string().max(300));
  await install(cluster, wider, { version: "1.4.0" });
  const { code, err } = await install(cluster, v1, { version: "1.3.9" });
  assertEquals(code, 1);
  assertMatch(
    err,
    /controller 1\.4\.0 installed the one in the cluster, this is 1\.3\.9\. Use a newer controller, or --allow/,
  );
  const same = await install(cluster, wider, { version: "1.3.9" });
  assertEquals(same.out, `${line} unchanged\n`);
  assertEquals(cluster.crd(crdName)?.metadata.annotations?.[installedBy], "controller/1.4.0");
  assertEquals((await install(cluster, v1, { version: "1.3.9", args: "--allow-downgrade" })).code, 0);
});

test("a definition with a newer version of the kind is not replaced, whichever program installed it", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(both.crd);
  const { code, err } = await install(cluster, v1);
  assertEquals(code, 1);
  assertMatch(err, /has version v2, which this program \(v1\) does not know/);
});

test("objects in an old version are rewritten page by page, and storedVersions is pruned", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, v1);
  cluster.store(objects(7, "v1"));
  cluster.pageSize = 3;
  const { code, out, err } = await install(cluster, both);
  assertEquals([code, out], [0, `${line} configured\n`]);
  assertMatch(err, /websites\.example\.dev: 7 objects rewritten, all objects are stored in v2 now\n$/);
  assertEquals(cluster.crd(crdName)?.status?.storedVersions, ["v2"]);
  assertEquals(cluster.crd(crdName)?.metadata.annotations?.[migrationAnnotation], undefined);
  assertEquals(new Set(cluster.objects.map(({ storedIn }) => storedIn)), new Set(["v2"]));
});

test("a version that objects are stored in is removed after they were rewritten", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(withVersions(v1.crd, () => ({ deprecated: true })));
  cluster.store(objects(2, "v1"));
  const { code, err } = await install(cluster, v2);
  assertEquals(code, 0, err);
  assertEquals(cluster.crd(crdName)?.spec.versions.map(({ name }) => name), ["v2"]);
  assertEquals(cluster.crd(crdName)?.status?.storedVersions, ["v2"]);
  assertEquals(cluster.objects.map(({ storedIn }) => storedIn), ["v2", "v2"]);
  assertMatch(err, /websites\.example\.dev: removed version v1/);
});

test("an object that the server rejects is named, the others are rewritten, and a second run finishes", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, v1);
  cluster.store(objects(3, "v1"));
  cluster.intercept = (_, request) =>
    request.includes("/websites/w1") ? statusResponse(422, "Invalid", "spec.host: Invalid value") : undefined;
  const first = await install(cluster, both);
  assertEquals(first.code, 1);
  assertMatch(first.err, /the server rejects 1 object: shop\/w1: spec\.host: Invalid value\. Correct them, then run/);
  assertEquals(cluster.crd(crdName)?.status?.storedVersions, ["v1", "v2"]);
  assertEquals(cluster.objects.map(({ storedIn }) => storedIn), ["v2", "v1", "v2"]);
  cluster.intercept = () => undefined;
  const before = cluster.requests.length;
  assertEquals((await install(cluster, both)).code, 0);
  const rewritten = cluster.requests.slice(before).filter((request) => request.startsWith("PATCH /apis/example.dev"));
  assertEquals(rewritten.length, 1);
  assertEquals(cluster.crd(crdName)?.status?.storedVersions, ["v2"]);
});

test("[84] a forbidden migration is exit code 4 and names the RBAC rule", async () => {
  const cluster = new FakeCrdCluster();
  await install(cluster, v1);
  cluster.store(objects(1, "v1"));
  cluster.intercept = (_, request) =>
    request.startsWith("PATCH /apis/example.dev")
      ? statusResponse(403, "Forbidden", 'User "bob" cannot patch')
      : undefined;
  const { code, err } = await install(cluster, both);
  assertEquals(code, 4);
  assertMatch(err, /apiGroups: \["example\.dev"\], resources: \["websites"\], verbs: \["get", "list", "patch"\]/);
});

test("a migration mark of another generation is ignored", async () => {
  const cluster = new FakeCrdCluster();
  const mark = JSON.stringify({ to: "v2", generation: 77, since: "0" });
  const annotations = { [migrationAnnotation]: mark };
  cluster.install({ ...both.crd, metadata: { ...both.crd.metadata, annotations } }, { storedVersions: ["v1", "v2"] });
  cluster.store(objects(2, "v1"));
  assertEquals((await install(cluster, both)).code, 0);
  assertEquals(cluster.objects.map(({ storedIn }) => storedIn), ["v2", "v2"]);
});

test("a run after install-crds was killed at any write finishes its work", async () => {
  for (const when of ["before", "after"] as const) {
    for (let write = 1;; write++) {
      const cluster = new FakeCrdCluster();
      cluster.install(withVersions(v1.crd, () => ({ deprecated: true })));
      cluster.store(objects(4, "v1"));
      cluster.pageSize = 2;
      cluster.killAt = { write, when };
      const killed = await install(cluster, v2);
      const wasKilled = cluster.writes.length >= write && killed.code !== 0;
      cluster.killAt = undefined;
      const { code, err } = await install(cluster, v2);
      assertEquals(code, 0, `${when} ${write}: ${err}`);
      const crd = cluster.crd(crdName);
      assertEquals(crd?.spec.versions.map(({ name }) => name), ["v2"], `${when} ${write}`);
      assertEquals(crd?.status?.storedVersions, ["v2"]);
      assertEquals(crd?.metadata.annotations, { [installedBy]: "controller/1.0.0" });
      assertEquals(new Set(cluster.objects.map(({ storedIn }) => storedIn)), new Set(["v2"]));
      if (!wasKilled) {
        assert(write > 8, `only ${write - 1} writes were tested`);
        break;
      }
    }
  }
});

test("install-crds waits for the end of a definition that is being deleted, then creates it", async () => {
  const cluster = new FakeCrdCluster();
  const metadata = { ...v1.crd.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  cluster.install({ ...v1.crd, metadata });
  let reads = 0;
  const path = `GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
  cluster.intercept = (_, request) => {
    if (request.startsWith(path) && ++reads === 8) cluster.remove(crdName);
    return undefined;
  };
  const { code, out, err } = await install(cluster, v1);
  assertEquals([code, out], [0, `${line} created\n`]);
  assertMatch(err, /waiting until websites\.example\.dev is gone \(1 of 1\): the server is cleaning up/);
});
