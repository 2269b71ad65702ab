/**
 * OperatorController: a controller and what belongs to it in an operator: webhooks, Runnables, flags, samples and
 * Workloads. `operatorCli()` takes a list of these; `withWebhooks()` and the others add the parts to a definition.
 */
import type { z } from "zod";
import type { KubeObject, UntypedObject } from "../api/mod.ts";
import type { ControllerDefinition } from "../controller/mod.ts";
import type { MetricsRegistry } from "../observe/mod.ts";
import type { Webhook } from "../webhook/mod.ts";
import type { HealthCheck } from "./health/mod.ts";
import type { Runnable } from "./runnable_group.ts";
import type { SimulationChecks } from "./simulation_checks.ts";

/**
 * A controller, and what belongs to it in an operator. Every {@link ControllerDefinition} is one; `withWebhooks`,
 * `withFlags`, `withSamples` and `withWorkloads` add the parts.
 */
export interface OperatorController extends ControllerDefinition {
  /** Admission and conversion webhooks, which the operator serves. @default none */
  readonly webhooks?: readonly Webhook[];
  /** Further parts of the process; they start before the controllers and stop after them. @default none */
  readonly runnables?: readonly Runnable[];
  /** Health checks that `run` serves with those of the controllers, under names of their own. @default none */
  readonly healthChecks?: readonly HealthCheck[];
  /** Additional flags of `run`. @default none */
  readonly ownFlags?: OwnFlags;
  /** Example objects, which `dev --samples` creates. @default none */
  readonly samples?: readonly KubeObject[];
  /** Changes by users, which `simulate` runs with and without faults. @default derived from the samples and the schema of the kind */
  readonly workloads?: readonly Workload[];
  /** What `simulate` checks in all workloads. @default nothing but the invariants of every controller */
  readonly checks?: SimulationChecks;
  /** Creates the controller for one simulated process, see `withFactory`. @default all processes share this value */
  readonly create?: () => OperatorController;
}

/** The setup of one run; the argument of the function that configures a controller, see {@link withFlags}. */
export interface RunSetup {
  /** The namespaces it will work on; empty: all. */
  readonly namespaces: readonly string[];
  /** The metrics of the process: what a controller counts here, `run` serves with the metrics of the Manager. */
  readonly metrics: MetricsRegistry;
  /**
   * Prints one line to standard output, for a controller whose result is its output. Control characters are escaped as
   * `\uXXXX`, because names in a cluster come from other users and must not control the terminal.
   *
   * @returns Resolves when the line is written. If the reader has closed the pipe, the run ends as after a signal.
   * @throws Error when the line cannot be written, for example because the disk is full.
   */
  print(line: string): Promise<void>;
  /**
   * The format of the log. Print lines in the same one: `kubectl logs` shows both as one stream, and a log collector reads
   * one JSON object from each line. It is `json` with `--log-format json`, and of `run` in a Pod without a terminal.
   */
  readonly logFormat: "text" | "json";
  /** Files on the user's machine, for a controller that keeps something between two runs. */
  readonly files: {
    /** Reads a file. @returns undefined when it does not exist */
    findText(path: string): Promise<string | undefined>;
    /** Replaces a file atomically; only its owner can read it. */
    writeText(path: string, text: string): Promise<void>;
  };
}

/** Reads flags from the command line and the environment; the first argument of {@link OwnFlags.configure}. */
export type FlagReader = <Schema extends z.ZodObject>(schema: Schema) => z.output<Schema>;

/** Calls `react` whenever the configuration file of `run` has new values; the last argument of {@link OwnFlags.configure}. */
export type OnReload = (react: (read: FlagReader) => void) => void;

/** What {@link withFlags} configures a controller with: the setup, the values of its flags, and the new ones later. */
export interface FlaggedSetup<Flags> extends RunSetup {
  /** The values of the controller's flags. */
  readonly flags: Flags;
  /**
   * Calls `react` with the values of the flags whenever the file of `run --config` has changed one with `isReloadable`. It is
   * called while the controller runs, so `react` must not throw.
   */
  onReload(react: (flags: Flags) => void): void;
}

/** The additional flags of a controller, without their types; see {@link withFlags}. */
export interface OwnFlags {
  /** One schema per flag, each created with `flag`. */
  readonly schema: z.ZodObject;
  /** Creates the controller that is run. */
  configure(read: FlagReader, setup: RunSetup, onReload?: OnReload): Promise<OperatorController>;
}

/**
 * Adds webhooks to a controller. `run` serves them, and `manifests` registers them.
 *
 * @returns A copy of the definition; webhooks that it had before are replaced.
 * @example
 * ```ts
 * import { allow, deny, validating } from "@pintle/controller/webhook";
 * import { ConfigMap, controller, done, withWebhooks } from "@pintle/controller";
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
 * Adds example objects to a controller, which `dev --samples` creates and `simulate` changes.
 *
 * @returns A copy of the definition; samples that it had before are replaced.
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
 * Adds changes by users to a controller, which `simulate` runs with and without faults.
 *
 * @returns A copy of the definition; workloads that it had before are replaced.
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
 * Adds invariants, equally right results and external systems to a controller, for all its workloads. A Workload can have
 * more of them.
 *
 * @returns A copy of the definition; checks that it had before are replaced.
 * @example
 * ```ts
 * import { ConfigMap, controller, done, never, Secret, withChecks } from "@pintle/controller";
 *
 * const keeper = controller("keeper").for(Secret).owns(ConfigMap).reconcile(() => Promise.resolve(done));
 * const records = new Map<string, string>();
 * const checked = withChecks(keeper, {
 *   invariants: [never("a ConfigMap holds a password", (state) =>
 *     state.list(ConfigMap).some(({ data }) => data?.password !== undefined))],
 *   // It does not matter which zone was chosen.
 *   equivalent: (actual, expected) => actual?.kind === "ConfigMap" && expected?.kind === "ConfigMap",
 *   externalSystems: [{ name: "dns", reset: () => records.clear(), state: () => Object.fromEntries(records) }],
 * });
 * console.assert(checked.checks?.invariants?.length === 1);
 * ```
 */
export function withChecks(definition: OperatorController, checks: SimulationChecks): OperatorController {
  return { ...definition, checks };
}

/**
 * Creates a controller anew for each simulated process, so that what it keeps in memory is lost when a process ends, as in
 * reality. Without it, all processes of a simulation share the variables that the controller's functions use.
 *
 * @param create Creates the controller, as the program does when it starts. Called once at once.
 * @returns The definition, with `create`.
 * @example
 * ```ts
 * import { controller, done, Secret, withFactory } from "@pintle/controller";
 *
 * const counter = withFactory(() => {
 *   const seen = new Set<string>(); // lost when the process ends
 *   return controller("counter").for(Secret).reconcile((ctx) => {
 *     seen.add(ctx.object.metadata.name ?? "");
 *     return Promise.resolve(done);
 *   });
 * });
 * console.assert(counter.create?.() !== counter);
 * ```
 */
export function withFactory(create: () => OperatorController): OperatorController {
  return { ...create(), create };
}

/**
 * Adds flags to a controller. `run` accepts them on the command line and as environment variables, and its help shows
 * them.
 *
 * @param definition The controller that is installed, documented and given permissions, for all values of the flags.
 * @param flags A `z.object()` of schemas created with `flag`. `run` must not have other flags with these names.
 * @param configure Creates the controller that is run. It is called once, before anything runs. An error is a usage error.
 * @returns A copy of the definition, with the flags.
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
    setup: FlaggedSetup<z.output<Schema>>,
  ) => OperatorController | Promise<OperatorController>,
): OperatorController {
  const ownFlags: OwnFlags = {
    schema: flags,
    async configure(read, setup, onReload = () => {}) {
      const configured = await configure({
        ...setup,
        flags: read(flags),
        onReload: (react) => onReload((readAgain) => react(readAgain(flags))),
      });
      if (configured.name === definition.name) return configured;
      throw new TypeError(
        `Cannot configure controller "${definition.name}": the configured controller has the name "${configured.name}"`,
      );
    },
  };
  return { ...definition, ownFlags };
}

/** Identifies one object, in a step of a {@link Workload}. */
export interface ObjectName {
  /** The API group and version, as `apps/v1`. */
  readonly apiVersion: string;
  /** The kind, as `Deployment`. */
  readonly kind: string;
  /** The name of the object. */
  readonly name: string;
  /** The namespace of the object. @default "default" if the kind is namespaced */
  readonly namespace?: string;
}

/** One change by a user, in a {@link Workload}. A rejected change is not an error, because the rejection is part of the Workload. */
export type WorkloadStep =
  & (
    | { readonly kind: "create"; readonly object: UntypedObject }
    | {
      readonly kind: "patch";
      readonly object: ObjectName;
      /** A JSON merge patch. */
      readonly patch: Readonly<Record<string, unknown>>;
      readonly subresource?: string;
    }
    | { readonly kind: "delete"; readonly object: ObjectName }
    /** Kills the operator process. It is restarted after the next step. */
    | { readonly kind: "stop" }
    /**
     * Nothing happens until `toMs` milliseconds after the start of the run, for controllers that act at certain times. The
     * time is absolute, so that runs with and without faults reach the same times of day. A run begins at midnight UTC.
     */
    | { readonly kind: "advance"; readonly toMs: number }
  )
  & {
    /** The next step follows immediately, while the controllers are still busy. @default false */
    readonly atOnce?: boolean;
    /** The next step follows as soon as the controllers have sent this number of writes. */
    readonly untilWrites?: number;
    /**
     * The user changes an object of the hub, which controllers read with `inHub()`. In a simulation without a fleet, the hub
     * is the cluster itself. @default in each member of the fleet
     */
    readonly inHub?: boolean;
  };

/**
 * A sequence of changes by users, as data, so that it can be stored in a file together with a fault plan. Between two
 * steps, the controllers finish their work. The checks are functions, and stay in the program.
 */
export interface Workload extends SimulationChecks {
  /** A few words: `delete and create again`. */
  readonly name: string;
  /** The changes, in their order. */
  readonly steps: readonly WorkloadStep[];
}
