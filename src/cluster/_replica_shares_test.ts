import { assertEquals, test } from "../../tests/testing.ts";
import type { builtin, Infer } from "../api/mod.ts";
import { isResized, sizesOf } from "./_replica_shares.ts";
import { selectorFor, templateOf } from "./testing/test_cluster.ts";

type ReplicaSet = Infer<typeof builtin.ReplicaSet>;

function deploymentOf(replicas: number): Infer<typeof builtin.Deployment> {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: { replicas, selector: selectorFor("web"), template: templateOf("web") },
  };
}

function setOf(name: string, replicas: number, [desired, max]: readonly [number, number]): ReplicaSet {
  const annotations = {
    "deployment.kubernetes.io/desired-replicas": `${desired}`,
    "deployment.kubernetes.io/max-replicas": `${max}`,
  };
  const metadata = { name, namespace: "default", annotations, creationTimestamp: `2026-01-0${name}T00:00:00Z` };
  return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: { replicas, selector: selectorFor("web") } };
}

/** Replicas of the Deployment, with surge too, and of its old and new ReplicaSet: before, and after a new number. */
const table: readonly (readonly [limits: readonly [number, number], before: string, desired: number, after: string])[] =
  [
    [[4, 5], "3 2", 4, "3 2"],
    [[4, 5], "3 2", 8, "6 4"],
    [[6, 8], "5 3", 10, "8 5"],
    [[4, 5], "3 2", 0, "0 0"],
    [[4, 5], "4 0", 6, "6 0"],
    [[4, 5], "0 0", 6, "0 6"],
  ];

test("a new number of replicas is distributed as kube-controller-manager does", () => {
  for (const [limits, before, desired, after] of table) {
    const [first = 0, second = 0] = before.split(" ").map(Number);
    const [old, newest] = [setOf("1", first, limits), setOf("2", second, limits)];
    const sizes = sizesOf(deploymentOf(desired), { newest, old: [old] });
    const text = [old, newest].map((set) => sizes.get(set) ?? set.spec.replicas).join(" ");
    assertEquals(text, after, `${before} for ${desired}`);
    const isExpected = desired !== limits[0] && first + second > 0;
    assertEquals(isResized(deploymentOf(desired), { newest, old: [old] }), isExpected, `${before} for ${desired}`);
  }
});
