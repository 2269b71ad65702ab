/**
 * install-crds on a real API server whose CRD differs from the binary's: an older, a wider, a newer, and a foreign one.
 * The first installation is tested in cli_test.ts.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../testing.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { Binary, type Ending, runBinary } from "./_binary.ts";
import {
  definitionOf,
  ecsb,
  ecsbLine,
  installOther,
  makeObjects,
  otherVersion,
  ownDefinition,
  removeDefinition,
  storedIn,
} from "./_definitions.ts";
import { ApiProxy, type RequestMatch } from "./_proxy.ts";

async function install(kubeconfig: string, ...args: readonly string[]): Promise<Ending> {
  return await runBinary(["install-crds", "ecsbinding", ...args], { kubeconfig });
}

controlPlaneTest("--diff prints changed fields with - and +, and nothing if all are equal", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  await installOther(controlPlane, (own) => otherVersion(own, { schema: (text) => text.replace("inside", "outside") }));
  const { code, stdout, stderr } = await install(kubeconfig, "--diff");
  assertEquals([code, stderr], [0, `controller: ${ecsb}: would take over .spec.versions of kubectl\n`]);
  const path = "spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.innerip.description";
  assertEquals(stdout.split("\n"), [
    `--- ${ecsbLine} (cluster)`,
    `+++ ${ecsbLine} (this program)`,
    `- ${path}: "Address of the machine outside the cloud."`,
    `+ ${path}: "Address of the machine inside the cloud."`,
    "",
  ]);
  assertStringIncludes(JSON.stringify(await definitionOf(controlPlane)), "outside");
  assertEquals((await install(kubeconfig)).code, 0);
  assertEquals(await install(kubeconfig, "--diff"), { code: 0, stdout: "", stderr: "" });
});

controlPlaneTest(
  "a CRD that would break stored objects is refused, and the objects are named",
  async (controlPlane) => {
    const { kubeconfig } = controlPlane;
    const color = '"id":{"description":"ID of the machine in the cloud.","type":"string"}';
    await installOther(controlPlane, (own) => {
      const schema = (text: string) => text.replace(color, `${color},"color":{"type":"string"}`);
      return otherVersion(own, { schema });
    });
    await makeObjects(controlPlane, "v1", { plain: { id: "i-1" }, red: { id: "i-2", color: "red" } });
    const before = await definitionOf(controlPlane);
    const refused = await install(kubeconfig);
    assertEquals([refused.code, refused.stdout], [1, ""]);
    assertEquals(
      refused.stderr,
      `controller: Cannot install ${ecsb}: 1 of 2 stored objects would break: red: spec.color is "red" and would be lost. ` +
        `Change them first, for example: kubectl edit ${ecsb} red; or --allow-breaking\n`,
    );
    assertEquals(await definitionOf(controlPlane), before);
    assertEquals((await install(kubeconfig, "--dry-run=server")).code, 1);
    await controlPlane.kubectlOutput(["patch", ecsb, "red", "--type=merge", "--patch", '{"spec":{"color":null}}']);
    assertEquals((await install(kubeconfig)).code, 0);
    assertEquals(await storedIn(controlPlane), { plain: "hopegi.com/v1", red: "hopegi.com/v1" });
  },
);

controlPlaneTest("--allow-breaking installs it and names what breaks", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  const wider = '"spec":{"properties":{"zone":{"type":"string"},';
  await installOther(controlPlane, (own) => {
    return otherVersion(own, { schema: (text) => text.replace('"spec":{"properties":{', wider) });
  });
  await makeObjects(controlPlane, "v1", { a: { id: "i-1", zone: "b" } });
  const { code, stderr } = await install(kubeconfig, "--allow-breaking");
  assertEquals(code, 0, stderr);
  assertMatch(stderr, /v1: spec\.zone is removed: stored values would be lost/);
});

controlPlaneTest("an older program does not replace a newer CRD", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  await installOther(controlPlane, (own) => {
    const annotations = { ...own.metadata.annotations, "pintle.dev/installed-by": "controller/99.0.0" };
    const other = otherVersion(own, { schema: (text) => text.replace("inside", "within") });
    return { ...other, metadata: { ...own.metadata, annotations } };
  });
  const refused = await install(kubeconfig);
  assertEquals(refused.code, 1);
  assertMatch(
    refused.stderr,
    /^controller: Cannot install .*: controller 99\.0\.0 installed the one in the cluster, this is /,
  );
  assertEquals((await install(kubeconfig, "--allow-downgrade")).code, 0);
  await installOther(controlPlane, (own) => otherVersion(own, { name: "v2" }));
  assertMatch((await install(kubeconfig)).stderr, /has version v2, which this program \(v1\) does not know/);
});

controlPlaneTest("fields of another program stay, unless --force-conflicts is set", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  await removeDefinition(controlPlane);
  const other = otherVersion(await ownDefinition(), { schema: (text) => text.replace("inside", "within") });
  const apply = ["apply", "--server-side", "--field-manager=argocd-controller", "--filename=-"];
  await controlPlane.kubectlOutput(apply, { stdin: JSON.stringify(other) });
  const refused = await install(kubeconfig);
  assertEquals(refused.code, 1);
  assertMatch(refused.stderr, /another program writes \.spec\.versions of argocd-controller\. .*--force-conflicts\n$/);
  assertEquals((await install(kubeconfig, "--force-conflicts")).code, 0);
});

controlPlaneTest("a version that clients use is not removed before it was deprecated", async (controlPlane) => {
  await installOther(controlPlane, (own) => otherVersion(own, { name: "v1beta1" }));
  const refused = await install(controlPlane.kubeconfig);
  assertEquals(refused.code, 1);
  assertMatch(
    refused.stderr,
    /version v1beta1 is removed: clients may use it\. Keep that version and mark it deprecated/,
  );
});

const isCrdWrite: RequestMatch = ({ method, path }) => method !== "GET" && path.includes("/customresourcedefinitions/");
const isStatusWrite: RequestMatch = (request) => isCrdWrite(request) && request.path.includes("/status");
const isApply: RequestMatch = (request) => isCrdWrite(request) && request.path.includes("fieldManager=");
const isMark: RequestMatch = (request) => isCrdWrite(request) && !isStatusWrite(request) && !isApply(request);
const isRewrite: RequestMatch = ({ method, path }) => method === "PATCH" && path.includes("/ecsbinding/");

controlPlaneTest(
  "objects in an old version are rewritten and the version is removed, even if runs are killed at any point",
  async (controlPlane) => {
    await installOther(controlPlane, (own) => otherVersion(own, { name: "v1beta1", deprecated: true }));
    const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
    await makeObjects(controlPlane, "v1beta1", Object.fromEntries(names.map((name) => [name, { id: name }])));
    assertEquals(new Set(Object.values(await storedIn(controlPlane))), new Set(["hopegi.com/v1beta1"]));
    await using proxy = await ApiProxy.start(controlPlane);
    const points: readonly (readonly [string, RequestMatch, "request" | "response"])[] = [
      // The held request reaches the server after the process is dead.
      ["with the first definition on its way", isApply, "request"],
      ["after the first definition", isApply, "response"],
      ["with the mark on its way", isMark, "request"],
      ["in the midst of the objects", (request) => isRewrite(request) && request.path.includes("/m2"), "response"],
      ["after storedVersions", isStatusWrite, "response"],
    ];
    for (const [what, matches, side] of points) {
      await using binary = new Binary(["install-crds", "ecsbinding"], { kubeconfig: proxy.kubeconfig });
      const hold = proxy.hold(matches, side);
      const ending = binary.ended().then(({ code, stderr }) => `it ended with ${code}: ${stderr}`);
      assertEquals(await Promise.race([hold.arrived.then(() => "held"), ending]), "held", what);
      binary.signal("SIGKILL");
      await ending;
      hold.release();
    }
    const { code, stderr } = await install(controlPlane.kubeconfig);
    assertEquals(code, 0, stderr);
    const { metadata, spec, status } = await definitionOf(controlPlane);
    assertEquals(spec.versions.map(({ name }) => name), ["v1"]);
    assertEquals(status?.storedVersions, ["v1"]);
    assertEquals(Object.keys(metadata.annotations ?? {}), ["pintle.dev/installed-by"]);
    const stored = await storedIn(controlPlane);
    assertEquals(Object.keys(stored).sort(), names.toSorted());
    assertEquals(new Set(Object.values(stored)), new Set(["hopegi.com/v1"]));
    // A later run does not rewrite the same objects: a mark stores the progress.
    const rewrites = proxy.requests.filter((request) => isRewrite(request) && request.response?.status === 200).length;
    assert(rewrites <= names.length + 16, `${rewrites} objects were rewritten`);
    await removeDefinition(controlPlane);
    assertEquals((await install(controlPlane.kubeconfig)).stdout, `${ecsbLine} created\n`);
  },
);
