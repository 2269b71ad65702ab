/**
 * Tests of the Nodes themselves: a Pod becomes ready, is reached through its Service's address, and its logs and programs
 * are reached through kubelet.
 */
import { assertEquals, assertStringIncludes } from "../testing.ts";
import { kubernetesVersion } from "../controlplane/build.ts";
import { until } from "../controlplane/poll.ts";
import { nginxImage } from "./images.ts";
import { realNodeTest, uniqueName } from "./test.ts";

realNodeTest("Nodes run the version of the control plane, and a Pod on each becomes ready", async (node) => {
  const { controlPlane, description: { machines } } = node;
  const { major, minor, patch } = kubernetesVersion();
  const versions = await controlPlane.kubectlOutput([
    ...[
      "get",
      "nodes",
      "--output=jsonpath={range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion}{'\\n'}{end}",
    ],
  ]);
  assertEquals(versions.trim().split("\n"), machines.map(({ name }) => `${name} v${major}.${minor}.${patch}`));
  const name = uniqueName("plain");
  await controlPlane.kubectlOutput(["create", "namespace", name]);
  const inside = ["--namespace", name];
  await controlPlane.kubectlOutput(["apply", "--filename=-"], { stdin: JSON.stringify(webOnEachNode(name)) });
  await controlPlane.kubectlOutput(["rollout", "status", "daemonset/web", ...inside, "--timeout=300s"]);
  const pods = await controlPlane.kubectlOutput([
    "get",
    "pods",
    ...inside,
    "--output=jsonpath={.items[*].metadata.name}",
  ]);
  const [first = "", second = ""] = pods.split(" ");
  // From a Pod to the Service's address, which kube-proxy leads to one of the Pods.
  const ip = await controlPlane.kubectlOutput([
    "get",
    "service",
    "web",
    ...inside,
    "--output=jsonpath={.spec.clusterIP}",
  ]);
  const connect = ["exec", ...inside, first, "--", "/program", "connect", `${ip}:80`];
  // Pods are ready a moment before kube-proxy has read it.
  await until("connect to the Service", async () => {
    const { code, stderr } = await controlPlane.kubectl(connect);
    return code === 0 ? { kind: "found", value: true } : { kind: "pending", state: stderr.trim() };
  });
  const seen = new Set<string>();
  for (let count = 0; count < 20; count++) seen.add((await controlPlane.kubectlOutput(connect)).trim());
  assertEquals([...seen], [""], "connect prints nothing when it could connect");
  const proxied = await controlPlane.kubectlOutput([
    "get",
    "--raw",
    `/api/v1/namespaces/${name}/pods/${second}:80/proxy/hostname`,
  ]);
  assertEquals(proxied, second);
  assertStringIncludes(await controlPlane.kubectlOutput(["logs", ...inside, second]), "GET /hostname");
  await controlPlane.kubectlOutput(["delete", "namespace", name]);
});

function webOnEachNode(namespace: string): unknown {
  const labels = { app: "web" };
  const metadata = { name: "web", namespace };
  const container = { name: "web", image: nginxImage, ports: [{ containerPort: 80 }] };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const items = [
    { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: { selector: { matchLabels: labels }, template } },
    { apiVersion: "v1", kind: "Service", metadata, spec: { selector: labels, ports: [{ port: 80 }] } },
  ];
  return { apiVersion: "v1", kind: "List", items };
}
