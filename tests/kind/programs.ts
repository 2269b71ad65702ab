/**
 * The programs of a kind cluster: those of a real node (../realnode), and what only kind needs: kind, kubeadm and CoreDNS.
 * Everything is built once into the user's cache.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { kubernetesModuleDir, versionStamps } from "../controlplane/build.ts";
import { buildGoPrograms } from "../controlplane/go_build.ts";
import { nodePrograms, type Programs } from "../realnode/programs.ts";
import { finish } from "./finish.ts";

/** Folders of programs. */
export interface KindPrograms extends Programs {
  /** kind, coredns. */
  readonly kind: string;
  readonly kubeadm: string;
  /** The sources of kind's module: what it puts into its base image. */
  readonly kindSources: string;
}

/** The programs, or why they are unavailable. */
export type KindProgramsOutcome =
  | { readonly kind: "ready"; readonly programs: KindPrograms }
  | { readonly kind: "unavailable"; readonly reason: string };

const moduleDir = import.meta.dirname ?? ".";

/** The programs, built first if this machine has not built them yet (minutes, with progress on stderr). */
export async function kindPrograms(): Promise<KindProgramsOutcome> {
  if (process.env["KUBEBUILDER_ASSETS"]) {
    return {
      kind: "unavailable",
      reason: "KUBEBUILDER_ASSETS is set, and a kind cluster needs programs of one version",
    };
  }
  const node = await nodePrograms();
  if (node.kind === "unavailable") return node;
  const kubeadm = await buildGoPrograms({
    name: "kubeadm",
    moduleDir: kubernetesModuleDir,
    programs: { kubeadm: "k8s.io/kubernetes/cmd/kubeadm" },
    ldflags: versionStamps(),
  });
  if (kubeadm.kind === "unavailable") return kubeadm;
  const kind = await buildGoPrograms({
    name: "kind-programs",
    moduleDir,
    programs: { kind: "sigs.k8s.io/kind", coredns: "pintle/kind/coredns" },
    ldflags: [`-X github.com/coredns/coredns/coremain.GitCommit=${requiredVersion("github.com/coredns/coredns")}`],
  });
  if (kind.kind === "unavailable") return kind;
  const kindSources = await finish("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kind"], { cwd: moduleDir });
  const programs = { ...node.programs, kind: kind.dir, kubeadm: kubeadm.dir, kindSources: kindSources.trim() };
  return { kind: "ready", programs };
}

function requiredVersion(module: string): string {
  const goMod = readFileSync(join(moduleDir, "go.mod"), "utf8");
  const [, version = ""] = new RegExp(`${module} (v\\S+)`).exec(goMod) ?? [];
  return version;
}
