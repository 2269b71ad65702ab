import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { CommandError, exitCode } from "../command/exit_code.ts";
import { FakeCrdCluster } from "../testing/fake_crd_cluster.ts";
import { Website } from "../testing/test_kinds.ts";
import { failed } from "../testing/fake_server.ts";
import { applyCrd, type ApplyCrdOptions, type CrdResult } from "./apply_crd.ts";
import { createCrdContext, settled } from "./testing/crd_context.ts";

const { crd } = Website;
const { name } = crd.metadata;
const older = { ...crd, spec: { ...crd.spec, names: { ...crd.spec.names, shortNames: ["ws"] } } };
const calm: ApplyCrdOptions = { isDryRun: false, forceConflicts: false };

/** What applying gives, and what was said on stderr. */
async function apply(
  cluster: FakeCrdCluster,
  options: Partial<ApplyCrdOptions> = {},
): Promise<{ readonly result: CrdResult; readonly said: string }> {
  const { work, process } = createCrdContext(cluster.transport);
  const result = await settled(applyCrd(cluster.crd(name), crd, { ...calm, ...options }, work), process);
  return { result, said: process.err };
}

test("applyCrd() creates a definition that is not there, as its own field manager", async () => {
  const cluster = new FakeCrdCluster();
  const { result, said } = await apply(cluster);
  assertEquals([result.change, said], ["created", ""]);
  assertEquals(result.name, "customresourcedefinition.apiextensions.k8s.io/websites.example.dev");
  const [write = ""] = cluster.writes;
  assert(write.includes("fieldManager=controller-install-crds"));
  assert(!write.includes("force=true") && !write.includes("dryRun"));
  assertEquals(JSON.stringify(result.object).includes("managedFields"), false);
});

test("[85] applying what is there already is unchanged, whatever the server's bookkeeping says", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(crd);
  const { result } = await apply(cluster);
  assertEquals([result.change, result.changes], ["unchanged", []]);
});

test("[85] an older definition is configured, and what changes is known", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(older, {}, "controller-install-crds");
  const { result } = await apply(cluster);
  assertEquals([result.change, result.changes], ["configured", [{ path: "spec.names.shortNames", before: ["ws"] }]]);
});

test("[85] a dry run says so to the server", async () => {
  const cluster = new FakeCrdCluster();
  await apply(cluster, { isDryRun: true });
  assert(cluster.writes[0]?.includes("dryRun=All"));
  assertEquals(cluster.crd(name), undefined);
});

test("[85] a conflict of versions is retried, five times at most", async () => {
  const cluster = new FakeCrdCluster();
  let conflicts = 2;
  cluster.intercept = ({ method }) =>
    method === "PATCH" && conflicts-- > 0 ? failed(409, "Conflict", "the object has been modified") : undefined;
  assertEquals((await apply(cluster)).result.change, "created");
  conflicts = Infinity;
  await assertRejects(() => apply(cluster), /has been modified/);
  assertEquals(cluster.writes.length, 3 + 5);
});

test("fields that a person wrote with kubectl are taken over, and that is said", async () => {
  const cluster = new FakeCrdCluster();
  cluster.install(older, {}, "kubectl-edit");
  const { result, said } = await apply(cluster);
  assertEquals(result.change, "configured");
  assertEquals(said, "controller: websites.example.dev: taking over .spec.versions of kubectl-edit\n");
});

test("fields that another program writes are left to it, unless force says otherwise", async () => {
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

test("[84] a missing permission says which rule is needed", async () => {
  const cluster = new FakeCrdCluster();
  cluster.intercept = () => failed(403, "Forbidden", 'User "bob" cannot patch');
  const error = await assertRejects(() => apply(cluster), /User "bob" cannot patch/);
  assert(error instanceof CommandError && error.code === exitCode.permission);
  assert(error.advice?.includes('verbs: ["get", "create", "patch"]'));
});
