/**
 * The table of commands. A command is a file and a line here; the file is loaded only when its command is called, so
 * help and version cost nothing of what running controllers needs.
 */
import type { Subcommand } from "./subcommand.ts";

/** A command before it is loaded: what the program's own help shows. */
export interface SubcommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Subcommand>;
}

/** All commands, in the order of help. */
export const subcommands: readonly SubcommandEntry[] = [
  {
    name: "run",
    summary: "run controllers until a signal ends them",
    load: async () => (await import("./run.ts")).run,
  },
  {
    name: "dev",
    summary: "run controllers on a Kubernetes of this process, for development",
    load: async () => (await import("./dev.ts")).dev,
  },
  {
    name: "new",
    summary: "write the first files of a controller of your own",
    load: async () => (await import("./new.ts")).newController,
  },
  {
    name: "simulate",
    summary: "play faults against controllers in a world of this process, and find what they break",
    load: async () => (await import("./simulate.ts")).simulateCommand,
  },
  {
    name: "install-crds",
    summary: "install the custom resource definitions of controllers, or bring them up to date",
    load: async () => (await import("./install_crds.ts")).installCrds,
  },
  {
    name: "uninstall-crds",
    summary: "delete the custom resource definitions of controllers, and all their objects",
    load: async () => (await import("./uninstall_crds.ts")).uninstallCrds,
  },
  {
    name: "doctor",
    summary: "find out whether controllers could run on a cluster, and what is missing",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  {
    name: "completions",
    summary: "print what makes a shell complete commands, flags and names",
    load: async () => (await import("./completions.ts")).completions,
  },
  {
    name: "manifests",
    summary: "print what controllers need to run in a cluster, with the permissions they declare",
    load: async () => (await import("./manifests.ts")).manifests,
  },
  {
    name: "version",
    summary: "print the versions of this program and of the server",
    load: async () => (await import("./version.ts")).version,
  },
];
