/**
 * OperatorController: a controller together with what else an operator lists with it: the webhooks of its kind, what runs
 * beside it, and flags of its own. None of these know each other; this is where they meet.
 */
import type { z } from "zod";
import type { KubeObject } from "../api/mod.ts";
import type { ControllerDefinition } from "../controller/mod.ts";
import type { Webhook } from "../webhook/mod.ts";
import type { Runnable } from "./runnable.ts";
import type { Workload } from "./workload.ts";

/** A controller, and what belongs to it. */
export interface OperatorController extends ControllerDefinition {
  /** @default none */
  readonly webhooks?: readonly Webhook[];
  /** What runs beside it in the same process: starts before the controllers, stops after them. @default nothing */
  readonly runnables?: readonly Runnable[];
  /** Flags of its own on `run`. @default none */
  readonly ownFlags?: OwnFlags;
  /** Objects that show what it does: `dev --samples` creates them. @default none */
  readonly samples?: readonly KubeObject[];
  /** What people do while it runs: `simulate` plays it with faults. @default made from the samples and the kind's schema */
  readonly workloads?: readonly Workload[];
}

/** What a controller is made with for one run. */
export interface RunSetup {
  /** The namespaces it will work on; empty: all. */
  readonly namespaces: readonly string[];
  /**
   * Prints one line to standard output, for a controller whose product that is. Control characters and whatever else
   * could do more on a terminal than stand there are escaped, as `\uXXXX`: names in a cluster are other people's.
   *
   * @returns Resolves when the line is out; a reader that has gone away ends the run, as a signal would.
   * @throws Error when it cannot be written, say because the disk is full.
   */
  print(line: string): Promise<void>;
}

/** Reads flags from the command line and the environment. */
export type FlagReader = <Schema extends z.ZodObject>(schema: Schema) => z.output<Schema>;

/** Flags of a controller, their types forgotten; see {@link withFlags}. */
export interface OwnFlags {
  /** One schema per flag, each made with `flag`. */
  readonly schema: z.ZodObject;
  /** Makes the controller that is run. */
  configure(read: FlagReader, setup: RunSetup): Promise<OperatorController>;
}

/**
 * Adds webhooks to a controller.
 *
 * @example
 * ```ts
 * import { allow, ConfigMap, controller, deny, done, validating, withWebhooks } from "@pintle/controller";
 *
 * const keeper = controller("keeper").for(ConfigMap).reconcile(() => Promise.resolve(done));
 * const notEmpty = validating(ConfigMap, { create: (map) => map.data === undefined ? deny("data is missing") : allow() });
 * console.assert(withWebhooks(keeper, [notEmpty]).webhooks?.length === 1);
 * ```
 */
export function withWebhooks(definition: OperatorController, webhooks: readonly Webhook[]): OperatorController {
  return { ...definition, webhooks };
}

/**
 * Adds objects that show what a controller does: `dev --samples` creates them.
 *
 * @example
 * ```ts
 * import { controller, done, Namespace, withSamples } from "@pintle/controller";
 *
 * const keeper = controller("keeper").for(Namespace).reconcile(() => Promise.resolve(done));
 * const sample = { apiVersion: "v1", kind: "Namespace", metadata: { name: "sample" } };
 * console.assert(withSamples(keeper, [sample]).samples?.length === 1);
 * ```
 */
export function withSamples(definition: OperatorController, samples: readonly KubeObject[]): OperatorController {
  return { ...definition, samples };
}

/**
 * Adds what people do while a controller runs: `simulate` plays it with and without faults.
 *
 * @example
 * ```ts
 * import { controller, done, Namespace, withWorkloads } from "@pintle/controller";
 *
 * const keeper = controller("keeper").for(Namespace).reconcile(() => Promise.resolve(done));
 * const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } };
 * const simulated = withWorkloads(keeper, [{ name: "create", steps: [{ kind: "create", object }] }]);
 * console.assert(simulated.workloads?.length === 1);
 * ```
 */
export function withWorkloads(definition: OperatorController, workloads: readonly Workload[]): OperatorController {
  return { ...definition, workloads };
}

/**
 * Adds flags to a controller: `run` understands them, on the command line and as environment variables, and they stand in
 * its help.
 *
 * @param definition What is installed, documented and given permissions, whatever the flags say.
 * @param flags A `z.object()` of schemas made with `flag`. Their names must be nobody else's on `run`.
 * @param configure Makes the controller that is run; asked once, before anything runs. What it throws is a usage error.
 * @example
 * ```ts
 * import { controller, done, flag, Pod, withFlags, z } from "@pintle/controller";
 *
 * const greeterFlags = z.object({
 *   greeting: flag(z.string().default("Hello"), { flags: "--greeting <word>", about: "how Pods are greeted" }),
 * });
 * const greeter = (greet: (name: string) => Promise<void>) =>
 *   controller("greeter").for(Pod).reconcileKey(async ({ name }) => {
 *     await greet(name);
 *     return done;
 *   });
 * const listed = withFlags(
 *   greeter(() => Promise.resolve()),
 *   greeterFlags,
 *   ({ flags, print }) => greeter((name) => print(`${flags.greeting}, ${name}`)),
 * );
 * console.assert(listed.ownFlags?.schema === greeterFlags);
 * ```
 */
export function withFlags<Schema extends z.ZodObject>(
  definition: OperatorController,
  flags: Schema,
  configure: (
    setup: RunSetup & { readonly flags: z.output<Schema> },
  ) => OperatorController | Promise<OperatorController>,
): OperatorController {
  const ownFlags: OwnFlags = {
    schema: flags,
    async configure(read, setup) {
      const { namespaces, print } = setup;
      const configured = await configure({ namespaces, print, flags: read(flags) });
      if (configured.name === definition.name) return configured;
      throw new TypeError(`Cannot configure controller "${definition.name}": it became "${configured.name}"`);
    },
  };
  return { ...definition, ownFlags };
}
