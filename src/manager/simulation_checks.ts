/**
 * SimulationChecks: what the author of a controller knows about right and wrong results, for `simulate` and
 * `simulateController`: invariants of the cluster's state, equally right results, and systems outside of the cluster.
 */
import type { Infer, KubeObject, Resource } from "../api/mod.ts";

/** The objects of a simulated cluster at one moment. */
export interface ClusterState {
  /** The object with a key (`namespace/name`), or undefined. */
  find<R extends Resource>(resource: R, key: string): Infer<R> | undefined;
  /** All objects of a kind. @param namespace only those in it */
  list<R extends Resource>(resource: R, namespace?: string): readonly Infer<R>[];
}

/** A statement about the state of the cluster, made with {@link eventually} or {@link never}. */
export interface StateInvariant {
  /** Whether it must be true at the end of a run, or at no moment. */
  readonly kind: "eventually" | "never";
  /** The statement in words; a violation shows it. */
  readonly name: string;
  /** Whether it is true. */
  readonly check: (state: ClusterState) => boolean;
}

/**
 * A state that every run must reach, with and without faults, and keep until its end (as Anvil's eventually stable
 * reconciliation).
 *
 * @param name What must be true, in words.
 * @example
 * ```ts
 * import { ConfigMap, eventually, Secret } from "@pintle/controller";
 *
 * const invariant = eventually("every Secret has a ConfigMap", (state) =>
 *   state.list(Secret).every(({ metadata: { namespace, name } }) =>
 *     state.find(ConfigMap, `${namespace}/${name}`) !== undefined
 *   ));
 * console.assert(invariant.kind === "eventually");
 * ```
 */
export function eventually(name: string, holds: (state: ClusterState) => boolean): StateInvariant {
  return { kind: "eventually", name, check: holds };
}

/**
 * A state that must not exist at any moment of a run, not even for a moment: for harm that heals before the end.
 *
 * @param name What must not happen, in words.
 * @example
 * ```ts
 * import { never, Pod } from "@pintle/controller";
 *
 * const invariant = never("two Pods use the volume", (state) => state.list(Pod, "default").length > 1);
 * console.assert(invariant.kind === "never");
 * ```
 */
export function never(name: string, isForbidden: (state: ClusterState) => boolean): StateInvariant {
  return { kind: "never", name, check: isForbidden };
}

/**
 * A system outside of the cluster that a controller calls, such as a DNS provider or a cloud API, played by the author's own
 * code. It survives the crash of a simulated process, and is emptied before each run.
 */
export interface ExternalSystem {
  /** Names it in violations: `dns`. */
  readonly name: string;
  /** Empties it. Called before each run. */
  reset(): void;
  /**
   * Forgets what belongs to one process, such as sessions and locks. Called each time when a process of the operator ends.
   *
   * @default nothing is forgotten
   */
  forgetProcess?(): void;
  /**
   * What it holds now, as JSON. It is compared at the end of each run, like the objects of the cluster.
   *
   * @default it is not compared
   */
  state?(): unknown;
}

/** What the author of a controller knows about right and wrong results. */
export interface SimulationChecks {
  /** Statements that every run must keep. @default none */
  readonly invariants?: readonly StateInvariant[];
  /**
   * Called for each object that differs at the end from the run without faults; undefined stands for one that does not exist.
   *
   * @returns true when both are equally right; nothing about the object is a violation then
   * @default no difference is right
   */
  readonly equivalent?: (actual: KubeObject | undefined, expected: KubeObject | undefined) => boolean;
  /** The systems outside of the cluster. @default none */
  readonly externalSystems?: readonly ExternalSystem[];
}
