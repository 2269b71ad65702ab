/**
 * Operators that remember something only in memory, where it is lost when the process ends: a choice that must not change, and
 * work that is still to be done.
 */
import {
  ConfigMap,
  controller,
  defineResource,
  done,
  manifest,
  type OperatorController,
  requeueAfter,
  withFactory,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const Tunnel = defineResource({
  group: "tunnels.example.dev",
  version: "v1",
  kind: "Tunnel",
  scope: "Namespaced",
  spec: z.object({ isOpen: z.boolean().default(true) }),
  status: z.object({ phase: z.string().optional() }),
});

const tunnels = new UserSteps("tunnels.example.dev/v1", "Tunnel");

/** Gives each Tunnel the next port. */
function countsPorts(): OperatorController {
  // Wrong: the next process counts anew, in the order in which it finds the Tunnels.
  const ports = new Map<string, number>();
  return controller("counts-ports").for(Tunnel).owns(ConfigMap).reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const port = ports.get(`${namespace}/${name}`) ?? 9_000 + ports.size;
    ports.set(`${namespace}/${name}`, port);
    await ctx.apply(
      manifest(ConfigMap, { metadata: { namespace, name: `${name}-port` }, data: { port: String(port) } }),
    );
    return done;
  });
}

const drainMs = 30_000;

/** Closes a Tunnel half a minute after it is no longer wanted, so that its connections can end. */
function remembersDrains(): OperatorController {
  // Wrong: the next process does not know what is to be closed, and the phase says that it is taken care of.
  const drainsUntil = new Map<string, number>();
  return controller("remembers-drains").for(Tunnel).owns(ConfigMap, { deletes: true }).reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const key = `${namespace}/${name}`;
    const now = ctx.clock.now();
    if (ctx.object.spec.isOpen) {
      drainsUntil.delete(key);
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { open: "yes" } }));
      await ctx.patchStatus({ phase: "Open" });
      return done;
    }
    if (ctx.object.status?.phase === "Open") {
      drainsUntil.set(key, now + drainMs);
      await ctx.patchStatus({ phase: "Closing" });
    }
    const until = drainsUntil.get(key);
    if (until === undefined) return done;
    if (now < until) return requeueAfter(until - now);
    await ctx.deleteAll(ConfigMap);
    await ctx.patchStatus({ phase: "Closed" });
    return done;
  });
}

export const memory: readonly CorpusCase[] = [
  {
    name: "port-in-memory",
    kind: "bug",
    class: "state only in memory: a choice",
    about: "After a restart each Tunnel may get the port of another one, and its clients reach the wrong end.",
    controllers: [withWorkloads(
      withFactory(countsPorts),
      workload("two tunnels", tunnels.create("west", { spec: {} }), tunnels.create("east", { spec: {} })),
    )],
    expected: ["end-state"],
  },
  {
    name: "drain-in-memory",
    kind: "bug",
    class: "state only in memory: work to be done",
    about: "A Tunnel that is being closed when the operator restarts stays open for ever.",
    controllers: [withWorkloads(
      withFactory(remembersDrains),
      workload(
        "close",
        tunnels.create("west", { spec: {} }),
        tunnels.patch("west", { spec: { isOpen: false } }),
        { kind: "advance", toMs: 300_000 },
      ),
    )],
    expected: ["end-state", "object-lifecycle"],
  },
];
