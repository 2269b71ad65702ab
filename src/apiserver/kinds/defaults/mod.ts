/** What is filled in where a writer left it out, by type: pkg/apis/<group>/<version>/defaults.go of Kubernetes 1.36. */
import type { Defaulters } from "../filler.ts";
import { clusterDefaults } from "./cluster.ts";
import { networkDefaults } from "./network.ts";
import { podDefaults } from "./pods.ts";
import { storageDefaults } from "./storage.ts";
import { workloadDefaults } from "./workloads.ts";

/** All of them, by the names of the types. */
export const defaulters: Defaulters = new Map([
  ...podDefaults,
  ...workloadDefaults,
  ...networkDefaults,
  ...storageDefaults,
  ...clusterDefaults,
]);
