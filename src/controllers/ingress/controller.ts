/**
 * ingress: creates an Ingress for each Service with the annotation `ingress/http`. It re-creates the Ingress manager of the
 * tutorials. Flags of `run` limit the hosts that Services may claim.
 *
 * Guarantees: an Ingress is changed or deleted only while the Service controls it, by UID; it is deleted only after a live
 * read of the Service, which still must not desire it; a Service with an invalid claim loses its Ingress. A converged Service
 * causes no write and no Event.
 */
import {
  changed,
  controller,
  type ControllerDefinition,
  controllerOf,
  done,
  type EventSource,
  flag,
  Ingress,
  isControlledBy,
  keyOf,
  type KubeObject,
  logger,
  NotControlledError,
  type OperatorController,
  type ReconcileContext,
  type Result,
  Service,
  withFlags,
  z,
} from "../../mod.ts";
import { CurrentRules } from "./current_rules.ts";
import { desiredIngress } from "./desired.ts";
import { parseClassRule, parseHostRule, type Rules } from "./rules.ts";

type Context = ReconcileContext<typeof Service, typeof Service | typeof Ingress>;

/**
 * Creates the controller.
 *
 * @param rules What Services may claim. @default everything
 * @param sources What reconciles Services again besides changes. @default nothing
 */
export function ingressManager(rules: Rules = {}, ...sources: readonly EventSource[]): ControllerDefinition {
  const definition = controller("ingress", {
    maxConcurrentReconciles: 5,
    queueName: "ingressManager",
    maxRetries: 10,
    droppedReason: "IngressFailed",
  })
    .for(Service, { when: changed.content })
    // Also for foreign Ingresses of the same name: a Service waits for their deletion.
    .owns(Ingress, { to: (ingress) => [keyOf(ingress)], when: changed.resourceVersion, deletes: true })
    .reconcile((ctx) => reconcile(ctx, rules));
  return { ...definition, sources };
}

async function reconcile(ctx: Context, rules: Rules): Promise<Result> {
  const desired = desiredIngress(ctx.object, rules);
  switch (desired.kind) {
    case "ingress":
      try {
        await ctx.apply(desired.ingress);
      } catch (error) {
        if (!(error instanceof NotControlledError)) throw error;
        reportConflict(ctx, error.object);
      }
      return done;
    case "rejected":
      ctx.event("Warning", desired.reason, desired.note);
      return await remove(ctx, rules);
    case "none":
      return await remove(ctx, rules);
    default:
      return desired satisfies never;
  }
}

/** Deletes the Service's own Ingress, if there is one. */
async function remove(ctx: Context, rules: Rules): Promise<Result> {
  const cached = ctx.find(Ingress, keyOf(ctx.object));
  if (cached === undefined || !isControlledBy(cached, ctx.object)) return done;
  await ctx.delete(Ingress, cached, { onlyIf: (live) => desiredIngress(live, rules).kind !== "ingress" });
  return done;
}

/** Reports a foreign Ingress. It is not an error to retry: its deletion causes the next reconcile. */
function reportConflict(ctx: Context, object: KubeObject): void {
  const { name = "" } = ctx.object.metadata;
  const owner = controllerOf(object);
  if (owner?.kind === "Service" && owner.apiVersion === "v1" && owner.name === name) {
    return ctx.log.debug("waiting for the garbage collection of the Ingress of a deleted Service");
  }
  ctx.event("Warning", "IngressExists", `Ingress "${name}" already exists and is not managed by this Service`);
}

/** A list of texts that `parse` reads. The message of its errors becomes the error of the flag. */
function listOf<T>(parse: (text: string) => T) {
  return z.array(z.string()).optional().transform((texts, context) =>
    texts?.flatMap((text, index) => {
      try {
        return [parse(text)];
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        context.addIssue({ code: "custom", message, path: [index] });
        return [];
      }
    })
  );
}

const flags = z.object({
  ingressClass: flag(listOf(parseClassRule), {
    flags: "--ingress-class <class>",
    about: 'class of the Ingresses, or NAMESPACE=CLASS for one namespace; can be repeated (default: "ingress")',
    example: "--ingress-class nginx --ingress-class team-a=internal",
    arity: "list",
    isReloadable: true,
  }),
  allowedHosts: flag(listOf(parseHostRule), {
    flags: "--allowed-hosts <host>",
    about:
      "host[/path] that Services may claim, *.NAME for all names below it, NAMESPACE=HOST for one namespace; can be " +
      "repeated (default: every host)",
    example: "--allowed-hosts team-a=*.a.example.com --allowed-hosts example.com/shop",
    arity: "list",
    isReloadable: true,
  }),
});

export const ingressController: OperatorController = withFlags(
  ingressManager(),
  flags,
  ({ flags: given, onReload }) => {
    const rules = new CurrentRules(rulesOf(given));
    onReload((values) => rules.replace(rulesOf(values)));
    return ingressManager(rules, rules.source);
  },
);

function rulesOf({ ingressClass: classes, allowedHosts: hosts }: z.output<typeof flags>): Rules {
  if (hosts === undefined) logger("ingress").warn("every Service may claim every host, --allowed-hosts is not given");
  return { classes, hosts };
}
