/**
 * WebhookAdmission: the admission plugin that calls the webhooks of the stored Mutating- and
 * ValidatingWebhookConfigurations, as kube-apiserver does.
 *
 * Mutating webhooks run one after the other, ordered by configuration name; those with reinvocationPolicy IfNeeded run again
 * when a later one changed the object. Validating webhooks run concurrently. Configurations and policies themselves are
 * exempt, so that a broken one can always be removed.
 */
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  badRequest,
  type Draft,
  draftOf,
  forbidden,
  internalError,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  jsonError,
  type JsonObject,
  type Kind,
  type ObjectReader,
  read,
  StatusError,
} from "../model/mod.ts";
import { nameOf, objectsAt, UndecodableError } from "../kinds/mod.ts";
import { jsonPatch, PatchApplyError } from "../patch/mod.ts";
import { requestFields, valuesOf } from "./cel_variables.ts";
import { type Expression, matchConditionsOf, meetsConditions } from "./expression.ts";
import {
  converted,
  isExempt,
  isSelectedBy,
  type MatchContext,
  matchContextOf,
  matchesRule,
  requestInVersion,
  type RequestRule,
  ruleOf,
} from "./matching.ts";
import { type CallWebhook, targetOf, WebhookCallError, type WebhookTarget } from "./webhook_call.ts";

const group = "admissionregistration.k8s.io";
const mutating = `mutatingwebhookconfigurations.${group}`;
const validating = `validatingwebhookconfigurations.${group}`;

/** Options of {@link WebhookAdmission}. */
export interface WebhookAdmissionOptions {
  readonly objects: ObjectReader;
  readonly call: CallWebhook;
  /** The authorizer of the variable `authorizer` in match conditions. */
  readonly authorizer: Authorizer;
  /** The other served versions of a kind. */
  readonly otherKinds: (kind: Kind) => readonly Kind[];
  /** Creates the UID of a review. */
  readonly newUid: () => string;
}

export class WebhookAdmission implements AdmissionPlugin {
  readonly name = "Webhooks";
  readonly #options: WebhookAdmissionOptions;

  constructor(options: WebhookAdmissionOptions) {
    this.#options = options;
  }

  /** Synchronous when no webhook matches, which is the usual case. */
  admit(request: AdmissionRequest): void | Promise<void> {
    const webhooks = this.#matching(mutating, request);
    if (webhooks.length > 0) return this.#admitAll(webhooks, request);
  }

  validate(request: AdmissionRequest): void | Promise<void> {
    const webhooks = this.#matching(validating, request);
    if (webhooks.length > 0) return this.#validateAll(webhooks, request);
  }

  async #admitAll(webhooks: readonly Invocation[], request: AdmissionRequest): Promise<void> {
    const again: Invocation[] = [];
    for (const invocation of webhooks) {
      const hasChanged = await this.#mutate(invocation, request);
      if (!hasChanged) continue;
      const before = webhooks.slice(0, webhooks.indexOf(invocation));
      again.push(...before.filter((other) => other.webhook.isReinvoked && !again.includes(other)));
    }
    for (const invocation of again) await this.#mutate(invocation, request);
  }

  async #validateAll(webhooks: readonly Invocation[], request: AdmissionRequest): Promise<void> {
    const outcomes = await Promise.allSettled(webhooks.map(async ({ webhook, kind }) => {
      await this.#call(webhook, await requestInVersion(request, kind), request.kind);
    }));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  /** @returns true when the webhook changed the object */
  async #mutate({ webhook, kind }: Invocation, request: AdmissionRequest): Promise<boolean> {
    const shown = await requestInVersion(request, kind);
    const result = await this.#call(webhook, shown, request.kind);
    if (result?.kind !== "allowed" || result.patch === undefined || result.patch.length === 0) return false;
    const { object } = shown;
    if (object === undefined) {
      throw internalError(
        `admission webhook "${webhook.name}" attempted to modify the object, which is not supported for this operation`,
      );
    }
    const changed = patched(object, result.patch);
    if (isSameJson(object, changed)) return false;
    decode(kind, changed);
    kind.setDefaults(changed);
    request.object = kind === request.kind ? changed : draftOf(await converted(changed, request.kind));
    return true;
  }

  async #call(webhook: Webhook, request: AdmissionRequest, requestKind: Kind) {
    if (!this.#matchesConditions(webhook, request)) return undefined;
    if (request.isDryRun && webhook.hasSideEffects) {
      throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
    }
    const result = await sendReview(webhook, request, {
      call: this.#options.call,
      uid: this.#options.newUid(),
      requestKind,
    });
    if (result.kind === "allowed") { for (const warning of result.warnings) request.warn(warning); }
    return result;
  }

  /** True when all match conditions are true. */
  #matchesConditions(webhook: Webhook, request: AdmissionRequest): boolean {
    if (webhook.conditions.length === 0) return true;
    const values = valuesOf(request, this.#options);
    const outcome = meetsConditions(webhook.conditions, values, webhook.failsOpen);
    if (outcome.kind !== "failed") return outcome.kind === "met";
    const { group, plural } = request.kind;
    throw forbidden({ group, resource: plural, name: request.name }, outcome.message);
  }

  #matching(collection: string, request: AdmissionRequest): readonly Invocation[] {
    if (isExempt(request.kind)) return [];
    const configurations = [...this.#options.objects.list(collection)];
    if (configurations.length === 0) return [];
    const context = matchContextOf(request, this.#options);
    return configurations
      .toSorted((left, right) => nameOf(left) < nameOf(right) ? -1 : 1)
      .flatMap((configuration) => webhooksOf(configuration, collection === mutating))
      .flatMap((webhook) => {
        const kind = matchingKind(webhook, request, context);
        return kind === undefined ? [] : [{ webhook, kind }];
      });
  }
}

/** A webhook that matches a request, and the kind of the request, perhaps in another version. */
interface Invocation {
  readonly webhook: Webhook;
  readonly kind: Kind;
}

/** Decodes a patched object of a built-in kind. Unknown fields are dropped silently. */
function decode(kind: Kind, object: Draft): void {
  if (!kind.hasStrategicMerge) return;
  try {
    kind.decode(object);
  } catch (error) {
    throw error instanceof UndecodableError ? internalError(error.detail) : error;
  }
}

function patched(object: JsonObject, operations: readonly Json[]): Draft {
  try {
    return jsonPatch(object, operations, "Ignore").object;
  } catch (error) {
    throw error instanceof PatchApplyError ? internalError(error.why) : error;
  }
}

/** One webhook of a stored configuration. */
interface Webhook {
  readonly name: string;
  readonly target: WebhookTarget;
  readonly rules: readonly RequestRule[];
  readonly namespaceSelector: Json;
  readonly objectSelector: Json;
  readonly conditions: readonly Expression[];
  readonly failsOpen: boolean;
  /** True in a MutatingWebhookConfiguration. */
  readonly isMutating: boolean;
  readonly hasSideEffects: boolean;
  readonly isReinvoked: boolean;
  /** Also called for the other versions of a kind. */
  readonly isEquivalent: boolean;
  readonly timeoutMs: number;
}

/** Stored objects are never changed, so a configuration is read only once. */
const configurations = new WeakMap<JsonObject, readonly Webhook[]>();

/** The webhooks of a configuration, in its order. */
function webhooksOf(configuration: JsonObject, isMutating: boolean): readonly Webhook[] {
  const read = configurations.get(configuration) ??
    objectsAt(configuration, "webhooks").map((webhook) => webhookOf(webhook, isMutating));
  configurations.set(configuration, read);
  return read;
}

function webhookOf(webhook: JsonObject, isMutating: boolean): Webhook {
  return {
    name: `${webhook.name}`,
    target: targetOf(webhook.clientConfig),
    rules: objectsAt(webhook, "rules").map(ruleOf),
    namespaceSelector: webhook.namespaceSelector ?? null,
    objectSelector: webhook.objectSelector ?? null,
    conditions: matchConditionsOf(webhook, false),
    isMutating,
    failsOpen: webhook.failurePolicy === "Ignore",
    hasSideEffects: webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun",
    isReinvoked: webhook.reinvocationPolicy === "IfNeeded",
    isEquivalent: webhook.matchPolicy !== "Exact",
    timeoutMs: (typeof webhook.timeoutSeconds === "number" ? webhook.timeoutSeconds : 10) * 1000,
  };
}

/** The version of the kind for which the webhook matches the request; undefined when it does not match. */
function matchingKind(webhook: Webhook, request: AdmissionRequest, context: MatchContext): Kind | undefined {
  if (!isSelectedBy(webhook, request, context)) return undefined;
  if (webhook.rules.some((rule) => matchesRule(rule, request, request.kind.version))) return request.kind;
  if (!webhook.isEquivalent) return undefined;
  for (const rule of webhook.rules) {
    const other = context.otherKinds.find(({ version }) => matchesRule(rule, request, version));
    if (other !== undefined) return other;
  }
  return undefined;
}

/** The result of calling a webhook. */
type WebhookResult =
  | { readonly kind: "allowed"; readonly patch: readonly Json[] | undefined; readonly warnings: readonly string[] }
  /** The call failed, and the failurePolicy is Ignore. */
  | { readonly kind: "skipped" };

/**
 * Calls a webhook. Source: apiserver `admission/plugin/webhook` of Kubernetes 1.36.
 *
 * @param parts `requestKind` is the kind of the client's request
 * @throws StatusError when the webhook denies the request, or when the call fails and the failurePolicy is Fail
 */
async function sendReview(
  webhook: Webhook,
  request: AdmissionRequest,
  parts: { readonly call: CallWebhook; readonly uid: string; readonly requestKind: Kind },
): Promise<WebhookResult> {
  const body = JSON.stringify(reviewOf(request, parts.uid, parts.requestKind));
  try {
    const text = await parts.call(webhook.target, body, { timeoutMs: webhook.timeoutMs });
    return resultOf(webhook, text, parts.uid);
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    if (webhook.failsOpen) return { kind: "skipped" };
    throw internalError(`failed calling webhook "${webhook.name}": ${error.message}`);
  }
}

function reviewOf(request: AdmissionRequest, uid: string, requestKind: Kind): JsonObject {
  const { object = null, oldObject = null } = request;
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: { uid, ...requestFields(request, requestKind), object, oldObject },
  };
}

function resultOf(webhook: Webhook, text: string, uid: string): WebhookResult {
  const review = reviewIn(text);
  const response = responseOf(review);
  if (response.uid !== uid) {
    const got = JSON.stringify(response.uid ?? "");
    throw invalidResponse(`expected response.uid=${JSON.stringify(uid)}, got ${got}`);
  }
  checkKind(review);
  const warnings = Array.isArray(response.warnings) ? response.warnings.map(String) : [];
  const patch = patchOf(response, webhook.isMutating);
  if (response.allowed !== true) throw denial(webhook, response.status);
  return { kind: "allowed", patch, warnings };
}

function reviewIn(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    const message = `couldn't get version/kind; json parse error: ${jsonError(text)}`;
    throw new WebhookCallError(`failed to call webhook: ${message}`);
  }
}

const expectedVersion = "admission.k8s.io/v1";

function responseOf(review: Json): JsonObject {
  if (isJsonObject(review) && review.apiVersion === "admission.k8s.io/v1beta1") {
    const message = "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion";
    throw new WebhookCallError(`failed to call webhook: ${message}`);
  }
  const response = isJsonObject(review) ? read<Json>(review, "response") : undefined;
  if (!isJsonObject(response)) throw invalidResponse("webhook response was absent");
  return response;
}

function checkKind(review: Json): void {
  const { apiVersion = "", kind = "" } = isJsonObject(review) ? review : {};
  if (apiVersion === expectedVersion && kind === "AdmissionReview") return;
  const expected = `${expectedVersion}, Kind=AdmissionReview`;
  throw invalidResponse(
    `expected webhook response of ${expected}, got ${apiVersion === "" ? "/" : apiVersion}, Kind=${kind}`,
  );
}

/** Reads the patch. @throws WebhookCallError when it is invalid or not allowed */
function patchOf({ patch, patchType }: JsonObject, isMutating: boolean): readonly Json[] | undefined {
  const has = { patch: typeof patch === "string" && patch !== "", type: patchType !== undefined && patchType !== null };
  if (!isMutating) {
    if (has.patch) throw invalidResponse("validating webhook may not return response.patch");
    if (has.type) throw invalidResponse("validating webhook may not return response.patchType");
    return undefined;
  }
  if (has.patch && !has.type) throw invalidResponse("webhook returned response.patch but not response.patchType");
  if (!has.patch && has.type) throw invalidResponse("webhook returned response.patchType but not response.patch");
  if (typeof patch !== "string" || !has.patch) return undefined;
  if (patchType === "") throw invalidResponse('webhook returned invalid response.patchType of ""');
  const operations = operationsIn(new TextDecoder().decode(Uint8Array.fromBase64(patch)));
  if (operations.length > 0 && patchType !== "JSONPatch") {
    throw new WebhookCallError(`unsupported patch type ${JSON.stringify(patchType)}`);
  }
  return operations;
}

function operationsIn(text: string): readonly Json[] {
  const undecodable = (message: string) =>
    new WebhookCallError(`received undecodable patch in webhook response: ${message}`);
  let operations: Json;
  try {
    operations = JSON.parse(text);
  } catch {
    throw undecodable(jsonError(text));
  }
  if (isJsonArray(operations)) return operations;
  if (operations === null) return [];
  const type = isJsonObject(operations) ? "object" : typeof operations === "boolean" ? "bool" : typeof operations;
  throw undecodable(`json: cannot unmarshal ${type} into Go value of type jsonpatch.Patch`);
}

function invalidResponse(message: string): WebhookCallError {
  return new WebhookCallError(`received invalid webhook response: ${message}`);
}

function denial(webhook: Webhook, status: Json | undefined): StatusError {
  const { message, reason, code } = isJsonObject(status) ? status : {};
  const start = `admission webhook ${JSON.stringify(webhook.name)} denied the request`;
  const detail = typeof message === "string" && message !== ""
    ? `${start}: ${message}`
    : typeof reason === "string" && reason !== ""
    ? `${start}: ${reason}`
    : `${start} without explanation`;
  const number = typeof code === "number" && code >= 400 ? code : 400;
  return new StatusError(number, typeof reason === "string" ? reason : "", detail);
}
