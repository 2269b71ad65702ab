/**
 * Webhooks as values: `defaulting(NodePool, fn)` and `validating(NodePool, { create, update })`. Nothing runs; a server
 * (`webhook_server.ts`) answers with them, and the configurations that make the API server call them are read off them
 * (`configuration.ts`).
 *
 * Guarantees: a handler gets a frozen object of the Resource's type and what it returns is compared with it, so the patch
 * has what differs and nothing else; an object that is being deleted is not judged, so its finalizers can always go.
 *
 * Caveats: defaulting runs before the API server validates. An object that violates the schema is passed over, since the
 * API server refuses it right after in better words: what a handler fills in must be optional in the schema.
 */
import { apiVersionOf, type Infer, type LabelSelector, type Resource } from "../api/mod.ts";
import type { JsonPatchOperation } from "../client/mod.ts";
import type { AdmissionOperation, AdmissionRequest, AdmissionUser } from "./admission_review.ts";
import { checkedObject, deepFrozen, isBeingDeleted, typedObject } from "./_typed_object.ts";
import { jsonPatch } from "./json_patch.ts";
import { allow, type Denied, deny, type Verdict } from "./verdict.ts";

/** What a handler knows besides the object. */
export interface AdmissionContext {
  readonly operation: AdmissionOperation;
  /** Nothing will be stored: the handler must have no side effect either. */
  readonly dryRun: boolean;
  /** Who asks the API server. */
  readonly user: AdmissionUser;
  /** `status`, `scale`; absent for the object itself. */
  readonly subResource?: string;
  /** Aborts a second before the API server stops waiting. */
  readonly signal: AbortSignal;
  /** The question as it came. */
  readonly request: AdmissionRequest;
}

/** When and how the API server calls a webhook. Defaults are the safe ones. */
export interface WebhookOptions {
  /** Three words or more with dots between. @default "default.<plural>.<group>" or "validate.<plural>.<group>" */
  readonly name?: string;
  /** @default as controller-runtime: "/mutate-<group>-<version>-<kind>" or "/validate-…" */
  readonly path?: string;
  /** @default CREATE and UPDATE; for validating those that have a handler */
  readonly operations?: readonly AdmissionOperation[];
  /** Subresources that are judged too, e.g. `scale`. @default none */
  readonly subresources?: readonly string[];
  /** What happens when the webhook does not answer. @default "Fail" */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** @default "Equivalent" */
  readonly matchPolicy?: "Equivalent" | "Exact";
  /** @default "None" */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /** Seconds the API server waits, 1 to 30. The handler has one less. @default 10 */
  readonly timeoutSeconds?: number;
  /** @default all but the operator's own and kube-system */
  readonly namespaceSelector?: LabelSelector;
  /** @default all objects */
  readonly objectSelector?: LabelSelector;
  /** CEL expressions that all must hold before the webhook is asked. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  /** Whether to ask again when a later webhook changed the object. Defaulting only. @default "IfNeeded" */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
  /** Findings of `lintWebhooks` that were thought about, e.g. `locks-cluster`. @default none */
  readonly acceptedRisks?: readonly string[];
}

/** What a webhook decides: a verdict, or changes. */
export type Judgement =
  | Verdict
  | { readonly kind: "patched"; readonly operations: readonly JsonPatchOperation[] };

/** One admission webhook. */
export interface AdmissionWebhook {
  readonly kind: "mutating" | "validating";
  readonly name: string;
  readonly path: string;
  readonly resource: Resource;
  readonly operations: readonly AdmissionOperation[];
  readonly timeoutSeconds: number;
  readonly options: WebhookOptions;
  /** Answers one question. @throws what the handler throws */
  judge(request: AdmissionRequest, signal: AbortSignal): Promise<Judgement>;
}

/** Fills in what was left out. Returns the object as it shall be (a copy), or the refusal. */
export type DefaultingHandler<R extends Resource> = (
  object: Infer<R>,
  ctx: AdmissionContext,
) => Infer<R> | Denied | Promise<Infer<R> | Denied>;

/** Judges writes. An operation without a handler is not asked about. */
export interface ValidatingHandlers<R extends Resource> {
  readonly create?: (object: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
  readonly update?: (object: Infer<R>, old: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
  readonly delete?: (old: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
}

/**
 * A webhook that completes objects before they are stored.
 *
 * @param handler must give an object that it would not change again: the API server may ask twice
 * @example
 * ```ts
 * import { builtin } from "../api/mod.ts";
 * import { defaulting } from "./mod.ts";
 *
 * const webhook = defaulting(builtin.ConfigMap, (map) => ({ ...map, data: { colour: "red", ...map.data } }));
 * console.assert(webhook.path === "/mutate--v1-configmap");
 * ```
 */
export function defaulting<R extends Resource>(
  resource: R,
  handler: DefaultingHandler<R>,
  options: WebhookOptions = {},
): AdmissionWebhook {
  return {
    ...identityOf("mutating", resource, options),
    operations: options.operations ?? ["CREATE", "UPDATE"],
    async judge(request, signal) {
      const { object, operation } = request;
      if (object === undefined || operation === "DELETE" || isBeingDeleted(object)) return allow();
      const checked = checkedObject(resource, object);
      if (checked.kind === "invalid") return allow();
      const wanted = await handler(deepFrozen(checked.object), contextOf(request, signal));
      if (isDenied(wanted)) return wanted;
      const operations = jsonPatch(object, wanted);
      return operations.length === 0 ? allow() : { kind: "patched", operations };
    },
  };
}

/**
 * A webhook that allows or refuses writes.
 *
 * @example
 * ```ts
 * import { builtin } from "../api/mod.ts";
 * import { allow, deny, validating } from "./mod.ts";
 *
 * const webhook = validating(builtin.ConfigMap, {
 *   update: (map, old) => old.data?.owner === map.data?.owner ? allow() : deny("the owner cannot change"),
 * });
 * console.assert(webhook.operations.join() === "UPDATE");
 * ```
 */
export function validating<R extends Resource>(
  resource: R,
  handlers: ValidatingHandlers<R>,
  options: WebhookOptions = {},
): AdmissionWebhook {
  const handled = ([["CREATE", handlers.create], ["UPDATE", handlers.update], ["DELETE", handlers.delete]] as const)
    .flatMap(([operation, handler]) => handler === undefined ? [] : [operation]);
  return {
    ...identityOf("validating", resource, options),
    operations: options.operations ?? handled,
    judge: async (request, signal) => await judgeWrite(resource, handlers, request, contextOf(request, signal)),
  };
}

function judgeWrite<R extends Resource>(
  resource: R,
  handlers: ValidatingHandlers<R>,
  request: AdmissionRequest,
  ctx: AdmissionContext,
): Verdict | Promise<Verdict> {
  const { operation, object, oldObject } = request;
  switch (operation) {
    case "CREATE": {
      if (handlers.create === undefined || object === undefined) return allow();
      const checked = checkedObject(resource, object);
      if (checked.kind === "invalid") {
        const message = `${resource.kind} is invalid`;
        return deny(message, { causes: checked.issues.map(({ path, message }) => ({ field: path, message })) });
      }
      return handlers.create(deepFrozen(checked.object), ctx);
    }
    case "UPDATE":
      // What was stored under an older schema may still be changed, so neither side is checked against today's.
      if (handlers.update === undefined || object === undefined || isBeingDeleted(object)) return allow();
      return handlers.update(typedObject(resource, object), typedObject(resource, oldObject ?? object), ctx);
    case "DELETE":
      if (handlers.delete === undefined || oldObject === undefined) return allow();
      return handlers.delete(typedObject(resource, oldObject), ctx);
    case "CONNECT":
      return allow();
    default:
      return operation satisfies never;
  }
}

/** The path under which controller-runtime serves a webhook of this kind. */
export function webhookPath(kind: AdmissionWebhook["kind"], resource: Resource): string {
  const verb = kind === "mutating" ? "mutate" : "validate";
  return `/${verb}-${resource.group.replaceAll(".", "-")}-${resource.version}-${resource.kind.toLowerCase()}`;
}

function identityOf(kind: AdmissionWebhook["kind"], resource: Resource, options: WebhookOptions) {
  const verb = kind === "mutating" ? "default" : "validate";
  const group = resource.group === "" ? "core.pintle.dev" : resource.group;
  const { name = `${verb}.${resource.plural}.${group}`, path = webhookPath(kind, resource), timeoutSeconds = 10 } =
    options;
  const what = `${kind} webhook of ${apiVersionOf(resource)} ${resource.kind}`;
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}$/.test(name)) {
    throw new TypeError(`Cannot define ${what}: name "${name}" is not three or more words with dots between`);
  }
  if (!/^(\/[A-Za-z0-9_-]+)+$/.test(path)) throw new TypeError(`Cannot define ${what}: path "${path}" is malformed`);
  if (!(Number.isInteger(timeoutSeconds) && timeoutSeconds >= 1 && timeoutSeconds <= 30)) {
    throw new RangeError(`Cannot define ${what}: timeoutSeconds ${timeoutSeconds} is not within 1 to 30`);
  }
  return { kind, name, path, resource, timeoutSeconds, options };
}

function contextOf(request: AdmissionRequest, signal: AbortSignal): AdmissionContext {
  const { operation, dryRun, userInfo, subResource } = request;
  return { operation, dryRun, user: userInfo, subResource, signal, request };
}

function isDenied(outcome: unknown): outcome is Denied {
  // No kind of the API starts in lower case.
  return typeof outcome === "object" && outcome !== null && Reflect.get(outcome, "kind") === "denied";
}
