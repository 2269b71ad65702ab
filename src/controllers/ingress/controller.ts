/**
 * ingress: a Service annotated `ingress/http` gets an Ingress of its name. Re-creates the Ingress manager of the tutorials.
 *
 * Guarantees: an Ingress is changed or deleted only while the Service controls it, by UID; one is deleted only after the
 * Service was read live and still does not want it; a Service that asks for what it may not have loses the Ingress it
 * had. A Service whose world is in order causes no write and no Event.
 */
import {
  changed,
  controller,
  type ControllerDefinition,
  controllerOf,
  done,
  Ingress,
  isControlledBy,
  keyOf,
  type KubeObject,
  NotControlledError,
  type ReconcileContext,
  type Result,
  Service,
} from "../../mod.ts";
import { wishOf } from "./desired.ts";
import type { Rules } from "./rules.ts";

type Context = ReconcileContext<typeof Service, typeof Service | typeof Ingress>;

/** Makes the controller. @param rules what Services may claim; by default everything */
export function ingressManager(rules: Rules = {}): ControllerDefinition {
  return controller("ingress", {
    maxConcurrentReconciles: 5,
    queueName: "ingressManager",
    maxRetries: 10,
    droppedReason: "IngressFailed",
  })
    .for(Service, { when: changed.content })
    // Somebody else's of that name, too: its end is what a Service waits for.
    .owns(Ingress, { to: (ingress) => [keyOf(ingress)], when: changed.resourceVersion, deletes: true })
    .reconcile((ctx) => bring(ctx, rules));
}

async function bring(ctx: Context, rules: Rules): Promise<Result> {
  const wish = wishOf(ctx.object, rules);
  switch (wish.kind) {
    case "ingress":
      try {
        await ctx.apply(wish.ingress);
      } catch (error) {
        if (!(error instanceof NotControlledError)) throw error;
        tellOccupied(ctx, error.object);
      }
      return done;
    case "refused":
      ctx.event("Warning", wish.reason, wish.note);
      return await remove(ctx, rules);
    case "none":
      return await remove(ctx, rules);
    default:
      return wish satisfies never;
  }
}

/** Deletes the Service's own Ingress, if there is one. */
async function remove(ctx: Context, rules: Rules): Promise<Result> {
  const held = ctx.find(Ingress, keyOf(ctx.object));
  if (held === undefined || !isControlledBy(held, ctx.object)) return done;
  await ctx.delete(Ingress, held, { onlyIf: (live) => wishOf(live, rules).kind !== "ingress" });
  return done;
}

/** Not retried: the end of what is in the way is heard of. */
function tellOccupied(ctx: Context, object: KubeObject): void {
  const { name = "" } = ctx.object.metadata;
  const holder = controllerOf(object);
  if (holder?.kind === "Service" && holder.apiVersion === "v1" && holder.name === name) {
    return ctx.log.debug("the Ingress of a Service of the same name is being collected");
  }
  ctx.event("Warning", "IngressExists", `Ingress "${name}" already exists and is not managed by this Service`);
}
