/**
 * `replay` with compiled binaries: a recording of a real run on a real control plane, with hand edits and failures, is
 * replayed by the build that was recorded, and by one in which one line of a controller is another.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { RecordFolder } from "../../src/cli/recording/testing/record_folder.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { ChangedBuild } from "./_changed_build.ts";
import { TestNamespace } from "./_cluster.ts";

/** The names of the objects that are not in the namespace. */
interface Names {
  readonly node: string;
  readonly pool: string;
  readonly machine: string;
}

function samples({ node, pool, machine }: Names): readonly object[] {
  const foo = (name: string, deploymentName: string, replicas: number) => ({
    apiVersion: "samplecontroller.k8s.io/v1alpha1",
    kind: "Foo",
    metadata: { name },
    spec: { deploymentName, replicas },
  });
  return [
    foo("a", "web", 2),
    foo("b", "api", 1),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "shop", annotations: { "ingress/http": "shop.example.com/cart" } },
      spec: { selector: { app: "shop" }, ports: [{ port: 80 }] },
    },
    { apiVersion: "v1", kind: "Node", metadata: { name: node, labels: { [`node-role.kubernetes.io/${pool}`]: "" } } },
    {
      apiVersion: "nodes.lailin.xyz/v1",
      kind: "NodePool",
      metadata: { name: pool },
      spec: { labels: { [pool]: "ssd" } },
    },
    { apiVersion: "hopegi.com/v1", kind: "EcsBinding", metadata: { name: machine }, spec: { nodename: node } },
  ];
}

/** What users do while the controllers run: hand edits, deletions, and a Foo that wants what another one has. */
async function disturb(namespace: TestNamespace, { node, pool, machine }: Names): Promise<void> {
  const { metadata: { resourceVersion } } = await namespace.eventually(
    "deployment/web",
    ({ spec }) => spec?.replicas === 2,
  );
  await namespace.eventually("deployment/api", () => true);
  await namespace.eventually("ingress/shop", () => true);
  await namespace.eventually(`node/${node}`, ({ metadata: { labels = {} } }) => labels[pool] === "ssd");
  await namespace.eventually(
    `ecsbinding/${machine}`,
    ({ metadata: { labels } }) => labels?.["hopegi.com/node"] === node,
  );
  await namespace.applyFoo({ name: "thief", deploymentName: "web", replicas: 1 });
  await namespace.eventuallyEvent("Foo", "thief", "ErrResourceExists");
  const patch = ["patch", "deployment/web", "--type=merge", "--field-manager=kubectl-edit"];
  await namespace.kubectl([...patch, '-p={"spec":{"replicas":5}}']);
  await namespace.eventually(
    "deployment/web",
    ({ metadata, spec }) => spec?.replicas === 2 && metadata.resourceVersion !== resourceVersion,
  );
  const { metadata: { uid } } = await namespace.eventually("deployment/api", () => true);
  await namespace.kubectl(["delete", "deployment/api"]);
  await namespace.eventually("deployment/api", ({ metadata }) => metadata.uid !== uid);
  await namespace.kubectl(["annotate", "service/shop", "ingress/http-", "--field-manager=kubectl-edit"]);
  await namespace.gone("ingress/shop");
  await namespace.kubectl(["patch", "foo/b", "--type=json", '-p=[{"op":"remove","path":"/spec/replicas"}]']);
  await namespace.kubectl(["scale", "deployment/api", "--replicas=3"]);
  await namespace.eventually("deployment/api", ({ spec }) => spec?.replicas === 3);
  await namespace.kubectl(["delete", "foo/thief"]);
  await namespace.kubectl(["delete", `nodepool/${pool}`]);
  await namespace.gone(`nodepool/${pool}`);
}

/** Runs all controllers, records them in `path`, and ends them with a signal. */
async function record(controlPlane: ControlPlane, namespace: TestNamespace, path: string): Promise<void> {
  const suffix = randomBytes(4).toString("hex");
  const names = { node: `node-${suffix}`, pool: `pool-${suffix}`, machine: `machine-${suffix}` };
  const args = ["run", "--all", "-n", namespace.name, "--record", path];
  await using binary = new Binary(args, { kubeconfig: controlPlane.kubeconfig });
  await binary.logged(/starting workers/);
  const items = { apiVersion: "v1", kind: "List", items: samples(names) };
  try {
    await namespace.kubectl(["apply", "-f", "-"], JSON.stringify(items));
    await disturb(namespace, names);
  } finally {
    await namespace.kubectl([
      ...["delete", "--ignore-not-found", "--wait=false", `node/${names.node}`],
      ...[`ecsbinding/${names.machine}`, `nodepool/${names.pool}`],
    ]);
  }
  await until("see the deletion of the machine in the recording", async () => {
    const text = await readFile(path, "utf8");
    const isSeen = text.split("\n").some((line) => line.includes('"change":"deleted"') && line.includes(names.machine));
    return isSeen ? { kind: "found", value: undefined } : { kind: "pending", state: `${text.length} bytes` };
  });
  binary.signal("SIGTERM");
  assertEquals((await binary.ended()).code, 0);
}

controlPlaneTest(
  "[136] a recording of a real run replays with the same writes; a changed line is found by replay and plan",
  async (controlPlane) => {
    const { kubeconfig } = controlPlane;
    assertEquals((await runBinary(["install-crds"], { kubeconfig })).code, 0);
    const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
    await using folder = await RecordFolder.make();
    await record(controlPlane, namespace, folder.path);

    const same = await runBinary(["replay", folder.path]);
    assertEquals([same.code, same.stdout], [0, ""], same.stderr);
    assertMatch(same.stderr, /controller: replay: \d{2,} reconciles do the same(, \d+ had not ended)?\n$/);
    const document = JSON.parse((await runBinary(["replay", folder.path, "-o", "json"])).stdout);
    assertEquals(document.controllers.length, 5);
    assertEquals(document.reconciles.notCompared, 0);
    const entries = (await readFile(folder.path, "utf8")).trimEnd().split("\n").slice(1).map((line) =>
      JSON.parse(line)
    );
    const writers = new Set(entries.filter(({ kind }) => kind === "write").map(({ controller }) => controller));
    assertEquals([...writers].sort(), ["ecsbinding", "foo", "ingress", "nodepool"]);
    assert(entries.some(({ kind, outcome }) => kind === "reconcile-end" && outcome === "failed"));

    await using changed = await ChangedBuild.compile({
      file: "src/controllers/foo/desired.ts",
      from: 'image: "nginx:latest"',
      to: 'image: "nginx:1.29"',
    });
    const other = await changed.run(["replay", folder.path]);
    assertEquals(other.code, 2, other.stderr);
    assertMatch(
      other.stdout,
      new RegExp(
        `^\\S+Z foo ${namespace.name}/[ab]: this build writes something else: apply deployments\\.apps ${namespace.name}/(web|api) \\(entry \\d+\\)\\n  because `,
      ),
    );
    assertStringIncludes(other.stdout, "-        - image: nginx:latest\n+        - image: nginx:1.29\n");
    const others = await changed.run(["replay", folder.path, "--controllers", "nodepool", "--controllers", "ingress"]);
    assertEquals([others.code, others.stdout], [0, ""], others.stderr);
    const planned = await changed.run(["plan", "foo", "-n", namespace.name], kubeconfig);
    assertEquals(planned.code, 2, planned.stderr);
    assertStringIncludes(planned.stdout, "image: nginx:1.29\n");
  },
);
