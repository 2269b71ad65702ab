/**
 * WebhookAdmission: the admission plugin that calls the webhooks of the stored Mutating- and
 * ValidatingWebhookConfigurations, as kube-apiserver does.
 *
 * Mutating webhooks run one after the other, ordered by configuration name; those with reinvocationPolicy IfNeeded run again
 * in a second round of admission when the object has changed since. Validating webhooks run concurrently. Configurations and policies themselves are
 * exempt, so that a broken one can always be removed.
 */
import { type Expression, matchConditionsOf, meetsConditions } from "../../cel/mod.ts";
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  badRequest,
  type Draft,
  draftOf,
  forbidden,
  internalError,
  isSameJson,
  type Json,
  type JsonObject,
  type Kind,
  type ObjectReader,
} from "../model/mod.ts";
import { nameOf, objectsAt, UndecodableError } from "../kinds/mod.ts";
import { jsonPatch, PatchApplyError } from "../patch/mod.ts";
import { valuesOf } from "./cel_variables.ts";
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
import { ReinvocationsByRequest } from "./_reinvocations.ts";
import { type CallWebhook, targetOf, type WebhookTarget } from "./webhook_call.ts";
import { sendReview } from "./webhook_review.ts";

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
  readonly #reinvocations = new ReinvocationsByRequest<Webhook>();

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
    const reinvocations = this.#reinvocations.of(request);
    reinvocations.begin();
    for (const invocation of webhooks) {
      const { webhook } = invocation;
      if (!reinvocations.mayRun(webhook)) continue;
      const hasChanged = await this.#mutate(invocation, request);
      reinvocations.ran(webhook, { hasChanged, isReinvoked: webhook.isReinvoked });
    }
    reinvocations.end();
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
