/**
 * Dependents and DependentsState: the ordered dependents of a controller without the types of their functions, and what one
 * attempt found out about them. `dependents.ts` creates the values, `dependents_run.ts` applies and deletes them.
 */
import type { ConditionNow, KubeObject, Resource } from "../api/mod.ts";
import type { DeleteOptions } from "../client/mod.ts";
import type { ActivationCondition } from "./activation.ts";
import { shortened } from "../observe/mod.ts";
import { done, type Result, TerminalError } from "./request.ts";

/**
 * One dependent in a list of {@link dependents}: a value with a name, a kind, and the dependents that must be ready before
 * it. {@link dependent} creates it. `Live` is what later dependents see of it.
 */
export interface Dependent<R extends Resource = Resource, Name extends string = string, Live = unknown> {
  /** The name in the status, in annotations and in the functions of later dependents. */
  readonly name: Name;
  /** The kind of its objects. */
  readonly resource: R;
  /** The kind of the owner. */
  readonly of: Resource;
  /** The dependents that must be ready first. */
  readonly after: readonly Dependent[];
  /** The kinds that its functions read. */
  readonly reads: readonly Resource[];
  /** How its objects refer to the owner. @default by a controller reference */
  readonly track?: "labels";
  /** The condition under which its kind is watched. @default it is always watched */
  readonly activation?: ActivationCondition;
  /** How its objects are deleted. @default "Foreground" */
  readonly propagationPolicy?: DeleteOptions["propagationPolicy"];
  /** The functions of its options, without types. */
  readonly run: DependentFunctions;
  /** Never set; it carries the type. */
  readonly _live?: Live;
}

/** The functions of a dependent as the runtime calls them. */
export interface DependentFunctions {
  /** Whether the dependent should exist. */
  readonly when: (ctx: unknown) => boolean;
  /** Whether an object of it is ready; a text says why it is not. */
  readonly readyWhen?: (live: unknown, ctx: unknown) => boolean | string;
  /** The desired objects; a text says what the dependent waits for. */
  readonly desired: (ctx: unknown, earlier: Readonly<Record<string, unknown>>) => readonly object[] | string;
  /** What later dependents see of the live objects. */
  readonly show: (live: readonly unknown[]) => unknown;
}

/** The dependents of a controller, in the order in which they are created. {@link dependents} creates it. */
export interface Dependents<Primary extends Resource = Resource, Owned extends Resource = Resource> {
  /** The kind of the owner. */
  readonly primary: Primary;
  /** From the first to the last. */
  readonly steps: readonly Dependent<Owned>[];
}

/** What later functions, and the reconciler, see of a dependent. */
export type LiveOf<D> = D extends { readonly _live?: infer Live } ? Exclude<Live, undefined> : never;

/** The state of one dependent after an attempt. */
export type DependentStatus =
  & {
    /** The name of the dependent. */
    readonly name: string;
    /** Its live objects, as far as they are known. */
    readonly objects: readonly KubeObject[];
  }
  & (
    /** It has the desired values, and `readyWhen` holds. */
    | { readonly kind: "ready" }
    /** It has the desired values. The reason says what `readyWhen` misses. */
    | { readonly kind: "notReady"; readonly reason: string }
    /** Nothing was sent, because an earlier dependent is not ready, or `desired` waits. The reason says for what. */
    | { readonly kind: "waiting"; readonly reason: string }
    /** Its kind is not active, or that of one in `after`: nothing is sent, and what exists stays. The reason says why. */
    | { readonly kind: "inactive"; readonly reason: string }
    /** It should not exist, and does not. The reason names the `when` that says so. */
    | { readonly kind: "excluded"; readonly reason: string }
    /** It should not exist, and its objects are not gone yet. */
    | { readonly kind: "deleting"; readonly reason: string }
    /** One of its functions, or the server, threw. */
    | { readonly kind: "failed"; readonly reason: string; readonly error: unknown }
  );

/** The longest message of a condition, without the ellipsis: an owner with thousands of dependents must remain readable. */
const maxMessageChars = 1_024;

/**
 * What `ctx.applyDependents` found out: which dependents are ready, and which gate is closed.
 *
 * @example Write the gates into the status
 * ```ts
 * import { ConfigMap, controller, defineResource, dependent, dependents, manifest, withCondition, z } from "@pintle/controller";
 *
 * const Site = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Site",
 *   scope: "Namespaced",
 *   spec: z.object({ html: z.string() }),
 *   status: z.object({ conditions: z.array(z.object({
 *     type: z.string(),
 *     status: z.enum(["True", "False", "Unknown"]),
 *     reason: z.string(),
 *     message: z.string(),
 *     lastTransitionTime: z.string(),
 *     observedGeneration: z.int().optional(),
 *   })).optional() }),
 * });
 * const page = dependent("page", ConfigMap, {
 *   of: Site,
 *   desired: ({ object: { metadata, spec } }) =>
 *     manifest(ConfigMap, { metadata: { namespace: metadata.namespace, name: `${metadata.name}` }, data: { html: spec.html } }),
 * });
 * const sites = controller("site").for(Site).dependents(dependents([page])).reconcile(async (ctx) => {
 *   const state = await ctx.applyDependents();
 *   const conditions = withCondition(ctx.object.status?.conditions, state.condition, ctx.clock.now());
 *   await ctx.patchStatus({ conditions });
 *   return state.result();
 * });
 * console.assert(sites.watches.length === 2);
 * ```
 */
export class DependentsState {
  /** The dependents, from the first to the last. */
  readonly dependents: readonly DependentStatus[];
  readonly #owner: KubeObject;
  readonly #shown: ReadonlyMap<string, unknown>;

  /**
   * Creates the state. The runtime does that.
   *
   * @param shown What later functions see of each dependent that exists, by name.
   */
  constructor(owner: KubeObject, dependents: readonly DependentStatus[], shown: ReadonlyMap<string, unknown>) {
    this.#owner = owner;
    this.dependents = dependents;
    this.#shown = shown;
  }

  /** True when each dependent is ready, or not active, or excluded and gone. */
  get isReady(): boolean {
    return this.dependents.every(({ kind }) => kind === "ready" || kind === "excluded" || kind === "inactive");
  }

  /** The condition `DependentsReady`: its message names each dependent that is not ready, and the gate it waits for. */
  get condition(): ConditionNow {
    const { generation: observedGeneration } = this.#owner.metadata;
    const type = "DependentsReady";
    const isClosed = ({ kind }: DependentStatus) => kind !== "ready" && kind !== "excluded" && kind !== "inactive";
    const closed = sentencesOf(this.dependents, isClosed);
    if (closed.length === 0) {
      const ready = `${this.dependents.filter(({ kind }) => kind === "ready").length} dependents are ready`;
      const message = joined([ready, ...sentencesOf(this.dependents, ({ kind }) => kind === "inactive")]);
      return { type, status: "True", reason: "Ready", message, observedGeneration };
    }
    const reason = reasons.find(([kind]) => this.dependents.some((one) => one.kind === kind))?.[1] ?? "NotReady";
    return { type, status: "False", reason, message: joined(closed), observedGeneration };
  }

  /** What the later dependents see of `dependent`; undefined when it does not exist. */
  find<D extends Dependent>(dependent: D): LiveOf<D> | undefined {
    return this.#shown.get(dependent.name) as LiveOf<D> | undefined;
  }

  /**
   * The result of the reconcile. A gate that is closed needs no retry: the change that opens it brings the key back.
   *
   * @throws the error of the dependent that failed; an AggregateError when several failed. A TerminalError only if all are.
   */
  result(): Result {
    const errors = this.dependents.flatMap((one) => one.kind === "failed" ? [one.error] : []);
    const [first, ...others] = errors;
    if (errors.length === 0) return done;
    if (others.length === 0) throw first;
    const cause = new AggregateError(errors);
    const names = this.dependents.flatMap((one) => one.kind === "failed" ? [`${one.name} ${one.reason}`] : []);
    const message = `Cannot apply ${errors.length} dependents: ${names.join("; ")}`;
    if (errors.every((error) => error instanceof TerminalError)) throw new TerminalError(message, { cause });
    throw new Error(message, { cause });
  }
}

function sentencesOf(
  dependents: readonly DependentStatus[],
  isMeant: (one: DependentStatus) => boolean,
): readonly string[] {
  return dependents.flatMap((one) => "reason" in one && isMeant(one) ? [`${one.name} ${one.reason}`] : []);
}

function joined(sentences: readonly string[]): string {
  return shortened(sentences.join("; "), maxMessageChars);
}

/** The reason of the condition: the first of these states that a dependent has. */
const reasons = [
  ["failed", "Failed"],
  ["notReady", "NotReady"],
  ["waiting", "Waiting"],
  ["deleting", "Deleting"],
] as const;

/** The type of what the functions of a dependent see of those in `after`: by name. */
export type Earlier<After extends readonly Dependent[]> = {
  readonly [D in After[number] as D["name"]]: LiveOf<D>;
};
