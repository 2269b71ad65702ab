/**
 * Tests of the control plane itself: it is ready when it reports so, its users have their permissions, its
 * controllers work, and nothing of it remains afterwards.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "../testing.ts";
import { ControlPlane } from "./control_plane.ts";
import { until } from "./poll.ts";
import { isRunning, processIds } from "./processes.ts";
import { controlPlaneTest, createNamespace } from "./test.ts";

controlPlaneTest("a started control plane has its namespaces and its version", async (controlPlane) => {
  const namespaces = await controlPlane.kubectlOutput(["get", "namespaces", "--output=name"]);
  assertStringIncludes(namespaces, "namespace/default\n");
  assertMatch(await controlPlane.kubectlOutput(["version"]), /Server Version: v1\.\d+\.\d+/);
});

controlPlaneTest("the kubeconfig has kind's format, and only its owner can read it", (controlPlane) => {
  const text = readFileSync(controlPlane.kubeconfig, "utf8");
  assertEquals(statSync(controlPlane.kubeconfig).mode & 0o777, 0o600);
  assertEquals(
    text.replaceAll(/-data: .+/g, "-data: DATA"),
    [
      "apiVersion: v1",
      "clusters:",
      "- cluster:",
      "    certificate-authority-data: DATA",
      `    server: ${controlPlane.server}`,
      "  name: kind-pintle",
      "contexts:",
      "- context:",
      "    cluster: kind-pintle",
      "    user: kind-pintle",
      "  name: kind-pintle",
      "current-context: kind-pintle",
      "kind: Config",
      "preferences: {}",
      "users:",
      "- name: kind-pintle",
      "  user:",
      "    client-certificate-data: DATA",
      "    client-key-data: DATA\n",
    ].join("\n"),
  );
});

controlPlaneTest("the token user may do everything, nobody is forbidden, an expired one unauthorized", async (cp) => {
  const get = ["get", "--namespace=kube-system", "configmaps"];
  const token = await cp.kubectl(get, { kubeconfig: await cp.kubeconfigFor({ user: "token" }) });
  assertEquals(token.code, 0, token.stderr);
  const tokenFile = await cp.kubectl(get, { kubeconfig: await cp.kubeconfigFor({ user: "token", tokenFile: true }) });
  assertEquals(tokenFile.code, 0, tokenFile.stderr);
  const nobody = await cp.kubectl(get, { kubeconfig: await cp.kubeconfigFor({ user: "nobody" }) });
  assertStringIncludes(nobody.stderr, `(Forbidden): configmaps is forbidden: User "pintle-nobody" cannot list`);
  const expired = await cp.kubectl(get, { kubeconfig: await cp.kubeconfigFor({ user: "expired" }) });
  assertStringIncludes(expired.stderr, "(Unauthorized)");
});

controlPlaneTest("a kubeconfig with the wrong authority refuses the server", async (controlPlane) => {
  const kubeconfig = await controlPlane.kubeconfigFor({ ca: "wrong" });
  const error = await assertRejects(() => controlPlane.kubectlOutput(["get", "namespaces"], { kubeconfig }));
  assertStringIncludes(error.message, "certificate signed by unknown authority");
});

controlPlaneTest("a service account's token authenticates as that account", async (controlPlane) => {
  const namespace = await createNamespace(controlPlane);
  const token = await controlPlane.kubectlOutput(["create", "token", "default", "--namespace", namespace]);
  const kubeconfig = await controlPlane.kubeconfigFor({ user: "nobody" });
  const who = ["auth", "whoami", "--output=jsonpath={.status.userInfo.username}", "--token", token.trim()];
  const name = await controlPlane.kubectlOutput(who, { kubeconfig });
  assertEquals(name, `system:serviceaccount:${namespace}:default`);
}, { needs: "kube-controller-manager" });

controlPlaneTest("the garbage collector deletes the dependents of a deleted object", async (controlPlane) => {
  const namespace = await createNamespace(controlPlane);
  const owner = ["configmap", "owner", "--namespace", namespace];
  const uid = await controlPlane.kubectlOutput(["create", ...owner, "--output=jsonpath={.metadata.uid}"]);
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  await createObject(controlPlane, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "child", namespace, ownerReferences },
  });
  await createObject(controlPlane, deployment({ name: "child", namespace, ownerReferences }));
  await controlPlane.kubectlOutput(["delete", ...owner]);
  await untilGone(controlPlane, ["configmap", "child", "--namespace", namespace]);
  await untilGone(controlPlane, ["deployment", "child", "--namespace", namespace]);
}, { needs: "kube-controller-manager" });

controlPlaneTest("a Deployment gets its ReplicaSet and Pods", async (controlPlane) => {
  const namespace = await createNamespace(controlPlane);
  await createObject(controlPlane, deployment({ name: "web", namespace }));
  await until('see a Pod of Deployment "web"', async () => {
    const pods = await controlPlane.kubectlOutput(["get", "pods", "--namespace", namespace, "--output=name"]);
    return pods.startsWith("pod/web-") ? { kind: "found", value: pods } : { kind: "pending", state: "there was none" };
  });
}, { needs: "kube-controller-manager" });

controlPlaneTest("a deleted namespace is removed with its objects", async (controlPlane) => {
  const namespace = await createNamespace(controlPlane);
  await createObject(controlPlane, deployment({ name: "web", namespace }));
  await controlPlane.kubectlOutput(["delete", "namespace", namespace, "--wait=false"]);
  await untilGone(controlPlane, ["namespace", namespace]);
}, { needs: "kube-controller-manager" });

controlPlaneTest("an attached control plane cannot be stopped", async (controlPlane) => {
  await assertRejects(() => controlPlane.stopApiServer(), /^Cannot stop kube-apiserver: another process owns/);
});

controlPlaneTest("a restarted API server keeps its port and its data", async (controlPlane) => {
  await controlPlane.kubectlOutput(["create", "configmap", "kept"]);
  await controlPlane.stopApiServer();
  assertStringIncludes((await controlPlane.kubectl(["get", "configmap", "kept"])).stderr, "connection refused");
  await controlPlane.startApiServer();
  await controlPlane.kubectlOutput(["get", "configmap", "kept"]);
}, { own: {} });

controlPlaneTest("a flag replaces the harness's own", async (controlPlane) => {
  const kubeconfig = await controlPlane.kubeconfigFor({ user: "nobody" });
  await controlPlane.kubectlOutput(["get", "namespaces"], { kubeconfig });
}, { own: { apiServerArgs: ["--authorization-mode=AlwaysAllow"] } });

controlPlaneTest("a server that ends early is an error with the end of its log", async (controlPlane) => {
  const { binaries } = controlPlane.description;
  const start = () => ControlPlane.start({ binaries, apiServerArgs: ["--no-such-flag=1"] });
  const error = await assertRejects(start, /^Cannot keep kube-apiserver running: exited with code 1/);
  assertStringIncludes(error.message, "unknown flag: --no-such-flag");
});

controlPlaneTest("disposing leaves no process and no folder", async (shared) => {
  const controlPlane = await ControlPlane.start({ binaries: shared.description.binaries });
  const pids = processIds(controlPlane.dir);
  assert(pids.length >= 2 && pids.every(isRunning), "etcd and kube-apiserver should run");
  await controlPlane[Symbol.asyncDispose]();
  assertEquals(pids.filter(isRunning), []);
  assertEquals(existsSync(controlPlane.dir), false);
});

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly ownerReferences?: readonly unknown[];
}

function deployment(metadata: Metadata): unknown {
  const labels = { app: metadata.name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "none.invalid/none" }] } };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { selector: { matchLabels: labels }, template } };
}

async function createObject(controlPlane: ControlPlane, object: unknown): Promise<void> {
  await controlPlane.kubectlOutput(["create", "--filename=-"], { stdin: JSON.stringify(object) });
}

async function untilGone(controlPlane: ControlPlane, object: readonly string[]): Promise<void> {
  await until(`see ${object.join(" ")} deleted`, async () => {
    const { stdout, stderr } = await controlPlane.kubectl(["get", ...object]);
    return stderr.includes("(NotFound)") ? { kind: "found", value: true } : { kind: "pending", state: stdout + stderr };
  });
}
