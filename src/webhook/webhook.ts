/**
 * Webhooks as values: `defaulting(NodePool, fn)` and `validating(NodePool, { create, update })`. They are only
 * declarations: a server (`webhook_server.ts`) runs them, and `configuration.ts` generates the objects that make the API
 * server call them.
 *
 * Guarantees: a handler gets a frozen object with the type of its Resource. The patch is the difference to the object
 * that it returns and nothing else. Updates of an object that is being deleted are always allowed, so that finalizers
 * can be removed.
 *
 * Caveats: defaulting runs before the API server validates, so a field that a handler sets must be optional in the
 * schema. An object that violates the schema is skipped: the API server rejects it with a better message.
 */
import { apiVersionOf, type Infer, type LabelSelector, type Resource, type StatusCause } from "../api/mod.ts";
import type { JsonPatchOperation } from "../client/mod.ts";
import type { AdmissionOperation, AdmissionRequest, AdmissionUser } from "./admission_review.ts";
import { checkedObject, deepFrozen, isBeingDeleted, typedObject } from "./_decode.ts";
import { jsonPatch } from "./json_patch.ts";

/** The request around the object of a handler. */
export interface AdmissionContext {
  readonly operation: AdmissionOperation;
  /** Nothing will be stored, so the handler must have no side effect either. */
  readonly dryRun: boolean;
  /** The user who sent the request to the API server. */
  readonly user: AdmissionUser;
  /** `status`, `scale`; absent for the object itself. */
  readonly subResource?: string;
  /** Aborts a second before the API server stops waiting. */
  readonly signal: AbortSignal;
  /** The original request. */
  readonly request: AdmissionRequest;
}

/** When and how the API server calls a webhook. Defaults are the safe ones. */
export interface WebhookOptions {
  /** At least three words separated by dots. @default "default.<plural>.<group>" or "validate.<plural>.<group>" */
  readonly name?: string;
  /** @default as controller-runtime: "/mutate-<group>-<version>-<kind>" or "/validate-…" */
  readonly path?: string;
  /** @default CREATE and UPDATE; for validating, the operations that have a handler */
  readonly operations?: readonly AdmissionOperation[];
  /** Subresources that the webhook also handles, e.g. `scale`. @default none */
  readonly subresources?: readonly string[];
  /** What the API server does when the webhook does not respond. @default "Fail" */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** @default "Equivalent" */
  readonly matchPolicy?: "Equivalent" | "Exact";
  /** @default "None" */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /** Seconds that the API server waits, 1 to 30. The handler has one second less. @default 10 */
  readonly timeoutSeconds?: number;
  /** @default all namespaces except kube-system and that of the operator */
  readonly namespaceSelector?: LabelSelector;
  /** @default all objects */
  readonly objectSelector?: LabelSelector;
  /** CEL expressions that must all be true for the API server to call the webhook. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  /** Whether to call it again when a later webhook changed the object. Defaulting only. @default "IfNeeded" */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
  /** Findings of `lintWebhooks` that you accept, e.g. `locks-cluster`. @default none */
  readonly acceptedRisks?: readonly string[];
}

/** The decision of a webhook: a verdict, or a patch. */
export type AdmissionDecision =
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
  /** Decides about one request. @throws the errors of the handler */
  decide(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionDecision>;
}

/** Sets missing fields. Returns the desired object (a copy), or a denial. */
export type DefaultingHandler<R extends Resource> = (
  object: Infer<R>,
  ctx: AdmissionContext,
) => Infer<R> | Denied | Promise<Infer<R> | Denied>;

/** The handlers of a validating webhook. The API server does not call it for operations without a handler. */
export interface ValidatingHandlers<R extends Resource> {
  readonly create?: (object: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
  readonly update?: (object: Infer<R>, old: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
  readonly delete?: (old: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
}

/**
 * A webhook that sets defaults before an object is stored.
 *
 * @param handler must be idempotent, because the API server may call it twice
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
    async decide(request, signal) {
      const { object, operation } = request;
      if (object === undefined || operation === "DELETE" || isBeingDeleted(object)) return allow();
      const checked = checkedObject(resource, object);
      if (checked.kind === "invalid") return allow();
      const desired = await handler(deepFrozen(checked.object), contextOf(request, signal));
      if (isDenied(desired)) return desired;
      const operations = jsonPatch(object, desired);
      return operations.length === 0 ? allow() : { kind: "patched", operations };
    },
  };
}

/**
 * A webhook that allows or denies writes.
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
    decide: async (request, signal) => await validate(resource, handlers, request, contextOf(request, signal)),
  };
}

function validate<R extends Resource>(
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
      // Objects stored under an older schema must stay editable, so neither side is validated against the current schema.
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

/** The path that controller-runtime uses for a webhook of this kind. */
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
    throw new TypeError(`Cannot define ${what}: name "${name}" is not three or more words separated by dots`);
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
  // A kind of the API never begins with a lower-case letter.
  return typeof outcome === "object" && outcome !== null && Reflect.get(outcome, "kind") === "denied";
}

/** The request is allowed. */
export interface Allowed {
  readonly kind: "allowed";
  /** Shown to the user, at most 256 characters each. */
  readonly warnings?: readonly string[];
}

/** The request is denied. */
export interface Denied {
  readonly kind: "denied";
  /** A sentence for the user: kubectl prints it. */
  readonly message: string;
  /** The invalid fields. With causes the code is 422 Invalid, as in the API server's own validation. */
  readonly causes?: readonly StatusCause[];
  /** @default 422 with causes, otherwise 403 */
  readonly code?: number;
  readonly warnings?: readonly string[];
}

/**
 * The result of a validating handler. A denial is an expected result, not an exception; an exception is a fault of the
 * webhook and gives a 500.
 */
export type Verdict = Allowed | Denied;

/** Allows the request, optionally with warnings for the user. */
export function allow(warnings: readonly string[] = []): Allowed {
  return { kind: "allowed", warnings };
}

/**
 * Denies the request.
 *
 * @example
 * ```ts
 * import { deny } from "./mod.ts";
 *
 * const verdict = deny("the handler of a pool with members cannot change", {
 *   causes: [{ reason: "FieldValueForbidden", field: "spec.handler", message: "is immutable while there are members" }],
 * });
 * console.assert(verdict.kind === "denied");
 * ```
 */
export function deny(message: string, options: Omit<Denied, "kind" | "message"> = {}): Denied {
  return { kind: "denied", message, ...options };
}
