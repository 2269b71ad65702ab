/**
 * StateChecks: the invariants and external systems that the authors of controllers and workloads have declared, in one run.
 *
 * Guarantees: a forbidden state is found after each change of the server, also when it exists only until the next one.
 */
import { type Infer, type KubeObject, type Resource, resourceName, splitKey } from "../api/mod.ts";
import type {
  ClusterState,
  ExternalSystem,
  OperatorController,
  SimulationChecks,
  StateInvariant,
} from "../manager/mod.ts";
import type { SummaryObject } from "./_canonical_names.ts";
import type { Violation } from "./violation.ts";

/** The part of the server that is read. */
export interface StateSource {
  readonly revision: number;
  find(collection: string, namespace: string, name: string): KubeObject | undefined;
  list(collection: string, namespace?: string): readonly KubeObject[];
}

/** The collection of external systems, in the result of a run. */
export const externalCollection = "external";

/** All checks of some controllers, and of a workload. */
export function checksOf(
  controllers: readonly OperatorController[],
  workload: SimulationChecks,
): readonly SimulationChecks[] {
  return [...controllers.flatMap(({ checks }) => checks ?? []), workload];
}

/** True when one of the checks says that an object is as right as the expected one. */
export function isEquivalent(
  checks: readonly SimulationChecks[],
  actual: KubeObject | undefined,
  expected: KubeObject | undefined,
): boolean {
  return checks.some(({ equivalent }) => equivalent?.(actual, expected) === true);
}

/** The checks of one run. */
export class StateChecks {
  readonly #invariants: readonly StateInvariant[];
  readonly #forbidden: readonly StateInvariant[];
  readonly #systems: readonly ExternalSystem[];
  readonly #server: StateSource;
  readonly #state: ClusterState;
  readonly #violations = new Map<string, Violation>();
  #seenRevision = -1;

  constructor(checks: readonly SimulationChecks[], server: StateSource) {
    this.#invariants = checks.flatMap(({ invariants = [] }) => invariants);
    this.#forbidden = this.#invariants.filter(({ kind }) => kind === "never");
    this.#systems = [...new Set(checks.flatMap(({ externalSystems = [] }) => externalSystems))];
    this.#server = server;
    this.#state = stateOf(server);
    for (const system of this.#systems) system.reset();
  }

  /** Looks for forbidden states, if something has changed. */
  observe(): void {
    if (this.#forbidden.length === 0 || this.#server.revision === this.#seenRevision) return;
    this.#seenRevision = this.#server.revision;
    for (const { name, check } of this.#forbidden) {
      if (!this.#violations.has(name) && check(this.#state)) {
        this.#report("never", name, `${name}: it must never be so`);
      }
    }
  }

  /** A process has ended. */
  forgetProcess(): void {
    for (const system of this.#systems) system.forgetProcess?.();
  }

  /** All violations, at the end of the run. */
  violations(): readonly Violation[] {
    for (const { kind, name, check } of this.#invariants) {
      if (kind === "eventually" && !check(this.#state)) this.#report("eventually", name, `${name}: not so at the end`);
    }
    return [...this.#violations.values()];
  }

  /** The external systems that are compared, as objects. */
  objects(): readonly SummaryObject[] {
    return this.#systems.flatMap((system) => {
      if (system.state === undefined) return [];
      const metadata = { name: system.name };
      const object = { apiVersion: "external/v1", kind: "ExternalSystem", metadata, state: system.state() };
      return [{ collection: externalCollection, object }];
    });
  }

  #report(invariant: Violation["invariant"], name: string, message: string): void {
    this.#violations.set(name, { invariant, message });
  }
}

function stateOf(server: StateSource): ClusterState {
  // The server stores what the schema of the kind admits.
  return {
    find: <R extends Resource>(resource: R, key: string) => {
      const { namespace = "", name } = splitKey(key);
      return server.find(resourceName(resource), namespace, name) as Infer<R> | undefined;
    },
    list: <R extends Resource>(resource: R, namespace?: string) =>
      server.list(resourceName(resource), namespace) as unknown as readonly Infer<R>[],
  };
}
