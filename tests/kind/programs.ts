/**
 * The programs of a kind cluster: those of a real node (../realnode), and what only kind needs: kind, kubeadm and CoreDNS.
 * Everything is built once into the user's cache.
 */
import process from "node:process";
import { kubernetesModuleDir, versionStamps } from "../controlplane/build.ts";
import { finish } from "../controlplane/finish.ts";
import { buildGoPrograms } from "../controlplane/go_build.ts";
import { programFolders, type ProgramsOutcome, requiredVersion } from "../controlplane/programs.ts";
import { type NodePrograms, nodePrograms } from "../realnode/programs.ts";

/** Folders of programs. */
export interface KindPrograms extends NodePrograms {
  /** kind, coredns. */
  readonly kind: string;
  readonly kubeadm: string;
  /** The sources of kind's module: what it puts into its base image. */
  readonly kindSources: string;
}

const moduleDir = import.meta.dirname ?? ".";
const corednsModule = "github.com/coredns/coredns";

/** The programs, built first if this machine has not built them yet (minutes, with progress on stderr). */
export async function kindPrograms(): Promise<ProgramsOutcome<KindPrograms>> {
  if (process.env["KUBEBUILDER_ASSETS"]) {
    return {
      kind: "unavailable",
      reason: "KUBEBUILDER_ASSETS is set, and a kind cluster needs programs of one version",
    };
  }
  const node = await nodePrograms();
  if (node.kind === "unavailable") return node;
  const built = await programFolders({
    kubeadm: () =>
      buildGoPrograms({
        name: "kubeadm",
        moduleDir: kubernetesModuleDir,
        programs: { kubeadm: "k8s.io/kubernetes/cmd/kubeadm" },
        ldflags: versionStamps(),
      }),
    kind: () =>
      buildGoPrograms({
        name: "kind-programs",
        moduleDir,
        programs: { kind: "sigs.k8s.io/kind", coredns: "pintle/kind/coredns" },
        ldflags: [`-X ${corednsModule}/coremain.GitCommit=${requiredVersion(moduleDir, corednsModule)}`],
      }),
  });
  if (built.kind === "unavailable") return built;
  const kindSources = await finish("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kind"], { cwd: moduleDir });
  return { kind: "ready", programs: { ...node.programs, ...built.programs, kindSources: kindSources.trim() } };
}
