/** What the process knows of itself and its machine: numbers for metrics, names for logs and lease identities. */
import { hostname } from "node:os";
import process from "node:process";

/** Things that do not change while the process runs. */
export interface ProcessFacts {
  readonly pid: number;
  /** The machine's name; in a Pod, the Pod's name. */
  readonly hostname: string;
  /** As Go spells it: `linux`, `darwin`, `windows`. */
  readonly os: string;
  /** As Go spells it: `amd64`, `arm64`. */
  readonly arch: string;
  /** Absolute path of the running program: the compiled binary, or the runtime. */
  readonly executable: string;
  readonly workingDirectory: string;
}

/** Reads the facts. */
export function processFacts(): ProcessFacts {
  return {
    pid: process.pid,
    hostname: hostname(),
    os: process.platform === "win32" ? "windows" : process.platform,
    arch: process.arch === "x64" ? "amd64" : process.arch,
    executable: process.execPath,
    workingDirectory: process.cwd(),
  };
}
