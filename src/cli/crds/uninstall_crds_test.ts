import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { controller, done } from "../../controller/mod.ts";
import { FakeCrdCluster, type FakeObject } from "../testing/fake_crd_cluster.ts";
import { podController, Website, websiteController } from "../testing/test_kinds.ts";
import type { TestTerminal } from "../testing/test_process.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";
import { statusResponse } from "../testing/fake_server.ts";

const line = "customresourcedefinition.apiextensions.k8s.io/websites.example.dev";
const nothing = () => Promise.resolve(done);
const cleaning = controller("cleaner").for(Website).finalize(nothing, "example.dev/cleaner").reconcile(nothing);
const operator = { name: "op", version: "1.2.3", controllers: [websiteController, podController, cleaning] };

async function uninstall(cluster: FakeCrdCluster, args = "", terminal?: TestTerminal): Promise<CommandResult> {
  const words = `uninstall-crds ${args}`.trimEnd().split(" ");
  return await runCommandLine(operator, words, { transport: cluster.transport, terminal });
}

function clusterWith(objects: readonly Partial<FakeObject>[]): FakeCrdCluster {
  const cluster = new FakeCrdCluster();
  cluster.install(Website.crd);
  cluster.store(objects.map((object, index) => ({ namespace: "shop", name: `w${index}`, storedIn: "v1", ...object })));
  return cluster;
}

test("[84] without a terminal and without --yes it is a usage error, and no request is sent", async () => {
  const cluster = clusterWith([{}]);
  const { code, out, err } = await uninstall(cluster);
  assertEquals([code, out, cluster.requests], [2, "", []]);
  assertEquals(
    err,
    "op: Cannot uninstall: a confirmation is needed, and standard input is not a terminal. " +
      "Check with --dry-run, then use --yes\n",
  );
});

test("on a terminal it shows what would be deleted, and asks for a confirmation", async () => {
  const objects = [{}, { namespace: "other" }, {}];
  for (
    const [answers, isConfirmed] of [[["y"], true], [["YES"], true], [["n"], false], [[""], false], [
      [],
      false,
    ]] as const
  ) {
    const cluster = clusterWith(objects);
    const { code, out, err } = await uninstall(cluster, "website", { answers });
    assertMatch(
      out,
      /^DEFINITION +OBJECTS +NAMESPACES +BEING DELETED\nwebsites\.example\.dev +3 +2 +0\n/,
    );
    assertMatch(err, /^Delete 1 definition and 3 objects from https:\/\/10\.0\.0\.1:6443 permanently\? \[y\/N\] /);
    assertEquals(code, isConfirmed ? 0 : 1, err);
    assertEquals(cluster.crd("websites.example.dev") === undefined, isConfirmed);
    if (!isConfirmed) assertMatch(err, /Cannot uninstall: it was not confirmed\n$/);
  }
});

test("--yes deletes without a confirmation, and a second run has nothing to do", async () => {
  const cluster = clusterWith([{}, {}]);
  assertEquals(await uninstall(cluster, "--yes"), { code: 0, out: `${line} deleted\n`, err: "" });
  assert(cluster.writes.length === 1);
  assertEquals(await uninstall(cluster, "--yes"), { code: 0, out: `${line} not found\n`, err: "" });
});

test("--dry-run shows what would be deleted and deletes nothing", async () => {
  const cluster = clusterWith([{ finalizers: ["example.dev/cleaner"] }]);
  const { code, out, err } = await uninstall(cluster, "--dry-run");
  assertEquals([code, cluster.writes], [0, []]);
  assertMatch(out, /websites\.example\.dev +1 +1 +0\n$/);
  assertEquals(
    err,
    "op: websites.example.dev: 1 object has the finalizer example.dev/cleaner of the controller cleaner, " +
      "for example shop/w0; they stay until it runs: op run cleaner\n",
  );
});

test("objects with a finalizer end the wait with an advice", async () => {
  const cluster = clusterWith([{ finalizers: ["example.dev/cleaner"] }, { finalizers: ["example.dev/cleaner"] }, {}]);
  const { code, err } = await uninstall(cluster, "--yes --timeout 5s");
  assertEquals(code, 1);
  assertMatch(err, /Cannot delete websites\.example\.dev: after 5s 2 objects left, 2 objects have the finalizer/);
  assertMatch(err, /Run the controller cleaner until they are gone, or wait longer with --timeout\n$/);
});

test("a finalizer of another program is reported", async () => {
  const { err } = await uninstall(clusterWith([{ finalizers: ["other.dev/x"] }]), "--dry-run");
  assertMatch(
    err,
    /1 object has the finalizer other\.dev\/x, for example shop\/w0; they stay until its owner removes it/,
  );
});

test("controllers without custom resources leave nothing to do", async () => {
  const { code, out, err } = await uninstall(new FakeCrdCluster(), "pods");
  assertEquals([code, out], [0, ""]);
  assertMatch(err, /nothing to do/);
});

test("[84] a missing permission is exit code 4 and names the RBAC rule", async () => {
  const cluster = clusterWith([{}]);
  cluster.intercept = ({ method }) =>
    method === "DELETE" ? statusResponse(403, "Forbidden", 'User "bob" cannot delete') : undefined;
  const { code, err } = await uninstall(cluster, "--yes");
  assertEquals(code, 4);
  assertMatch(err, /resources: \["customresourcedefinitions"\], verbs: \["get", "delete"\]/);
});
