/**
 * ControllerGroup: the controllers of a Manager. It runs them for each term of leadership: a Controller runs once, so a
 * process that leads again gets new Controllers over the same caches.
 *
 * Guarantees: a controller that fails is restarted with a backoff of 1 s to 1 min while the others continue. The Events
 * that the controllers have recorded are sent before `run` returns, so before the Lease is released.
 */
import { type Resource, resourceName, splitKey } from "../api/mod.ts";
import { aborted, Backoff, type Clock, isAbortOf, type Random, type Recovery } from "../async/mod.ts";
import { type InformerStatus, problemOf } from "../cache/mod.ts";
import type { Client, Transport } from "../client/mod.ts";
import {
  type Caches,
  Controller,
  type ControllerDefinition,
  isInHub,
  reconcileMetrics,
  type WatchDefinition,
} from "../controller/mod.ts";
import { type Logger, logger, type MetricsRegistry, type Recorder } from "../observe/mod.ts";
import { queueMetrics } from "../queue/mod.ts";
import { DeclaredCaches, declaredTransport, PermissionDenials } from "./access/mod.ts";
import { EventRecorder } from "./event_recorder.ts";
import { type DebugMember, ReconcileTally } from "./debug/mod.ts";
import type { ImmediateCheck } from "./health/mod.ts";
import { MemberCaches } from "./member_caches.ts";
import type { FleetMembership } from "./membership.ts";
import { ControllerShards, type ShardMember, slotRuleOf } from "./sharding/mod.ts";
import type { SharedCaches } from "./shared_caches.ts";

/** What the controllers of a group share. */
export interface ControllerGroupOptions {
  /** The clients of the controllers: they write while the process leads, while it is a member of its group, or always. */
  readonly clients: Readonly<Record<RunsOn, Client>>;
  readonly caches: SharedCaches;
  /** Undefined outside of the members of a Fleet. */
  readonly membership: FleetMembership | undefined;
  readonly name: string;
  readonly instance: string;
  readonly resyncMs: number | undefined;
  readonly workerJitterMs: number | undefined;
  /** Rejects requests that a controller did not declare. */
  readonly strictAccess: boolean;
  /** Returns the transport of one controller, which may add its credentials. */
  readonly transportFor: TransportFor | undefined;
  readonly metrics: MetricsRegistry | undefined;
  readonly recorder: Recorder | undefined;
  /** This replica, when keys are divided between replicas. */
  readonly shards: ShardMember | undefined;
  /** Ends waits for the server early. */
  readonly recovery: Recovery;
  readonly clock: Clock;
  readonly random: Random;
}

/** Returns the transport for the requests of one controller. @param transport that of the Manager */
export type TransportFor = (controller: string, transport: Transport) => Transport;

/** A key that is not reconciled for a while, because the controller's writes were reverted again and again. */
export interface ParkedKey {
  /** The name of the controller. */
  readonly controller: string;
  /** The key of the primary object. */
  readonly key: string;
  /** Which writes were reverted, as a sentence for people. */
  readonly reason: string;
}

/** A key that failed and will be retried. */
export interface RetryingKey {
  /** The name of the controller. */
  readonly controller: string;
  /** The key of the primary object. */
  readonly key: string;
  /** How often it has failed in a row. */
  readonly retries: number;
  /** The message of the last error. */
  readonly error: string;
}

/** A key that will be reconciled again because its controller asked for it. */
export interface RequeuedKey {
  /** The name of the controller. */
  readonly controller: string;
  /** The key of the primary object. */
  readonly key: string;
  /** When it is due, in milliseconds since the epoch. */
  readonly dueAt: number;
}

/** What a controller has to do. */
export interface ControllerActivity {
  /** The name of the controller. */
  readonly controller: string;
  /** Primary objects in the cache. */
  readonly objects: number;
  /** Keys that wait for a worker. */
  readonly queued: number;
  /** Keys that are reconciled now. */
  readonly running: number;
  /** Keys that will be queued later: for a retry, or because the controller asked for it. */
  readonly waiting: number;
}

/** A controller of the group, and what is known of it from one run to the next. */
interface Member {
  readonly definition: ControllerDefinition;
  readonly denials: PermissionDenials;
  /** Counts the reconciles of all its runs. */
  readonly tally: ReconcileTally;
  /** Undefined while it does not run. */
  running: Controller | undefined;
  /** Present while it runs and its keys are divided between replicas. */
  shards: ControllerShards | undefined;
  /** The error that ended the last run; undefined while it runs. */
  failure: unknown;
}

/**
 * The replicas that run a controller: each for its part of the keys, the elected leader for all keys, or every replica for
 * all keys.
 */
export type RunsOn = "shards" | "leader" | "every";

/** How long a process whose requests get no response counts as following the server, because its watches are open. */
const maxDownMs = 10_000;

export class ControllerGroup {
  readonly #options: ControllerGroupOptions;
  readonly #members: Member[] = [];
  readonly #log: Logger;

  constructor(options: ControllerGroupOptions) {
    this.#options = options;
    this.#log = logIn(options, logger("manager"));
  }

  /** @throws TypeError when a controller with that name exists, or it watches a kind that must not be cached. */
  add(definition: ControllerDefinition): void {
    if (this.#members.some(({ definition: { name } }) => name === definition.name)) {
      throw new TypeError(`Cannot add controller "${definition.name}": a controller with that name exists`);
    }
    const { caches, clock } = this.#options;
    const { fieldManager = definition.name } = definition.options;
    const own = definition.watches.filter(({ resource }) => !isOfHub(resource, this.#options));
    for (const watch of own) caches.declare(watch, definition);
    if (this.#runsOn(definition) === "shards") assertShardable(definition);
    const denials = new PermissionDenials(definition.primary, clock);
    const state = { running: undefined, shards: undefined, failure: undefined };
    this.#members.push({ definition, denials, tally: new ReconcileTally(), ...state });
    for (const { resource, writes } of own) {
      if (writes) caches.keepFieldsOf(resource, fieldManager);
    }
  }

  /** One readiness check per controller: it runs, all its caches are synced, and no permission is missing. */
  checks(): readonly ImmediateCheck[] {
    return this.#members.map((member) => ({
      name: member.definition.name,
      probe: "ready",
      problem: () => problemOfController(member, cachesOf(member.definition, this.#options), this.#options),
    }));
  }

  /** True while all controllers run and none has anything to do. */
  isIdle(): boolean {
    return this.#members.every(({ definition, running, shards }) => {
      // Another replica runs the controllers that only one runs.
      if (running === undefined) return this.#options.shards !== undefined && this.#runsOn(definition) === "leader";
      return running.isIdle() && shards?.isSettled() !== false;
    });
  }

  /** True when some controllers run on these replicas. */
  has(runsOn: RunsOn): boolean {
    return this.#members.some(({ definition }) => this.#runsOn(definition) === runsOn);
  }

  /** The controllers whose keys are divided between replicas. */
  get divided(): readonly ControllerDefinition[] {
    return this.#members.map(({ definition }) => definition).filter((one) => this.#runsOn(one) === "shards");
  }

  #runsOn({ options: { replicas } }: ControllerDefinition): RunsOn {
    if (replicas === "every") return "every";
    return this.#options.shards === undefined || replicas === "one" ? "leader" : "shards";
  }

  /** What each running controller has to do. */
  activity(): readonly ControllerActivity[] {
    return this.#controllers().map(({ name: controller, definition, queue }) => {
      const informer = cachesOf(definition, this.#options).findInformer(definition.primary);
      const { queued, running, waiting } = queue.counts;
      const objects = (informer?.statuses() ?? []).reduce((sum, status) => sum + status.objects, 0);
      return { controller, objects, queued, running, waiting };
    });
  }

  /** All controllers, and the queues of those that run. */
  members(): readonly DebugMember[] {
    return this.#members.map(({ definition, tally, running, failure }) => ({
      definition,
      tally,
      runsOn: this.#runsOn(definition),
      queue: running?.queue,
      stoppedKeys: () => running?.stoppedKeys ?? [],
      failure,
    }));
  }

  /** The parked keys, and why they are parked. */
  parked(): readonly ParkedKey[] {
    return this.#controllers().flatMap(({ name: controller, queue }) =>
      queue.counts.parked === 0
        ? []
        : queue.snapshot().flatMap(({ key, state }) =>
          state.kind === "parked" ? [{ controller, key, reason: state.reason }] : []
        )
    );
  }

  /** The keys that failed and will be retried. */
  retrying(): readonly RetryingKey[] {
    return this.#controllers().flatMap(({ name: controller, queue }) =>
      queue.counts.waiting === 0 ? [] : queue.snapshot().flatMap(({ key, state, retries, causes }) => {
        const error = causes.findLast(({ change }) => change === "retry")?.error ?? "";
        return state.kind === "waiting" && retries > 0 ? [{ controller, key, retries, error }] : [];
      })
    );
  }

  /** The keys that will be reconciled again at a time that their controllers asked for. */
  requeued(): readonly RequeuedKey[] {
    return this.#controllers().flatMap(({ name: controller, queue }) =>
      queue.counts.waiting === 0
        ? []
        : queue.snapshot().flatMap(({ key, state, retries }) =>
          state.kind === "waiting" && retries === 0 ? [{ controller, key, dueAt: state.dueAt }] : []
        )
    );
  }

  /** Creates all caches that the controllers need, so that a standby has filled them when it takes over. */
  warmUp(): void {
    for (const { definition } of this.#members) {
      const caches = cachesOf(definition, this.#options);
      for (const { resource } of definition.watches) caches.informer(resource);
    }
  }

  /**
   * Runs controllers until `stop`, then until running reconciles have finished and Events are sent.
   *
   * @param runsOn Those that run on these replicas.
   */
  async run(stop: AbortSignal, kill: AbortSignal, runsOn: RunsOn): Promise<void> {
    const members = this.#members.filter(({ definition }) => this.#runsOn(definition) === runsOn);
    const running = members.map((member) => this.#keepRunning(member, stop, kill));
    // A Manager without controllers runs its servers until the stop.
    await Promise.all([...running, aborted(stop)]);
  }

  async #keepRunning(member: Member, stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { recovery, clock, random } = this.#options;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 1, resetAfterMs: 120_000, clock, random });
    while (!stop.aborted) {
      try {
        return await this.#runOnce(member, stop, kill);
      } catch (error) {
        if (isAbortOf(kill, error)) return;
        member.failure = error;
        this.#log.error("controller failed, restarting it", { controller: member.definition.name, error });
        await recovery.sleep(backoff.next(), stop).catch(() => undefined);
      }
    }
  }

  async #runOnce(member: Member, stop: AbortSignal, kill: AbortSignal): Promise<void> {
    const { definition } = member;
    const { membership, recovery, clock, random, resyncMs, workerJitterMs, metrics, recorder } = this.#options;
    const { name, options } = definition;
    const client = this.#clientOf(member);
    const events = this.#createRecorder(definition, client);
    const eventsStop = new AbortController();
    const sending = events.run(eventsStop.signal, kill);
    const queueLabels = { name: options.queueName ?? name, controller: name };
    member.failure = undefined;
    using shards = this.#createShards(definition);
    const controller = new Controller({
      shards,
      definition,
      client,
      ...(membership === undefined ? {} : { cluster: membership.cluster, hub: membership.hub, turn: membership.turn }),
      caches: new DeclaredCaches(cachesOf(definition, this.#options), definition),
      events,
      clock,
      random,
      recovery,
      resyncMs,
      workerJitterMs,
      queueMetrics: metrics === undefined ? undefined : queueMetrics(metrics, queueLabels),
      reconcileMetrics: member.tally.observing(metrics && reconcileMetrics(metrics, { controller: name })),
      recorder,
    });
    member.running = controller;
    member.shards = shards;
    try {
      await controller.run(stop, kill);
    } finally {
      member.running = undefined;
      member.shards = undefined;
      eventsStop.abort();
      await sending;
    }
  }

  #createShards(definition: ControllerDefinition): ControllerShards | undefined {
    const { shards, caches } = this.#options;
    if (shards === undefined || this.#runsOn(definition) !== "shards") return undefined;
    const own = caches.of(definition);
    return new ControllerShards({
      controller: definition.name,
      holds: shards.holds,
      rule: slotRuleOf(definition.options.shardKey ?? "uid"),
      informers: () => definition.watches.map(({ resource }) => own.informer(resource)),
    });
  }

  #clientOf({ definition, denials }: Member): Client {
    const { clients, strictAccess, transportFor = (_, transport) => transport } = this.#options;
    return clients[this.#runsOn(definition)].withTransport((transport) => {
      const own = transportFor(definition.name, transport);
      return denials.wrap(strictAccess ? declaredTransport(own, definition) : own);
    });
  }

  #createRecorder(definition: ControllerDefinition, client: Client): EventRecorder {
    const { name, instance, recovery, clock, random } = this.#options;
    const { eventComponent: reportingController = `${name}/${definition.name}` } = definition.options;
    const log = logIn(this.#options, logger("events", definition.name));
    return new EventRecorder({
      client,
      reportingController,
      reportingInstance: instance,
      recovery,
      clock,
      random,
      log,
    });
  }

  #controllers(): readonly Controller[] {
    return this.#members.flatMap(({ running }) => running ?? []);
  }
}

/** The caches of a controller. In a member of a Fleet, those of the hub are behind them. */
function cachesOf(definition: ControllerDefinition, { caches, membership }: ControllerGroupOptions): Caches {
  const own = caches.of(definition);
  return membership === undefined ? own : new MemberCaches(own, membership.hub.caches);
}

function isOfHub(resource: Resource, { membership }: ControllerGroupOptions): boolean {
  return membership !== undefined && isInHub(resource);
}

function logIn({ membership }: ControllerGroupOptions, log: Logger): Logger {
  return membership === undefined ? log : log.with({ cluster: membership.cluster });
}

/** @throws TypeError when the keys of the controller cannot be divided as it says */
function assertShardable({ name, primary, options: { shardKey } }: ControllerDefinition): void {
  if (shardKey !== "namespace" || primary.scope === "Namespaced") return;
  throw new TypeError(
    `Cannot add controller "${name}": ${resourceName(primary)} has no namespaces to shard by. Use another shardKey`,
  );
}

/** For a missing permission, the problem contains the missing rule as YAML that can be pasted into a ClusterRole. */
function problemOfController(
  { definition, denials, failure, shards: own }: Member,
  caches: Caches,
  { recovery: { downMs }, shards }: ControllerGroupOptions,
): string | undefined {
  // The caches of a replica that has got no slots stay empty, and it is ready to get some.
  const isWithoutSlots = own !== undefined && shards?.isWithoutSlots() === true;
  const problems = isWithoutSlots ? [] : definition.watches.flatMap((watch) => problemsOfCache(watch, caches));
  // The connection of a watch may look alive for minutes after its peer is gone.
  if (downMs >= maxDownMs) problems.unshift(`the API server has not responded for ${Math.floor(downMs / 1000)} s`);
  problems.push(...denials.missingRules.map((rule) => `it is forbidden; missing rule: ${rule}`));
  if (failure !== undefined) problems.unshift(failure instanceof Error ? failure.message : String(failure));
  return problems.length === 0 ? undefined : problems.join("; ");
}

function problemsOfCache({ resource, activation }: WatchDefinition, caches: Caches): readonly string[] {
  const informer = caches.findInformer(resource);
  // Until the caches are created, there is nothing that could have a problem: that is no readiness.
  if (informer === undefined) return [`${resourceName(resource)}: not synced yet (not started)`];
  return informer.statuses().flatMap((status) => {
    const problem = problemOf(status);
    if (problem === undefined) return [];
    if (!isForbidden(status)) return problem;
    // The statuses of a kind with a condition begin with that of the object that decides.
    const isOfKind = status.name.split(" ")[0] === resourceName(resource);
    const rule = activation === undefined || isOfKind
      ? readRule(resource)
      : readRule(activation.resource, splitKey(activation.key).name);
    return `${problem}; missing rule: ${rule}`;
  });
}

function isForbidden({ reflector }: InformerStatus): boolean {
  return reflector.kind === "waiting" && reflector.reason === "forbidden";
}

/** The PolicyRule for caching a kind, as a YAML flow mapping, which fits on one line of a log. */
function readRule({ group, plural }: Pick<Resource, "group" | "plural">, name?: string): string {
  const names = name === undefined ? "" : `, resourceNames: ["${name}"]`;
  return `{apiGroups: ["${group}"], resources: ["${plural}"]${names}, verbs: ["get", "list", "watch"]}`;
}
