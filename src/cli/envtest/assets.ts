/**
 * writeAssets(): the folder that test environments look into (KUBEBUILDER_ASSETS): small scripts with the names of the
 * programs, each of which starts this program in the place of the other one.
 *
 * Guarantees: nothing that something else has written is replaced or followed; a folder that is already right is not written
 * to, so that several test runs at once, and a read-only folder, do no harm.
 */
import { createHash } from "node:crypto";
import {
  isRegularFile,
  joinPath,
  makeDirectory,
  ownCommand,
  processFacts,
  readStart,
  writeFile,
} from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { shellWord } from "../output/mod.ts";
import { clusterVariable, kubernetesVersion, standInMark, standIns } from "./programs.ts";

/** Larger than each script. */
const scriptBytes = 64 * 1024;

/** What tells the folders of different programs apart: two checkouts may run tests at the same time. */
export function folderName(): string {
  return createHash("sha256").update(ownCommand().join("\0")).digest("hex").slice(0, 12);
}

/** The path of a version below the folder of `setup-envtest --bin-dir`. */
export function versionedPath(binDir: string): string {
  const { os, arch } = processFacts();
  return joinPath(binDir, "k8s", `${kubernetesVersion}-${os}-${arch}`);
}

/**
 * Writes the files. Files of an earlier call are replaced.
 *
 * @param folder its absolute path
 * @throws CommandError when a file of something else is in the way, or the folder cannot be written
 */
export async function writeAssets(folder: string): Promise<void> {
  if (processFacts().os === "windows") {
    throw new CommandError("Cannot write test programs: on Windows they would have to be .exe files", {
      code: exitCode.failed,
      advice: "Run the tests in WSL or in a container",
    });
  }
  try {
    await makeDirectory(folder, 0o755);
    const command = ownCommand().map(shellWord).join(" ");
    for (const name of standIns) {
      const lines = [`# Written by ${standInMark}.`, ...settingsOf(name), `exec ${command} __envtest ${name} "$@"`];
      await writeScript(joinPath(folder, name), `#!/bin/sh\n${lines.join("\n")}\n`);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`Cannot write to "${folder}": ${reason}`, { code: exitCode.failed, advice, cause: error });
  }
}

/**
 * Settings for Bun, which reads them only at its start; who sets a variable decides. The stand-in for etcd has too little work
 * for compiled code. The API server of a suite ends before the optimizing compiler pays: without it, and with a heap that grows
 * in smaller steps, it needs a quarter less memory and no more CPU (bench/README.md). A simulated cluster does need it.
 */
const settings: Readonly<Record<(typeof standIns)[number], readonly string[]>> = {
  etcd: ["useJIT=0"],
  "kube-apiserver": ["useDFGJIT=0", "thresholdForJITAfterWarmUp=5000", "forceRAMSize=134217728"],
  kubectl: [],
};

/** The lines of a script that set the variables. */
function settingsOf(name: (typeof standIns)[number]): readonly string[] {
  const words = settings[name].map((setting) => {
    const [variable = "", value = ""] = `BUN_JSC_${setting}`.split("=");
    return `${variable}="\${${variable}-${value}}"`;
  });
  return words.length === 0 ? [] : [`[ -n "$${clusterVariable}" ] || export ${words.join(" ")}`];
}

const advice = "Choose another folder: envtest DIR";

async function writeScript(path: string, script: string): Promise<void> {
  const isFile = await isRegularFile(path);
  const present = isFile === true ? await readStart(path, scriptBytes) : undefined;
  if (present === script) return;
  if (isFile === false || (present !== undefined && !isOwnScript(present))) {
    throw new CommandError(`Cannot write ${path}: a file of another program is there`, {
      code: exitCode.failed,
      advice,
    });
  }
  await writeFile(path, script, { mode: 0o755 });
}

/** True for the start of a file that this program, or another version of it, has written. */
export function isOwnScript(start: string): boolean {
  return start.slice(0, 512).includes(standInMark);
}
