/**
 * The programs of the control plane: built once from go.mod into the user's cache (go_build.ts), or taken from
 * KUBEBUILDER_ASSETS. A missing tool is a result; a build that fails is an error.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { buildGoPrograms, noGo } from "./go_build.ts";

/** The programs, as absolute paths. */
export interface Binaries {
  /** The folder they are in, for a PATH. */
  readonly dir: string;
  readonly etcd: string;
  readonly kubeApiServer: string;
  readonly kubectl: string;
  /** Absent if KUBEBUILDER_ASSETS does not have it, as in envtest's archives. */
  readonly kubeControllerManager?: string;
}

/** The programs, or why they are unavailable. */
export type BuildOutcome =
  | { readonly kind: "ready"; readonly binaries: Binaries }
  | { readonly kind: "unavailable"; readonly reason: string };

/** The folder of the go.mod that pins Kubernetes. */
export const kubernetesModuleDir = import.meta.dirname ?? ".";
const stampNames = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"] as const;
const programs = {
  etcd: "go.etcd.io/etcd/server/v3",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
} as const;

/**
 * The programs of the control plane, built first if this machine has not built them yet (minutes, with progress on
 * stderr).
 *
 * @throws Error when KUBEBUILDER_ASSETS names a folder that lacks a program, and when the build fails.
 */
export async function buildControlPlane(): Promise<BuildOutcome> {
  const assets = process.env["KUBEBUILDER_ASSETS"];
  if (assets !== undefined && assets !== "") return { kind: "ready", binaries: assetsIn(assets) };
  const outcome = await buildGoPrograms({
    name: "controlplane",
    moduleDir: kubernetesModuleDir,
    programs,
    ldflags: versionStamps(),
  });
  switch (outcome.kind) {
    case "ready":
      return { kind: "ready", binaries: binariesIn(outcome.dir, true) };
    case "unavailable":
      return {
        kind: "unavailable",
        reason: outcome.reason === noGo ? "neither Go nor KUBEBUILDER_ASSETS" : outcome.reason,
      };
    default:
      return outcome satisfies never;
  }
}

/** The version of Kubernetes that go.mod requires. */
export function kubernetesVersion(): { readonly major: string; readonly minor: string; readonly patch: string } {
  const goMod = readFileSync(join(kubernetesModuleDir, "go.mod"), "utf8");
  const [, major, minor, patch] = /k8s\.io\/kubernetes v(\d+)\.(\d+)\.(\d+)/.exec(goMod) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) {
    throw new Error("Cannot build the control plane: go.mod requires no k8s.io/kubernetes");
  }
  return { major, minor, patch };
}

/**
 * Linker flags that stamp the version as Kubernetes' own release script does, so that /version, `kubectl version` and a
 * Node's status are true.
 */
export function versionStamps(): readonly string[] {
  const { major, minor, patch } = kubernetesVersion();
  return stampNames.flatMap((name) => [
    `-X ${name}.gitVersion=v${major}.${minor}.${patch}`,
    `-X ${name}.gitMajor=${major}`,
    `-X ${name}.gitMinor=${minor}`,
    `-X ${name}.gitCommit=`,
  ]);
}

function assetsIn(dir: string): Binaries {
  for (const name of ["etcd", "kube-apiserver", "kubectl"]) {
    if (!existsSync(join(dir, name))) throw new Error(`Cannot use KUBEBUILDER_ASSETS "${dir}": it has no ${name}`);
  }
  return binariesIn(dir, existsSync(join(dir, "kube-controller-manager")));
}

function binariesIn(dir: string, hasControllerManager: boolean): Binaries {
  return {
    dir,
    etcd: join(dir, "etcd"),
    kubeApiServer: join(dir, "kube-apiserver"),
    kubectl: join(dir, "kubectl"),
    ...(hasControllerManager ? { kubeControllerManager: join(dir, "kube-controller-manager") } : {}),
  };
}

if (import.meta.main) {
  const built = await buildControlPlane();
  console.log(built.kind === "ready" ? built.binaries.dir : `There is no control plane: ${built.reason}`);
}
