/**
 * The programs that read packages: kustomize, Helm, and what operator-sdk checks bundles with: its validation, and the tests of
 * its scorecard. They are built once into the user's cache, from the two go.mod here, which pin their versions.
 */
import { join } from "node:path";
import { buildGoPrograms } from "../controlplane/go_build.ts";
import { programFolders, type ProgramsOutcome } from "../controlplane/programs.ts";
import { run } from "../controlplane/run.ts";

/** The programs that check bundles, as absolute paths. */
export interface BundlePrograms {
  readonly operatorVerify: string;
  /** The program in the Pods of the scorecard. */
  readonly scorecardTest: string;
}

/** All programs, as absolute paths. */
export interface PackagePrograms extends BundlePrograms {
  readonly helm: string;
  readonly kustomize: string;
}

const moduleDir = import.meta.dirname ?? ".";

const readers = {
  name: "packages",
  moduleDir,
  programs: { helm: "helm.sh/helm/v4/cmd/helm", kustomize: "sigs.k8s.io/kustomize/kustomize/v5" },
};

const bundles = {
  name: "bundles",
  moduleDir: join(moduleDir, "olm"),
  programs: {
    "operator-verify": "github.com/operator-framework/api/cmd/operator-verify",
    "scorecard-test": "github.com/operator-framework/operator-sdk/images/scorecard-test",
  },
};

/** All programs, built first if this machine has not built them yet (minutes, with progress on stderr). */
export async function packagePrograms(): Promise<ProgramsOutcome<PackagePrograms>> {
  const built = await programFolders({
    readers: () => buildGoPrograms(readers),
    bundles: () => buildGoPrograms(bundles),
  });
  if (built.kind === "unavailable") return built;
  const { readers: dir, bundles: bundleDir } = built.programs;
  const programs = { helm: join(dir, "helm"), kustomize: join(dir, "kustomize"), ...inFolder(bundleDir) };
  return { kind: "ready", programs };
}

/** Only the programs that check bundles, as {@link packagePrograms}. */
export async function bundlePrograms(): Promise<ProgramsOutcome<BundlePrograms>> {
  const built = await buildGoPrograms(bundles);
  return built.kind === "unavailable" ? built : { kind: "ready", programs: inFolder(built.dir) };
}

function inFolder(dir: string): BundlePrograms {
  return { operatorVerify: join(dir, "operator-verify"), scorecardTest: join(dir, "scorecard-test") };
}

/** Runs a program without the settings and plugins of a user. @returns its output. @throws Error when it fails */
export async function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  const home = join(cwd, "home");
  const env = { HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  const result = await run(program, args, { cwd, env });
  if (result.kind === "ended" && result.code === 0) return result.stdout;
  throw new Error(`Cannot run ${program} ${args.join(" ")}: ${JSON.stringify(result)}`);
}
