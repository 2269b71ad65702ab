/** The candidate of a coordinated election, with a test that plays the part of the API server which chooses the leader. */
import { CustomResourceDefinition, type KubeObject, Lease, type Resource } from "../../src/mod.ts";
import { LeaderElector } from "../../src/client.ts";
import { World } from "../../src/testing.ts";
import { assertEquals, test } from "../testing.ts";

interface Candidate extends KubeObject {
  readonly spec: { readonly binaryVersion: string; readonly pingTime?: string; readonly renewTime?: string };
}

const LeaseCandidate: Resource<Candidate> = {
  group: "coordination.k8s.io",
  version: "v1beta1",
  kind: "LeaseCandidate",
  plural: "leasecandidates",
  scope: "Namespaced",
};

/** A server with the kind, which is a CRD here. */
async function startServer(): Promise<World> {
  const world = await World.start({ controllers: [], cluster: false });
  const { group, version, kind, plural } = LeaseCandidate;
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    },
  } as const;
  const annotations = { "api-approved.kubernetes.io": "https://example.invalid/kep" };
  await world.create(CustomResourceDefinition, {
    name: `${plural}.${group}`,
    annotations,
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  });
  await world.settled();
  return world;
}

test("a candidate answers the server also when its clock is behind, leads when it is chosen, and leaves no candidate", async () => {
  await using world = await startServer();
  const { client, clock } = world;
  const elector = new LeaderElector({
    ...{ client, clock, namespace: "default", name: "operator", identity: "a" },
    coordinated: { binaryVersion: "1.4.0" },
  });
  const stop = new AbortController();
  const acquiring = elector.acquire(stop.signal);
  await world.clock.advance(10_000);
  assertEquals([elector.state.kind, world.find(Lease, "default/operator")], ["standby", undefined]);
  assertEquals(world.get(LeaseCandidate, "default/a").spec.binaryVersion, "1.4.0");

  const pingTime = new Date(clock.now() + 2_000).toISOString().replace("Z", "000Z");
  await client.patch(LeaseCandidate, "default/a", { kind: "merge", value: { spec: { pingTime } } });
  await world.clock.advance(1_000);
  assertEquals(world.get(LeaseCandidate, "default/a").spec.renewTime, pingTime);

  await world.create(Lease, { name: "operator", spec: { holderIdentity: "a", leaseDurationSeconds: 5 } });
  await world.clock.advance(2_000);
  assertEquals(elector.state.kind, "leading");
  const leadership = await acquiring;
  await leadership.release();
  assertEquals(world.get(Lease, "default/operator").spec.holderIdentity, "");
  assertEquals(world.find(LeaseCandidate, "default/a"), undefined);
});
