/**
 * StepRunner: executes the steps of a ForeignWorkload as a user of the embedded API server.
 *
 * Guarantees: a rejected change is an outcome, because the rejection is part of the workload; only an abort and a server that
 * cannot be reached are thrown. A wait that times out is an outcome too: the caller knows whether it ended without faults.
 */
import { type KubeObject, printExactJson, type Resource, splitKey, type UntypedObject } from "../../api/mod.ts";
import { JsonPath } from "../../apiserver/mod.ts";
import type { Clock } from "../../async/mod.ts";
import { ApiError, type Client, Discovery, type Patch } from "../../client/mod.ts";
import {
  type AwaitedState,
  awaitedText,
  type ForeignStep,
  type ObjectSelector,
  selectorText,
  type StepAction,
  type StepPatch,
} from "./foreign_workload.ts";

/** What a StepRunner needs. */
export interface StepRunnerOptions {
  /** A client that acts as a user. */
  readonly client: Client;
  readonly clock: Clock;
  /** The namespace of objects that name none. */
  readonly namespace: string;
  /** Kills the operator and starts it again; it resolves when it runs. */
  readonly restartOperator: (signal: AbortSignal) => Promise<void>;
}

/** How a step ended. */
export type StepOutcome =
  | { readonly kind: "done" }
  /** The server rejected a change. */
  | { readonly kind: "rejected"; readonly code: number; readonly message: string }
  /** Nothing is selected, or the server does not know the kind. */
  | { readonly kind: "notFound"; readonly message: string }
  | { readonly kind: "timedOut"; readonly message: string };

/** True for an outcome that no workload intends: only a rejection may be wanted. */
export function hasFailed({ kind }: Pick<StepOutcome, "kind">): boolean {
  return kind === "notFound" || kind === "timedOut";
}

/** The field manager of users. */
const fieldManager = "user";

/** Milliseconds between two looks of a wait. The server is in this process: a look takes about one. */
const lookMs = 50;

/** Milliseconds between two tries of a user, and until the last one. */
const retryMs = 200, maxRetryMs = 15_000;

/** What kube-apiserver answers when a webhook gives no answer. A webhook that denies a change has another code. */
function isWebhookDown({ code, message }: StepOutcome & { readonly kind: "rejected" }): boolean {
  return code === 500 && /failed calling webhook|conversion webhook .* failed/.test(message);
}

/** Executes steps. */
export class StepRunner {
  readonly #options: StepRunnerOptions;
  readonly #discovery: Discovery;

  constructor(options: StepRunnerOptions) {
    this.#options = options;
    this.#discovery = new Discovery(options.client, { clock: options.clock });
  }

  /**
   * Performs a step. A user whose change fails because a webhook cannot be reached tries again: it is down for as long as the
   * operator is.
   *
   * @throws the reason of the signal
   */
  async perform(step: ForeignStep, signal: AbortSignal): Promise<StepOutcome> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + maxRetryMs;
    while (true) {
      const outcome = await this.#attempt(step, signal);
      const isRetried = outcome.kind === "rejected" && isWebhookDown(outcome) && clock.monotonic() < deadline;
      if (!isRetried) return outcome;
      await clock.sleep(retryMs, signal);
    }
  }

  async #attempt(step: ForeignStep, signal: AbortSignal): Promise<StepOutcome> {
    try {
      return await this.#perform(step, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError) return { kind: "rejected", code: error.code, message: error.message };
      if (error instanceof NothingSelected) return { kind: "notFound", message: error.message };
      throw error;
    }
  }

  async #perform(step: StepAction, signal: AbortSignal): Promise<StepOutcome> {
    const { client, clock, restartOperator } = this.#options;
    switch (step.kind) {
      case "apply":
        for (const object of step.objects) await this.#apply(object, signal);
        return done;
      case "patch": {
        const { resource, key } = await this.#find(step.target, signal);
        const { subresource } = step;
        await client.patch(resource, key, clientPatch(step.patch), { subresource, fieldManager, signal });
        return done;
      }
      case "delete": {
        const { resource, key } = await this.#find(step.target, signal);
        await client.delete(resource, key, { propagationPolicy: step.propagationPolicy ?? "Background", signal });
        return done;
      }
      case "scale":
        await this.#scale(step.target, step.replicas, signal);
        return done;
      case "wait":
        return await this.#wait(step, signal);
      case "sleep":
        await clock.sleep(step.durationMs, signal);
        return done;
      case "restart":
        await restartOperator(signal);
        return done;
      default:
        return step satisfies never;
    }
  }

  async #apply(object: UntypedObject, signal: AbortSignal): Promise<void> {
    const { namespace: group = "", name: version } = splitKey(object.apiVersion);
    const query = { group, version, kind: object.kind };
    const resource = await this.#known(() => this.#discovery.findKind(query, signal), signal);
    if (resource === undefined) throw unknownKind(`${object.kind} of ${object.apiVersion}`);
    const whole = { ...object, metadata: { ...object.metadata, ...this.#place(resource, object.metadata.namespace) } };
    await this.#options.client.apply(resource, whole, { fieldManager, force: true, signal });
  }

  /** The kind, also if it is newer than the last discovery. */
  async #known(
    find: () => Promise<{ readonly resource: Resource<KubeObject> } | undefined>,
    signal: AbortSignal,
  ): Promise<Resource<KubeObject> | undefined> {
    const found = await find();
    if (found !== undefined) return found.resource;
    await this.#discovery.refresh(signal);
    return (await find())?.resource;
  }

  #place(resource: Resource, namespace = this.#options.namespace): { readonly namespace?: string } {
    return resource.scope === "Cluster" ? {} : { namespace };
  }

  /** By the scale subresource, else by `spec.replicas` itself. */
  async #scale(target: ObjectSelector, replicas: number, signal: AbortSignal): Promise<void> {
    const { resource, key } = await this.#find(target, signal);
    const kind = await this.#discovery.findKind(resource, signal);
    const subresource = kind?.subresources.includes("scale") === true ? "scale" : undefined;
    const patch: Patch<Resource<KubeObject>> = clientPatch({ kind: "merge", value: { spec: { replicas } } });
    await this.#options.client.patch(resource, key, patch, { subresource, fieldManager, signal });
  }

  /** The object that a step is about. @throws NothingSelected */
  async #find(target: ObjectSelector, signal: AbortSignal): Promise<Selected> {
    const resource = await this.#known(() => this.#discovery.find(target.kind, signal), signal);
    if (resource === undefined) throw unknownKind(target.kind);
    const place = this.#place(resource, target.namespace).namespace;
    if (target.name !== undefined && target.owner === undefined && target.labels === undefined) {
      return { resource, key: place === undefined ? target.name : `${place}/${target.name}` };
    }
    const [first] = await this.#select(resource, target, signal);
    if (first === undefined) throw new NothingSelected(`Cannot find ${selectorText(target)}: nothing is selected`);
    const { namespace, name = "" } = first.metadata;
    return { resource, key: namespace === undefined ? name : `${namespace}/${name}` };
  }

  /** The selected objects, by name. */
  async #select(
    resource: Resource<KubeObject>,
    { namespace, name, labels, owner }: ObjectSelector,
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const selection = { ...this.#place(resource, namespace), labelSelector: labels, signal };
    const { items } = await this.#options.client.listAll(resource, selection);
    return items.filter(({ metadata }) =>
      (name === undefined || metadata.name === name) &&
      (owner === undefined ||
        metadata.ownerReferences?.some((one) => one.kind === owner.kind && one.name === owner.name) === true)
    ).toSorted((a, b) => (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1);
  }

  async #wait(
    { target, until, timeoutMs }: StepAction & { readonly kind: "wait" },
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const { clock } = this.#options;
    const resource = await this.#known(() => this.#discovery.find(target.kind, signal), signal);
    if (resource === undefined) throw unknownKind(target.kind);
    const deadline = clock.monotonic() + timeoutMs;
    while (true) {
      const selected = await this.#select(resource, target, signal);
      if (isReached(selected, until)) return done;
      if (clock.monotonic() >= deadline) {
        const state = selected.length === 0 ? "it does not exist" : "it is not";
        const message = `Cannot wait for ${selectorText(target)} ${awaitedText(until)}: ${state} after ${timeoutMs} ms`;
        return { kind: "timedOut", message };
      }
      await clock.sleep(lookMs, signal);
    }
  }
}

interface Selected {
  readonly resource: Resource<KubeObject>;
  /** `namespace/name`, or `name`. */
  readonly key: string;
}

const done: StepOutcome = { kind: "done" };

/** A step names an object that does not exist, or a kind that the server does not serve. */
class NothingSelected extends Error {}

function unknownKind(kind: string): NothingSelected {
  return new NothingSelected(`Cannot find ${kind}: the server does not know the kind. Add its CRD to --crds`);
}

/** A patch from a file, whose fields nothing knows but the server. */
function clientPatch(patch: StepPatch): Patch<Resource<KubeObject>> {
  return patch as Patch<Resource<KubeObject>>;
}

/** Whether the selected objects are in the awaited state. Of several, one is enough. */
function isReached(selected: readonly KubeObject[], until: AwaitedState): boolean {
  switch (until.kind) {
    case "exists":
      return selected.length > 0;
    case "deleted":
      return selected.length === 0;
    case "condition":
      return selected.some((object) => hasCondition(object, until));
    case "jsonpath": {
      const path = new JsonPath(until.path);
      return selected.some((object) => {
        const values = path.find(Object.fromEntries(Object.entries(object))) ?? [];
        return values.some((value) => until.value === undefined || textOf(value) === until.value);
      });
    }
    default:
      return until satisfies never;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : printExactJson(value);
}

/** As `kubectl wait` has it: a condition of an older generation does not count. */
function hasCondition(object: KubeObject, until: AwaitedState & { readonly kind: "condition" }): boolean {
  const status: unknown = Reflect.get(object, "status");
  if (typeof status !== "object" || status === null) return false;
  const conditions: unknown = Reflect.get(status, "conditions");
  if (!Array.isArray(conditions)) return false;
  return conditions.some((one: unknown) => {
    if (typeof one !== "object" || one === null) return false;
    const observed: unknown = Reflect.get(one, "observedGeneration") ?? Reflect.get(status, "observedGeneration");
    const isOld = typeof observed === "number" && observed < (object.metadata.generation ?? 0);
    return !isOld && Reflect.get(one, "type") === until.type && Reflect.get(one, "status") === until.status;
  });
}
