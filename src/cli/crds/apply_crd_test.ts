import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { CommandError, exitCode } from "../command/exit_code.ts";
import { FakeCrdCluster } from "../testing/fake_crd_cluster.ts";
import { Website } from "../testing/test_kinds.ts";
import { statusResponse } from "../testing/fake_server.ts";
import { applyCrd, type ApplyCrdOptions, type CrdResult } from "./apply_crd.ts";
import { createCrdContext, settled } from "./testing/crd_context.ts";

const { crd } = Website;
const { name } = crd.metadata;
const older = { ...crd, spec: { ...crd.spec, names: { ...crd.spec.names, shortNames: ["ws"] } } };
const defaults: ApplyCrdOptions = { isDryRun: false, forceConflicts: false };

/** Applies the definition. Returns the result and the text on stderr. */
async function apply(
  cluster: FakeCrdCluster,
  options: Partial<ApplyCrdOptions> = {},
): Promise<{ readonly result: CrdResult; readonly stderr: string }> {
  const { context, process } = createCrdContext(cluster.transport);
  const result = await settled(applyCrd(cluster.crd(name), crd, { ...defaults, ...options }, context), process);
  return { result, stderr: process.err };
}

test("applyCrd() creates a missing definition, as its own field manager", async () => {
  const cluster = new FakeCrdCluster();
  const { result, stderr } = await apply(cluster);
  assertEquals([result.change, stderr], ["created", ""]);
  assertEquals(result.name, "customresourcedefinition.apiextensions.k8s.io/websites.example.dev");
  const [write = ""] = cluster.writes;
  assert(write.includes("fieldManager=controller-install-crds"));
  assert(!write.includes("force=true") && !write.includes("dryRun"));
  assertEquals(JSON.stringify(result.object).includes("managedFields"), false);
});

test("[85] applyCrd() reports an equal definition as unchanged, whatever its managedFields are", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(crd);
  const { result } = await apply(cluster);
  assertEquals([result.change, result.changes], ["unchanged", []]);
});

test("[85] applyCrd() configures an older definition and returns the changes", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(older, {}, "controller-install-crds");
  const { result } = await apply(cluster);
  assertEquals([result.change, result.changes], ["configured", [{ path: "spec.names.shortNames", before: ["ws"] }]]);
});

test("[85] applyCrd() sends dryRun=All in a dry run", async () => {
  const cluster = new FakeCrdCluster();
  await apply(cluster, { isDryRun: true });
  assert(cluster.writes[0]?.includes("dryRun=All"));
  assertEquals(cluster.crd(name), undefined);
});

test("[85] applyCrd() retries a conflict of versions, five times at most", async () => {
  const cluster = new FakeCrdCluster();
  let conflicts = 2;
  cluster.intercept = ({ method }) =>
    method === "PATCH" && conflicts-- > 0 ? statusResponse(409, "Conflict", "the object has been modified") : undefined;
  assertEquals((await apply(cluster)).result.change, "created");
  conflicts = Infinity;
  await assertRejects(() => apply(cluster), /has been modified/);
  assertEquals(cluster.writes.length, 3 + 5);
});

test("applyCrd() takes over fields of kubectl, with a message", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(older, {}, "kubectl-edit");
  const { result, stderr } = await apply(cluster);
  assertEquals(result.change, "configured");
  assertEquals(stderr, "controller: websites.example.dev: taking over .spec.versions of kubectl-edit\n");
});

test("applyCrd() fails for fields of another program, unless --force-conflicts is given", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(older, {}, "argocd-controller");
  const error = await assertRejects(
    () => apply(cluster),
    /Cannot install websites\.example\.dev: another program writes \.spec\.versions of argocd-controller/,
  );
  assert(error instanceof CommandError && error.code === exitCode.failed);
  assert(error.advice?.includes("--force-conflicts"));
  assertEquals((await apply(cluster, { forceConflicts: true })).result.change, "configured");
});

test("[84] the error for a missing permission contains the RBAC rule", async () => {
  const cluster = new FakeCrdCluster();
  cluster.intercept = () => statusResponse(403, "Forbidden", 'User "bob" cannot patch');
  const error = await assertRejects(() => apply(cluster), /User "bob" cannot patch/);
  assert(error instanceof CommandError && error.code === exitCode.permission);
  assert(error.advice?.includes('verbs: ["get", "create", "patch"]'));
});
