/** The programs that a test environment starts, as values: their names, versions and flags. */
import { type FlagProgram } from "./flag_words.ts";
import { apiServerFlags, etcdFlags } from "./generated/flags.ts";

/** The programs that a test environment starts. */
export const standIns = ["etcd", "kube-apiserver", "kubectl"] as const;

/** The words in each file that `envtest` writes, by which this program recognizes its own files. */
export const standInMark = "controller envtest";

/** The version of Kubernetes, as `setup-envtest` names it. */
export const kubernetesVersion = "1.36.3";
/** The version of etcd that this Kubernetes is released with. */
export const etcdVersion = "3.6.8";

/** Set to run the simulated control plane beside the API server. */
export const clusterVariable = "CONTROLLER_ENVTEST_WITH_CLUSTER";
/** The process id of `envtest -- COMMAND`: the servers end when it has ended, however it ended. */
export const ownerVariable = "CONTROLLER_ENVTEST_OWNER";

export const etcdProgram: FlagProgram = { name: "etcd", flags: etcdFlags, syntax: "go" };
export const apiServerProgram: FlagProgram = { name: "kube-apiserver", flags: apiServerFlags, syntax: "pflag" };
