/**
 * Tests of which programs a RealCluster starts, and of an existing cluster. The programs themselves run in
 * tests/controlplane/start_cluster_test.ts.
 */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { assertEquals, assertRejects, assertStringIncludes, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TemporaryFolder } from "../client/testing/temporary_folder.ts";
import { controller, done } from "../controller/mod.ts";
import { processFacts } from "../runtime/mod.ts";
import { allow, validating } from "../webhook/mod.ts";
import { findServerPrograms } from "./control_plane/mod.ts";
import { EmbeddedCluster } from "./embedded_cluster.ts";
import { RealCluster } from "./real_cluster.ts";
import { startCluster } from "./start_cluster.ts";

const { os, arch } = processFacts();
const onError = (error: unknown) => {
  throw error;
};

test("KUBEBUILDER_ASSETS names the folder of the programs, and TEST_ASSET_ETCD one program", async () => {
  await using home = await TemporaryFolder.with({});
  const apiServer = await home.write("bin/kube-apiserver", "program");
  const etcd = await home.write("own/etcd-3", "program");
  const environment = { HOME: home.path, KUBEBUILDER_ASSETS: join(home.path, "bin"), TEST_ASSET_ETCD: etcd };
  assertEquals(await findServerPrograms({ environment }), { etcd, kubeApiServer: apiServer });
});

test("without variables the newest version of setup-envtest is started, by the order of numbers", async () => {
  await using home = await TemporaryFolder.with({});
  const store = "data/kubebuilder-envtest/k8s";
  for (const version of ["1.9.0", "1.36.3", "1.36.0"]) {
    for (const name of ["etcd", "kube-apiserver"]) {
      await home.write(`${store}/${version}-${os}-${arch}/${name}`, "program");
    }
  }
  await home.write(`${store}/1.40.0-plan9-${arch}/etcd`, "program");
  await home.write(`${store}/1.37.0-${os}-${arch}/etcd`, "#!/bin/sh\n# Written by controller envtest.\n");
  const { etcd } = await findServerPrograms({
    environment: { HOME: home.path, XDG_DATA_HOME: join(home.path, "data") },
  });
  assertEquals(etcd, join(home.path, `${store}/1.36.3-${os}-${arch}/etcd`));
});

test("a missing program is an error that says where it was looked for and how to install it", async () => {
  await using home = await TemporaryFolder.with({});
  const start = (environment: Readonly<Record<string, string>>) => RealCluster.start({ environment, onError });
  const absent = await start({ HOME: home.path }).then(() => "started", String);
  assertStringIncludes(absent, `Cannot find etcd: neither KUBEBUILDER_ASSETS nor TEST_ASSET_ETCD is set`);
  assertStringIncludes(absent, "go run sigs.k8s.io/controller-runtime/tools/setup-envtest@latest use");
  const wrong = await start({ HOME: home.path, KUBEBUILDER_ASSETS: home.path }).then(() => "started", String);
  assertStringIncludes(wrong, `there is no file "${home.path}/etcd", which KUBEBUILDER_ASSETS names`);
});

test("a program that starts the embedded server is refused, because the cluster would not be a real one", async () => {
  await using home = await TemporaryFolder.with({});
  await home.write("etcd", "#!/bin/sh\n# Written by controller envtest.\nexec controller __envtest etcd\n");
  const started = RealCluster.start({ assets: home.path, environment: { HOME: home.path }, onError });
  await assertRejects(() => started, /starts the embedded server\. Use EmbeddedCluster/);
});

test("a server that ends early is an error with the end of its log, and its folder is removed", async () => {
  await using home = await TemporaryFolder.with({});
  await home.write("etcd", "#!/bin/sh\necho the disk is full in $(pwd)\nexit 3\n");
  await home.write("kube-apiserver", "program");
  const environment = { HOME: home.path, KUBEBUILDER_ASSETS: home.path };
  const message = await RealCluster.start({ environment, onError }).then(() => "started", String);
  assertStringIncludes(message, "Cannot keep etcd running: exited with code 3");
  const [, used = "/"] = /the disk is full in (\S+)/.exec(message) ?? [];
  await assertRejects(() => stat(used), /ENOENT/);
});

test("USE_EXISTING_CLUSTER uses the cluster of the kubeconfig, and leaves it running", async () => {
  await using home = await TemporaryFolder.with({});
  await using existing = await EmbeddedCluster.start({ workloads: false, onError });
  const KUBECONFIG = await home.write("config", existing.kubeconfig);
  const environment = { HOME: home.path, KUBECONFIG, USE_EXISTING_CLUSTER: "true" };
  {
    await using cluster = await startCluster({ environment, onError });
    assertEquals([cluster.url, cluster.kubeconfig], [existing.url, existing.kubeconfig]);
    await cluster.client.create(builtin.Namespace, { metadata: { name: "kept" }, spec: {} });
  }
  assertEquals((await existing.client.get(builtin.Namespace, "kept")).metadata.name, "kept");
  const map = controller("map").for(builtin.ConfigMap).reconcile(() => Promise.resolve(done));
  const webhooks = [validating(builtin.ConfigMap, { create: () => allow() })];
  const message = await startCluster({ controllers: [{ ...map, webhooks }], environment, onError }).then(
    () => "started",
    String,
  );
  assertStringIncludes(message, "Cannot test webhook /validate--v1-configmap on an existing cluster");
});

test("startCluster() refuses another value of PINTLE_TEST_CLUSTER than embedded and real", async () => {
  const started = startCluster({ environment: { PINTLE_TEST_CLUSTER: "kind" }, onError });
  await assertRejects(() => started, /PINTLE_TEST_CLUSTER is "kind"\. Set it to "embedded" or "real"/);
});
