/**
 * run --shards with three processes of the compiled binary on a real control plane: all of them work, each object is written
 * by one of them, and the others take the part of one that is killed. The writes are counted by proxies in front of the
 * server.
 */
import { assert, assertEquals } from "../testing.ts";
import { createdBy, workOf } from "./_election_record.ts";
import { electionTest } from "./_elections.ts";
import { isDeploymentChange, type Replica, Replicas } from "./_replicas.ts";

const count = 40;
const names: readonly string[] = Array.from({ length: count }, (_, index) => `foo-${index}`);

async function applyFoos(replicas: Replicas, scale: number): Promise<void> {
  const items = names.map((name) => ({
    apiVersion: "samplecontroller.k8s.io/v1alpha1",
    kind: "Foo",
    metadata: { name },
    spec: { deploymentName: name, replicas: scale },
  }));
  await replicas.namespace.kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  for (const name of names) {
    await replicas.namespace.eventually(`deployment/${name}`, ({ spec }) => spec?.replicas === scale);
  }
}

/** The Deployments that a replica has changed to `scale` replicas. */
function scaledBy({ requests }: Replica, scale: number): readonly string[] {
  return requests.filter((request) => isDeploymentChange(request) && request.body.includes(`"replicas":${scale}`))
    .map(({ path }) => /deployments\/([a-z0-9-]+)/.exec(path)?.[1] ?? "");
}

electionTest("three replicas divide the objects, and two take the part of one that is killed", async (controlPlane) => {
  await using replicas = await Replicas.in(controlPlane, { divide: "--shards=auto" });
  await Promise.all([replicas.start(), replicas.start(), replicas.start()]);
  await applyFoos(replicas, 1);
  await replicas.quiet();
  assertEquals(createdBy(replicas.all, "deployments"), count, "each Deployment is created once");
  assert(replicas.all.every((replica) => createdBy([replica], "deployments") > 0), "each replica works");

  const [killed, ...others] = replicas.all;
  assert(killed !== undefined);
  killed.binary.signal("SIGKILL");
  await killed.binary.ended();
  const before = workOf([killed]).length;
  await applyFoos(replicas, 2);
  await replicas.quiet();
  const scaled = others.map((replica) => scaledBy(replica, 2));
  assertEquals(scaled.flat().toSorted(), names.toSorted(), "each Deployment is changed once");
  assert(scaled.every((own) => own.length > 0), "both work");
  assertEquals(workOf([killed]).length, before);
});
