/**
 * The description of a running control plane: the JSON file that PINTLE_CONTROL_PLANE names.
 *
 * It has everything that a second process needs to use the control plane, except stopping it. The CA's key
 * and the kubeconfig are in the folder that it names.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Binaries } from "./build.ts";

/** A server process of the control plane. */
export type Component = "etcd" | "kube-apiserver" | "kube-controller-manager";

/** A control plane that runs. */
export interface Description {
  /** The folder of everything it has on disk. */
  readonly dir: string;
  /** The API server's https URL. */
  readonly server: string;
  readonly binaries: Binaries;
  /** Bearer token of a member of system:masters. */
  readonly token: string;
  /** Bearer token of a user without any rights. */
  readonly nobodyToken: string;
}

/** The environment variable that names the description of the shared control plane. */
export const descriptionVariable = "PINTLE_CONTROL_PLANE";
/** The environment variable with the reason why there is no control plane. */
export const unavailableVariable = "PINTLE_CONTROL_PLANE_UNAVAILABLE";

/** The path of a control plane's description. */
export function descriptionPath(dir: string): string {
  return join(dir, "control-plane.json");
}

/** Writes the description into the control plane's folder, readable by its owner only. */
export function writeDescription(description: Description): void {
  writeFileSync(descriptionPath(description.dir), JSON.stringify(description, undefined, 2), { mode: 0o600 });
}

/** @throws Error when the file is not there or no JSON. */
export function readDescription(path: string): Description {
  try {
    const description: Description = JSON.parse(readFileSync(path, "utf8"));
    return description;
  } catch (error) {
    throw new Error(`Cannot read the control plane's description "${path}": it has ended or is another file`, {
      cause: error,
    });
  }
}
