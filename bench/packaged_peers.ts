/**
 * The peers whose packages come from Maven and PyPI. Both are built into the user's cache, once for each version of their
 * sources; the benchmark finds them through links.
 */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { mavenClasses, pythonPackages } from "../tests/clients/packaged.ts";

const peersDir = join(import.meta.dirname ?? ".", "peers");

/** Compiles the Java program. @param link the path at which its folder is to be found */
export async function buildJavaPeer(link: string): Promise<void> {
  replaceLink(await mavenClasses("bench-java", join(peersDir, "java")), link);
}

/**
 * Installs the packages of the Python program.
 *
 * @param dir a folder that gets the links `packages` and `python3`: the interpreter itself, because the `python3` of a
 * version manager can be a script, which would be measured with each start
 */
export async function buildPythonPeer(dir: string): Promise<void> {
  const packages = await pythonPackages("bench-python", join(peersDir, "python", "requirements.txt"));
  const { stdout } = await promisify(execFile)("python3", ["-c", "import sys; print(sys.executable)"]);
  mkdirSync(dir, { recursive: true });
  replaceLink(packages, join(dir, "packages"));
  replaceLink(stdout.trim(), join(dir, "python3"));
}

function replaceLink(target: string, link: string): void {
  rmSync(link, { force: true });
  symlinkSync(target, link);
}
