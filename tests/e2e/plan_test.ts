/** plan with the compiled binary on a real control plane: what it shows, that it only reads, and which permissions it needs. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { type ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../testing.ts";
import { runBinary } from "./_binary.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";
import { ApiProxy } from "./_proxy.ts";
import { grant, type PolicyRule } from "./_rbac.ts";

/** A namespace with two Foos whose Deployments are up to date. */
async function prepared(controlPlane: ControlPlane): Promise<TestNamespace> {
  await installFoo(controlPlane);
  const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
  for (const name of ["a", "b"]) await namespace.applyFoo({ name, deploymentName: name, replicas: 0 });
  const args = ["run", "foo", "--once", "-n", namespace.name];
  const { code, stderr } = await runBinary(args, { kubeconfig: controlPlane.kubeconfig });
  assertEquals(code, 0, stderr);
  return namespace;
}

/** A kubeconfig of an account that may only read, and only what the rules name. */
async function reader(
  controlPlane: ControlPlane,
  namespace: string,
  rules: readonly PolicyRule[],
  baseKubeconfig: string,
): Promise<string> {
  const name = `reader-${randomBytes(4).toString("hex")}`;
  const metadata = { name, namespace };
  const rbac = "rbac.authorization.k8s.io";
  return await grant(controlPlane, [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", ...metadata }],
    },
  ] as never, baseKubeconfig);
}

const verbs = ["get", "list", "watch"];
const foos: PolicyRule = { apiGroups: ["samplecontroller.k8s.io"], resources: ["foos"], verbs };
const deployments: PolicyRule = { apiGroups: ["apps"], resources: ["deployments"], verbs };

controlPlaneTest(
  "[126] plan with a read-only Role shows the repairs of run, and sends only GET",
  async (controlPlane) => {
    const namespace = await prepared(controlPlane);
    await using proxy = await ApiProxy.start(controlPlane);
    const kubeconfig = await reader(controlPlane, namespace.name, [foos, deployments], proxy.kubeconfig);
    const plan = (...args: readonly string[]) =>
      runBinary(["plan", "foo", "-n", namespace.name, ...args], { kubeconfig });
    const nothing = await plan();
    assertEquals([nothing.code, nothing.stdout], [0, ""], nothing.stderr);
    assertMatch(nothing.stderr, /may not read foos\.samplecontroller\.k8s\.io: the plan assumes the definitions/);

    await namespace.kubectl(["scale", "deployment/a", "--replicas=3"]);
    await namespace.kubectl(["delete", "deployment/b"]);
    const before = await namespace.find("deployment/a");
    assert(before !== undefined);
    const drifted = await plan();
    assertEquals(drifted.code, 2, drifted.stderr);
    assertStringIncludes(drifted.stdout, `# foo: Foo ${namespace.name}/a\n# update Deployment ${namespace.name}/a\n`);
    assertStringIncludes(drifted.stdout, "-  replicas: 3\n+  replicas: 0\n");
    assertStringIncludes(drifted.stdout, `# create Deployment ${namespace.name}/b\n`);
    assertMatch(drifted.stderr, /plan: 1 to update, 1 to create\n$/);
    assertEquals(
      (await plan("-o", "name")).stdout,
      [
        `update Deployment ${namespace.name}/a\n`,
        `create Deployment ${namespace.name}/b\n`,
      ].join(""),
    );
    assertEquals(proxy.writes, []);
    // Not its resourceVersion: the server's own controllers write the status.
    assertEquals((await namespace.find("deployment/a"))?.metadata.generation, before.metadata.generation);

    const run = ["run", "foo", "--once", "-n", namespace.name];
    assertEquals((await runBinary(run, { kubeconfig: controlPlane.kubeconfig })).code, 0);
    assertEquals((await namespace.find("deployment/a"))?.spec?.replicas, 0, "run did what the plan said");
    assertEquals((await plan()).code, 0, "nothing is left");
  },
);

controlPlaneTest("[126] plan without a permission names the kind and the rule of the Role", async (controlPlane) => {
  const namespace = await prepared(controlPlane);
  const base = await controlPlane.kubeconfigFor({ user: "token" });
  const kubeconfig = await reader(controlPlane, namespace.name, [foos], base);
  const { code, stderr } = await runBinary(["plan", "foo", "-n", namespace.name], { kubeconfig });
  assertEquals(code, 4, stderr);
  assertStringIncludes(
    stderr,
    `Cannot plan controller "foo": this user may not list deployments.apps in namespace "${namespace.name}". ` +
      `Give the user a Role in ${namespace.name} with: apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list"]`,
  );
});

controlPlaneTest("plan --files, and --against the plan of another state", async (controlPlane) => {
  const namespace = await prepared(controlPlane);
  const { kubeconfig } = controlPlane;
  const plan = (...args: readonly string[]) =>
    runBinary(["plan", "foo", "-n", namespace.name, ...args], { kubeconfig });
  const running = join(controlPlane.dir, `running-${randomBytes(4).toString("hex")}.json`);
  writeFileSync(running, (await plan("-o", "json")).stdout);
  const file = running.replace("running", "foo");
  const foo = {
    apiVersion: "samplecontroller.k8s.io/v1alpha1",
    kind: "Foo",
    metadata: { name: "a", namespace: namespace.name },
    spec: { deploymentName: "a", replicas: 2 },
  };
  writeFileSync(file, JSON.stringify(foo));
  const changed = await plan("--files", file, "--against", running, "-o", "name");
  assertEquals([changed.code, changed.stdout], [
    2,
    `update Deployment ${namespace.name}/a\nupdate Foo ${namespace.name}/a\n`,
  ], changed.stderr);
  writeFileSync(file, JSON.stringify({ ...foo, metadata: { ...foo.metadata, name: "c" } }));
  const taken = await plan("--files", file, "--against", running);
  assertEquals(taken.code, 1, taken.stdout);
  assertMatch(taken.stderr, /Cannot plan everything: foo test-\w+\/c would fail: /);
  assert(taken.stdout.includes("ErrResourceExists"), taken.stdout);
});
