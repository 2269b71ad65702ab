/**
 * Daemons: a function that runs beside the reconciler for as long as its object exists, such as a connection to what the
 * object describes. `daemon` of the builder declares it, `_object_daemons.ts` runs it.
 *
 * Guarantees: one daemon for each object, in the replica that reconciles it: in the leader, or in the replica that has its
 * slot. It starts after the first attempt to reconcile, and is stopped before `finalize` is called and the finalizer goes, before its slot
 * moves, and when the process stops. When its grace period is over, it counts as ended, and its client sends nothing more.
 * The object is read live before each start, so that an old cache starts nothing for an object that is gone.
 * Caveats: it does not know what happened while it did not run, so it begins by looking. What it writes reconciles the
 * object like a change by any other client.
 */
import type { Infer, KubeObject, ObjectKey, Resource } from "../api/mod.ts";
import { type ReconcileContext, reconcileContext } from "./context.ts";
import type { Toolbox } from "./toolbox.ts";

/** When and how a daemon is restarted and stopped. */
export interface DaemonOptions {
  /** Whether a daemon that returns is started again, with backoff, like one that throws. @default "OnFailure": not */
  readonly restartPolicy?: "Always" | "OnFailure";
  /** The first delay before a restart, in milliseconds; it doubles with each one. @default 1_000 */
  readonly backoffMs?: number;
  /** The longest delay before a restart, in milliseconds. @default 60_000 */
  readonly maxBackoffMs?: number;
  /** Milliseconds that a daemon has to return after its signal has aborted. @default 30_000 */
  readonly graceMs?: number;
}

/**
 * What a daemon works with. `signal` aborts when it has to stop.
 *
 * @example A daemon as a function of its own
 * ```ts
 * import { ConfigMap, controller, type DaemonContext, done } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const connected: string[] = [];
 * async function connect(ctx: DaemonContext<typeof ConfigMap, typeof ConfigMap>): Promise<void> {
 *   const { name = "" } = ctx.object.metadata;
 *   connected.push(name);
 *   await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve, { once: true }));
 *   connected.splice(connected.indexOf(name), 1);
 * }
 * const links = controller("links").for(ConfigMap).daemon(connect).reconcile(() => Promise.resolve(done));
 *
 * await using world = await World.start({ controllers: [links], cluster: false });
 * await world.create(ConfigMap, { name: "a" });
 * await world.settled();
 * console.assert(connected.includes("a"));
 * await world.delete(ConfigMap, "default/a");
 * await world.settled();
 * console.assert(!connected.includes("a"));
 * ```
 */
export type DaemonContext<Primary extends Resource, Declared extends Resource> =
  & Pick<
    ReconcileContext<Primary, Declared>,
    "signal" | "log" | "clock" | "client" | "cluster" | "hub" | "find" | "get" | "list" | "event"
  >
  & {
    /** The object as the cache has it now; its last state after it is gone. */
    readonly object: Infer<Primary>;
    /** Asks for a reconcile of the object, for example when something has happened at the other end of a connection. */
    reconcile(): void;
  };

/** The object of a daemon, at any time. */
export interface DaemonObject {
  /** Its newest state in the cache; the last one after it is gone. */
  current(): KubeObject;
  /** Asks for a reconcile of it. */
  reconcile(): void;
}

/** A declared daemon, without the types of its objects. */
export interface DaemonDefinition {
  /** Runs until it has nothing to do, or the signal of the toolbox aborts. */
  readonly run: (toolbox: Toolbox, object: DaemonObject) => Promise<void>;
  /** When and how it is restarted and stopped. */
  readonly options: DaemonOptions;
}

/** What the attempts of a controller do with the daemons of its objects. */
export interface Daemons {
  /** Starts the daemon of an object, unless it runs. */
  ensure(object: KubeObject): void;
  /** Stops it. @returns milliseconds until it counts as ended at the latest; 0: it has ended. The key comes back when it ends. */
  stop(key: ObjectKey): number;
}

/** Stops the daemon of an object that is deleted or gone. @returns milliseconds that the reconcile has to wait */
export function stopBeforeEnd(daemons: Daemons, key: ObjectKey, object: KubeObject | undefined): number {
  return object === undefined || object.metadata.deletionTimestamp !== undefined ? daemons.stop(key) : 0;
}

/** Starts the daemon of an object that exists. It has the finalizer by then, so that it cannot go before its daemon. */
export function ensureDaemon(daemons: Daemons, finalizer: string | undefined, object: KubeObject | undefined): void {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined || finalizer === undefined) return;
  if (object.metadata.finalizers?.includes(finalizer) === true) daemons.ensure(object);
}

/** Creates the untyped form of a daemon. @throws RangeError when a time is not usable */
export function daemonDefinition<Primary extends Resource, Declared extends Resource>(
  definition: { readonly name: string; readonly primary: Primary; readonly declared: readonly Resource[] },
  fn: (ctx: DaemonContext<Primary, Declared>) => Promise<void>,
  options: DaemonOptions,
): DaemonDefinition {
  const { name, primary, declared } = definition;
  const { backoffMs = 1_000, maxBackoffMs = Math.max(backoffMs, 60_000), graceMs = 0 } = options;
  if (!(backoffMs > 0 && maxBackoffMs >= backoffMs && maxBackoffMs < Infinity && graceMs >= 0 && graceMs < Infinity)) {
    throw new RangeError(
      `Cannot declare the daemon of controller "${name}": backoffMs ${backoffMs}, maxBackoffMs ${maxBackoffMs} or graceMs ` +
        `${graceMs} is out of range`,
    );
  }
  const run = async (toolbox: Toolbox, { current, reconcile }: DaemonObject) => {
    const object = () => current() as Infer<Primary>;
    const { signal, log, clock, client, cluster, hub, find, get, list, event } = reconcileContext<Primary, Declared>(
      ...[primary, declared, object(), toolbox] as const,
    );
    await fn({
      ...{ signal, log, clock, client, cluster, hub, find, get, list, event, reconcile },
      get object() {
        return object();
      },
    });
  };
  return { run, options };
}
