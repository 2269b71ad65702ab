/**
 * `envtest`: this program in the place of the etcd and the kube-apiserver that test environments start: controller-runtime's
 * envtest and what else looks into KUBEBUILDER_ASSETS, and kube-api-test of Java. Nothing is downloaded, and a server is there in
 * a fraction of a second.
 */
import { z } from "zod";
import { homeDirectory, joinPath, processFacts, resolvePath } from "../../runtime/mod.ts";
import { CommandError, exitCode, listenForInterrupts, runChild, type Session, subcommand } from "../command/mod.ts";
import { commandLineOnly, flag, text, UsageError } from "../flags/mod.ts";
import { shellWord } from "../output/mod.ts";
import { folderName, versionedPath, writeAssets } from "./assets.ts";
import { clusterVariable, ownerVariable } from "./programs.ts";

/** The folder with the programs, for envtest. */
const assetsVariable = "KUBEBUILDER_ASSETS";
/** The folder in which kube-api-test finds k8s/VERSION-OS-ARCH, and keeps its certificates. */
const javaVariable = "KUBE_API_TEST_DIR";

/** Where the programs are. */
interface Folders {
  readonly assets: string;
  /** The folder of k8s/VERSION-OS-ARCH, unless another folder was named. */
  readonly binDir?: string;
}

const envtestFlags = z.object({
  withCluster: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--with-cluster",
    about: `run the simulated control plane and nodes, too; without a command, set ${clusterVariable}=1`,
  }),
  binDir: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--bin-dir <folder>",
    about: "write to k8s/VERSION-OS-ARCH in this folder, as setup-envtest does",
    completes: "directory",
    example: "--bin-dir bin",
  }),
});

/** The command. */
export const envtest = subcommand({
  description: [
    "Writes a folder with programs named etcd, kube-apiserver and kubectl, for the tests of operators in any language: test",
    `environments find it by the variable ${assetsVariable}. The first two are this program, the third calls the kubectl in PATH.`,
    "With a command after --, runs that command with the variable set, and ends with its exit code.",
  ].join(" "),
  positionals: { syntax: "[dir...]", about: "the folder to write (default: one in the user's cache)", choices: [] },
  examples: [
    { line: "-- go test ./...", about: "run the tests of a Go operator" },
    {
      line: "--with-cluster -- go test ./...",
      about: "the same, with Deployments that get Pods, and garbage collection",
    },
    { line: "--bin-dir bin", about: "write bin/k8s/…, where the suites of kubebuilder look, and print the variable" },
  ],
  flags: envtestFlags,
  async run({ session, positionals, flags }) {
    const command = commandOf(session);
    const { assets, binDir } = foldersOf(positionals.slice(0, positionals.length - command.length), flags, session);
    await writeAssets(assets);
    const variables = {
      [assetsVariable]: assets,
      ...(binDir === undefined ? {} : { [javaVariable]: binDir }),
      ...(flags.withCluster ? { [clusterVariable]: "1" } : {}),
    };
    if (command.length === 0) {
      for (const [name, value] of Object.entries(variables)) session.print(`export ${name}=${shellWord(value)}`);
      return exitCode.done;
    }
    using interrupts = listenForInterrupts(session);
    const owned = { ...variables, [ownerVariable]: String(processFacts().pid) };
    return await Promise.race([interrupts.forced, runChild(command, owned, session, interrupts.stop)]);
  },
});

/** The words after `--`. */
function commandOf({ processEnvironment: { args } }: Session): readonly string[] {
  const dashes = args.indexOf("--");
  const command = dashes < 0 ? [] : args.slice(dashes + 1);
  if (dashes < 0 || command.length > 0) return command;
  throw new UsageError("Cannot run a command: there is none after --", "Example: envtest -- go test ./...");
}

/** The absolute paths of the folders to write. */
function foldersOf(
  [dir, ...more]: readonly string[],
  { binDir }: z.output<typeof envtestFlags>,
  session: Session,
): Folders {
  if (more.length > 0) {
    throw new UsageError("Cannot write several folders", "Name one. A command follows --: envtest -- go test ./...");
  }
  if (dir !== undefined && binDir !== undefined) {
    throw new UsageError(`Cannot write to "${dir}" and to a folder of --bin-dir`, "Leave out one of them");
  }
  const absolute = (path: string) => resolvePath(processFacts().workingDirectory, path);
  if (dir !== undefined) return { assets: absolute(dir) };
  const parent = binDir === undefined ? defaultFolder(session) : absolute(binDir);
  return { assets: versionedPath(parent), binDir: parent };
}

function defaultFolder({ environment, operator }: Session): string {
  const home = homeDirectory(environment);
  const { XDG_CACHE_HOME: cache = home === undefined ? "" : joinPath(home, ".cache") } = environment;
  if (cache !== "") return joinPath(cache, operator.name, "envtest", folderName());
  throw new CommandError("Cannot write a folder: there is no home folder", {
    code: exitCode.failed,
    advice: "Name one: envtest DIR",
  });
}
