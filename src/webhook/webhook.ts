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
import {
  apiVersionOf,
  type Infer,
  isJsonObject,
  type LabelSelector,
  type Resource,
  type StatusCause,
} from "../api/mod.ts";
import type { JsonPatchOperation } from "../client/mod.ts";
import type { AdmissionOperation, AdmissionRequest, AdmissionUser } from "./admission_review.ts";
import { type AdmissionRule, AdmissionRules, operationsOf } from "./admission_rules.ts";
import {
  checkedObject,
  deepFrozen,
  describeReturned,
  fieldOf,
  isBeingDeleted,
  misshapenField,
  typedObject,
} from "./_decode.ts";
import { jsonPatch } from "./json_patch.ts";

/** What a handler gets beside the object: the user, the operation, and the original request. */
export interface AdmissionContext {
  /** The operation on the object. */
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
  /** The name in the configuration: at least three words separated by dots. @default "default.<plural>.<group>" or "validate.<plural>.<group>" */
  readonly name?: string;
  /** The path of the URL. @default as controller-runtime: "/mutate-<group>-<version>-<kind>" or "/validate-…" */
  readonly path?: string;
  /** The operations for which the API server calls the webhook. @default CREATE and UPDATE; for validating, the operations that have a handler */
  readonly operations?: readonly AdmissionOperation[];
  /**
   * Subresources that the webhook also handles, e.g. `scale`. The object of some has a kind of its own, as a Scale: the
   * handler gets it as it came, so look at `ctx.subResource` first. @default none
   */
  readonly subresources?: readonly string[];
  /** What the API server does when the webhook does not respond. @default "Fail" */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** Whether requests in other versions of the kind are converted and handled too. @default "Equivalent" */
  readonly matchPolicy?: "Equivalent" | "Exact";
  /** Effects of the handler outside of the object: none at all, or none on dry runs. @default "None" */
  readonly sideEffects?: "None" | "NoneOnDryRun";
  /** Seconds that the API server waits, 1 to 30. The handler has one second less. @default 10 */
  readonly timeoutSeconds?: number;
  /** Selects objects by their Namespace. @default all Namespaces except kube-system and that of the operator */
  readonly namespaceSelector?: LabelSelector;
  /** Selects objects by their labels. @default all objects */
  readonly objectSelector?: LabelSelector;
  /** CEL expressions that must all be true for the API server to call the webhook. @default none */
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

/**
 * An admission webhook as a value. `defaulting()` and `validating()` create it, `withWebhooks()` adds it to a controller
 * of an operator, which then serves it and writes its configuration.
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { type AdmissionWebhook, deny, validating } from "@pintle/controller/webhook";
 *
 * const webhook: AdmissionWebhook = validating(ConfigMap, { delete: () => deny("it is needed") });
 * const request = {
 *   uid: "1",
 *   kind: { group: "", version: "v1", kind: "ConfigMap" },
 *   operation: "DELETE",
 *   userInfo: { username: "admin" },
 *   oldObject: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
 *   dryRun: false,
 * } as const;
 * const decision = await webhook.decide(request, new AbortController().signal);
 * console.assert(decision.kind === "denied");
 * ```
 */
export interface AdmissionWebhook {
  /** Whether the webhook changes objects, or only allows and denies writes. */
  readonly kind: "mutating" | "validating";
  /** The name in the configuration. */
  readonly name: string;
  /** The path of the URL. */
  readonly path: string;
  /** The kind of the objects. */
  readonly resource: Resource;
  /** The operations for which the API server calls the webhook. */
  readonly operations: readonly AdmissionOperation[];
  /** Seconds that the API server waits. */
  readonly timeoutSeconds: number;
  /** The options as they were given. */
  readonly options: WebhookOptions;
  /** The checks that are given as CEL, which a ValidatingAdmissionPolicy can do, too. @default none */
  readonly rules?: readonly AdmissionRule[];
  /** The operations that a function decides about; only the webhook can. @default all `operations` */
  readonly decidedByFunction?: readonly AdmissionOperation[];
  /** Decides about one request. It throws the errors of the handler. */
  decide(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionDecision>;
}

/**
 * Sets missing fields of an object before it is stored. It returns the desired object, a copy, or a denial.
 *
 * @example
 * ```ts
 * import type { ConfigMap } from "@pintle/controller";
 * import { type DefaultingHandler, deny } from "@pintle/controller/webhook";
 *
 * const addOwner: DefaultingHandler<typeof ConfigMap> = (map, ctx) => {
 *   if (ctx.user.username === undefined) return deny("the user is unknown");
 *   return { ...map, data: { owner: ctx.user.username, ...map.data } };
 * };
 * console.assert(addOwner.length === 2);
 * ```
 */
export type DefaultingHandler<R extends Resource> = (
  object: Infer<R>,
  ctx: AdmissionContext,
) => Infer<R> | Denied | Promise<Infer<R> | Denied>;

/** The checks of a validating webhook. The API server does not call it for operations without a handler or a rule. */
export interface ValidatingHandlers<R extends Resource> {
  /** Checks as CEL, which come before the handlers. The message of the first one that fails is the denial. @default none */
  readonly rules?: readonly AdmissionRule[];
  /** Decides about a new object. @default all are allowed */
  readonly create?: (object: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
  /** Decides about a changed object. Not called for an object that is being deleted. @default all are allowed */
  readonly update?: (object: Infer<R>, old: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
  /** Decides about a deletion. @default all are allowed */
  readonly delete?: (old: Infer<R>, ctx: AdmissionContext) => Verdict | Promise<Verdict>;
}

/**
 * Creates a webhook that sets fields of an object before it is stored. Defaults that do not depend on other fields belong
 * in the schema instead, where they need no webhook.
 *
 * Caveats: the handler runs before the API server validates, so a field that it sets must be optional in the schema. An
 * object that violates the schema is skipped: the API server rejects it with a better message.
 *
 * @param resource The kind of the objects.
 * @param handler Returns the desired object. It must be idempotent, because the API server may call it twice.
 * @param options When and how the API server calls the webhook.
 * @throws {TypeError} when the name or the path is malformed
 * @throws {RangeError} when `timeoutSeconds` is not within 1 to 30
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { defaulting } from "@pintle/controller/webhook";
 *
 * const webhook = defaulting(ConfigMap, (map) => ({ ...map, data: { color: "red", ...map.data } }));
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
      const checked = checkedAs(resource, request, object);
      if (checked.kind === "invalid") return allow();
      const desired = await handler(deepFrozen(checked.object), contextOf(request, signal));
      if (isDenied(desired)) return desired;
      if (!isJsonObject(desired)) throw new TypeError(returnedText(desired, "the object or deny()"));
      const operations = jsonPatch(object, desired);
      return operations.length === 0 ? allow() : { kind: "patched", operations };
    },
  };
}

/**
 * Creates a webhook that allows or denies writes, by rules and by functions. Rules about one object of a kind of your own
 * belong in the schema instead, where they need no webhook. `manifests --admission-policies` writes `rules` as
 * ValidatingAdmissionPolicies, which need none either.
 *
 * Guarantees: a handler gets a frozen object with the type of its kind. Updates of an object that is being deleted are
 * always allowed, so that finalizers can be removed.
 *
 * @param resource The kind of the objects.
 * @param handlers The rules, and the handlers by operation. The API server does not call the webhook for other operations.
 * @param options When and how the API server calls the webhook.
 * @throws {TypeError} when the name or the path is malformed, or a rule does not compile
 * @throws {RangeError} when `timeoutSeconds` is not within 1 to 30
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { allow, deny, validating } from "@pintle/controller/webhook";
 *
 * const webhook = validating(ConfigMap, {
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
  const { rules = [] } = handlers;
  const handlerOf = { CREATE: handlers.create, UPDATE: handlers.update, DELETE: handlers.delete };
  const decidedByFunction = checkedOperations.filter((operation) => handlerOf[operation] !== undefined);
  const ruled = new Set(rules.flatMap(operationsOf));
  const {
    operations = checkedOperations.filter((operation) => ruled.has(operation) || handlerOf[operation] !== undefined),
    failurePolicy,
  } = options;
  const compiled = new AdmissionRules({ resource, rules, operations, failsOpen: failurePolicy === "Ignore" });
  return {
    ...identityOf("validating", resource, options),
    operations,
    rules,
    decidedByFunction,
    decide: async (request, signal) => {
      const violation = compiled.violation(request);
      if (violation !== undefined) return deny(violation.message, { code: codeOf(violation.reason) });
      const verdict: unknown = await validate(resource, handlers, request, contextOf(request, signal));
      if (!isVerdict(verdict)) throw new TypeError(returnedText(verdict, "allow() or deny()"));
      return verdict;
    },
  };
}

const checkedOperations = ["CREATE", "UPDATE", "DELETE"] as const;

/** The HTTP status of a denial by a rule, as that of a ValidatingAdmissionPolicy. */
function codeOf(reason: string): number {
  return new Map([["Forbidden", 403], ["Unauthorized", 401], ["RequestEntityTooLarge", 413]]).get(reason) ?? 422;
}

async function validate<R extends Resource>(
  resource: R,
  handlers: ValidatingHandlers<R>,
  request: AdmissionRequest,
  ctx: AdmissionContext,
): Promise<Verdict> {
  const { operation, object, oldObject } = request;
  const { update, delete: remove } = handlers;
  switch (operation) {
    case "CREATE": {
      if (handlers.create === undefined || object === undefined) return allow();
      const checked = checkedAs(resource, request, object);
      if (checked.kind === "invalid") {
        const message = `${resource.kind} is invalid`;
        return deny(message, { causes: checked.issues.map(({ path, message }) => ({ field: path, message })) });
      }
      return handlers.create(deepFrozen(checked.object), ctx);
    }
    case "UPDATE":
      // Objects stored under an older schema must stay editable, so neither side is validated against the current schema.
      if (update === undefined || object === undefined || isBeingDeleted(object)) return allow();
      return await unlessMisshapen(
        isAboutKind(resource, request) ? resource : undefined,
        [object, oldObject],
        () => update(typedObject(resource, object), typedObject(resource, oldObject ?? object), ctx),
      );
    case "DELETE":
      if (remove === undefined || oldObject === undefined) return allow();
      return await unlessMisshapen(resource, [oldObject], () => remove(typedObject(resource, oldObject), ctx));
    case "CONNECT":
      return allow();
    default:
      return operation satisfies never;
  }
}

/** False for a subresource whose object has another kind: a Scale, an Eviction, a Binding. */
export function isAboutKind(resource: Resource, request: AdmissionRequest): boolean {
  const { group, version, kind } = request.kind;
  return group === resource.group && version === resource.version && kind === resource.kind;
}

/** Checks an object with the schema of its kind. That of a subresource with another kind has none. */
function checkedAs<R extends Resource>(resource: R, request: AdmissionRequest, object: unknown) {
  if (isAboutKind(resource, request)) return checkedObject(resource, object);
  return { kind: "valid", object: typedObject(resource, object) } as const;
}

/**
 * The verdict of a handler whose objects were not validated. If it throws and an object does not have the shape of its
 * kind, the request is at fault and not the handler: the verdict is a denial with code 400.
 */
async function unlessMisshapen(
  resource: Resource | undefined,
  objects: readonly unknown[],
  decide: () => Verdict | Promise<Verdict>,
): Promise<Verdict> {
  try {
    return await decide();
  } catch (error) {
    if (resource === undefined) throw error;
    for (const object of objects) {
      const problem = misshapenField(resource, object);
      if (problem !== undefined) return deny(`${resource.kind} is malformed: ${problem}`, { code: 400 });
    }
    throw error;
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
  return fieldOf(outcome, "kind") === "denied" && typeof fieldOf(outcome, "message") === "string";
}

/** A handler without types may return anything. */
function isVerdict(outcome: unknown): outcome is Verdict {
  return isDenied(outcome) || fieldOf(outcome, "kind") === "allowed";
}

function returnedText(value: unknown, expected: string): string {
  return `the handler returned ${describeReturned(value)}, not ${expected}`;
}

/** The verdict that a request is allowed; {@link allow} creates it. */
export interface Allowed {
  /** Distinguishes the verdicts. */
  readonly kind: "allowed";
  /** Sentences for the user, at most 256 characters each: kubectl prints them. @default none */
  readonly warnings?: readonly string[];
}

/** The verdict that a request is denied; {@link deny} creates it. */
export interface Denied {
  /** Distinguishes the verdicts. */
  readonly kind: "denied";
  /** A sentence for the user: kubectl prints it. */
  readonly message: string;
  /** The invalid fields. With causes the code is 422, as in the validation of the API server itself. @default none */
  readonly causes?: readonly StatusCause[];
  /** The HTTP status, 400 to 599. @default 422 with causes, otherwise 403 */
  readonly code?: number;
  /** Sentences for the user, at most 256 characters each: kubectl prints them. @default none */
  readonly warnings?: readonly string[];
}

/**
 * The result of a validating handler. A denial is an expected result, not an exception; an exception is a fault of the
 * webhook and gives a 500.
 *
 * @example
 * ```ts
 * import { allow, deny, type Verdict } from "@pintle/controller/webhook";
 *
 * const decide = (replicas: number): Verdict => replicas <= 10 ? allow() : deny("at most 10 replicas are allowed");
 * console.assert(decide(3).kind === "allowed" && decide(30).kind === "denied");
 * ```
 */
export type Verdict = Allowed | Denied;

/**
 * Allows a request.
 *
 * @param warnings Sentences for the user, at most 256 characters each: kubectl prints them. @default []
 *
 * @example
 * ```ts
 * import { allow } from "@pintle/controller/webhook";
 *
 * console.assert(allow(["spec.color is deprecated"]).warnings?.length === 1);
 * ```
 */
export function allow(warnings: readonly string[] = []): Allowed {
  return { kind: "allowed", warnings };
}

/**
 * Denies a request.
 *
 * @param message A sentence for the user: kubectl prints it.
 * @param options The invalid fields, another HTTP status, warnings.
 *
 * @example
 * ```ts
 * import { deny } from "@pintle/controller/webhook";
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
