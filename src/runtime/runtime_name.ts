/**
 * Which runtime this is. Only for `version`, for bug reports, and for the few files of this folder where the two differ;
 * nothing above this folder may decide by it.
 */
import process from "node:process";

/** The runtime this process runs on. */
export const runtimeName: "deno" | "bun" = "Bun" in globalThis ? "bun" : "deno";

/** The version of the runtime, e.g. `1.4.5`. */
export const runtimeVersion: string = process.versions[runtimeName] ?? "unknown";
