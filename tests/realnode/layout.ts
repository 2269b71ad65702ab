/**
 * The names and addresses of a real node that several files agree on.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodePrograms } from "./programs.ts";

/** One Node of the cluster: a kubelet and a containerd. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  /** The addresses of its Pods. */
  readonly podRange: string;
}

/** A cluster of real nodes that runs. */
export interface NodeDescription {
  /** The folder of everything it has on disk. */
  readonly dir: string;
  /** The name of its cgroups. */
  readonly id: string;
  readonly machines: readonly Machine[];
  readonly programs: NodePrograms;
}

/** The environment variable that names the folder of the shared real node. */
export const nodeVariable = "PINTLE_REAL_NODE";
/** The environment variable with the reason why there is no real node. */
export const nodeUnavailableVariable = "PINTLE_REAL_NODE_UNAVAILABLE";

/** The address of the API server inside, beside 127.0.0.1. */
export const apiAddress = "10.99.0.1";
/** The addresses of all Pods. */
export const podRange = "10.244.0.0/16";
/** Where the registry answers containerd. */
export const registryPort = 5000;

/** The Nodes of a cluster. @param count at most 9 */
export function machines(count: number): readonly Machine[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    address: `10.99.0.${index + 1}`,
    podRange: `10.244.${index + 1}.0/24`,
  }));
}

/** The folder of a Node. */
export function machineDir(dir: string, { name }: Machine): string {
  return join(dir, "nodes", name);
}

/** The socket of a Node's containerd; a process outside of the node can use it, too. */
export function containerdSocket(dir: string, machine: Machine): string {
  return join(machineDir(dir, machine), "containerd.sock");
}

/** The socket that leads to the API server. */
export function apiSocket(dir: string): string {
  return join(dir, "api.sock");
}

/** What kube-apiserver was asked, one JSON line per answer. */
export function auditLog(dir: string): string {
  return join(dir, "log", "audit.log");
}

/** Writes the description that a second process reads. */
export function writeNodeDescription(description: NodeDescription): void {
  writeFileSync(join(description.dir, "node.json"), JSON.stringify(description, undefined, 2), { mode: 0o600 });
}

/** @throws Error when there is none in the folder. */
export function readNodeDescription(dir: string): NodeDescription {
  const description: NodeDescription = JSON.parse(readFileSync(join(dir, "node.json"), "utf8"));
  return description;
}
