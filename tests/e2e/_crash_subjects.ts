/** The controllers whose crash points are sampled on the real control plane, with the kinds of their workloads. */
import { fooController, fooWorkloads } from "../../src/controllers/foo/mod.ts";
import { ingressController, ingressWorkloads } from "../../src/controllers/ingress/mod.ts";
import { nodepoolController, nodepoolWorkloads } from "../../src/controllers/nodepool/mod.ts";
import type { OperatorController, Workload } from "../../src/manager/mod.ts";
import type { CrashSubject } from "./_crash_run.ts";

/** A controller with the parameters of its simulation. */
export interface SimulatedSubject extends CrashSubject {
  readonly controller: OperatorController;
  readonly workloads: readonly Workload[];
}

const core = "/api/v1";

/** Excludes steps in the middle of a reconcile: they cannot be timed from outside the process. */
function isSettled({ steps }: Workload): boolean {
  return steps.every(({ untilWrites }) => untilWrites === undefined);
}

export const crashSubjects: readonly SimulatedSubject[] = [
  {
    name: "foo",
    controller: fooController,
    workloads: fooWorkloads.filter(isSettled),
    isNamespaced: true,
    kinds: [
      {
        collection: "foos.samplecontroller.k8s.io",
        root: "/apis/samplecontroller.k8s.io/v1alpha1",
        kind: "Foo",
        plural: "foos",
      },
      { collection: "deployments.apps", root: "/apis/apps/v1", kind: "Deployment", plural: "deployments" },
    ],
  },
  {
    name: "ingress",
    controller: ingressController,
    workloads: ingressWorkloads.filter(isSettled),
    isNamespaced: true,
    kinds: [
      { collection: "services", root: core, kind: "Service", plural: "services" },
      {
        collection: "ingresses.networking.k8s.io",
        root: "/apis/networking.k8s.io/v1",
        kind: "Ingress",
        plural: "ingresses",
      },
    ],
  },
  {
    name: "nodepool",
    controller: nodepoolController,
    workloads: nodepoolWorkloads.filter(isSettled),
    isNamespaced: false,
    kinds: [
      { collection: "nodes", root: core, kind: "Node", plural: "nodes" },
      {
        collection: "nodepools.nodes.lailin.xyz",
        root: "/apis/nodes.lailin.xyz/v1",
        kind: "NodePool",
        plural: "nodepools",
      },
      {
        collection: "runtimeclasses.node.k8s.io",
        root: "/apis/node.k8s.io/v1",
        kind: "RuntimeClass",
        plural: "runtimeclasses",
      },
    ],
  },
];
