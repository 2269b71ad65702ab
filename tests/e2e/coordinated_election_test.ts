/**
 * Coordinated leader election on a real kube-apiserver with its gate: the server chooses the oldest version among the
 * candidates, and the replicas follow it.
 */
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { LeaderElector, type Leadership, type LeaseLoss } from "../../src/manager/mod.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assertEquals } from "../testing.ts";

const gate = [
  "--feature-gates=CoordinatedLeaderElection=true",
  "--runtime-config=coordination.k8s.io/v1beta1=true",
];

/** A replica of one version. */
interface Replica extends AsyncDisposable {
  readonly elector: LeaderElector;
  /** Why its terms were lost. */
  readonly losses: readonly LeaseLoss["kind"][];
}

async function startReplica(controlPlane: ControlPlane, namespace: string, version: string): Promise<Replica> {
  const access = await loadClusterAccess({
    environment: {},
    overrides: { kubeconfig: controlPlane.kubeconfig },
    workingDirectory: "/",
  });
  const transport = clusterTransport(access);
  const stop = new AbortController();
  const losses: LeaseLoss["kind"][] = [];
  const elector = new LeaderElector({
    client: new Client(transport),
    namespace,
    name: "operator",
    identity: `replica-${version.replaceAll(".", "-")}`,
    coordinated: { binaryVersion: version },
    whenLost: "standby",
  });
  const work = async (leadership: Leadership) => {
    const end = AbortSignal.any([leadership.signal, stop.signal]);
    await new Promise<void>((resolve) => end.addEventListener("abort", () => resolve()));
    if (leadership.lost !== undefined) losses.push(leadership.lost.loss.kind);
  };
  const running = elector.run(work, stop.signal);
  return {
    elector,
    losses,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      transport[Symbol.dispose]();
    },
  };
}

async function untilLeading(replica: Replica): Promise<void> {
  await until(`see ${replica.elector.identity} lead`, () => {
    const { state, leader } = replica.elector;
    if (state.kind === "leading") return Promise.resolve({ kind: "found", value: undefined });
    return Promise.resolve({ kind: "pending", state: `${state.kind}, leader ${leader}` });
  });
}

controlPlaneTest(
  "the API server moves the Lease to the oldest version, and to the next one when it stops",
  async (controlPlane) => {
    const namespace = await createNamespace(controlPlane);
    await using newer = await startReplica(controlPlane, namespace, "1.5.0");
    await untilLeading(newer);
    {
      await using older = await startReplica(controlPlane, namespace, "1.4.0");
      await untilLeading(older);
      assertEquals([newer.elector.state.kind, newer.losses], ["standby", ["superseded"]]);
    }
    await untilLeading(newer);
    const left = await controlPlane.kubectlOutput(["get", "leasecandidates", "--namespace", namespace, "-o", "name"]);
    assertEquals(left.trim().split("\n"), ["leasecandidate.coordination.k8s.io/replica-1-5-0"]);
  },
  { own: { apiServerArgs: gate } },
);
