/**
 * WebhookAdmission: the webhooks of Mutating- and ValidatingWebhookConfigurations, as they are stored at that moment.
 *
 * Mutating ones are asked one after the other, by the names of their configurations; who wants to see what later ones
 * changed is asked once more. Validating ones are asked at the same time. Configurations and policies themselves are
 * beyond all webhooks, so that a broken one can always be taken away.
 */
import {
  badRequest,
  type Draft,
  internalError,
  isJsonObject,
  isSameJson,
  type JsonObject,
  type ObjectReader,
  Refusal,
} from "../model/mod.ts";
import type { AdmissionPlugin, AdmissionRequest, Kind } from "../model/mod.ts";
import { concerns, type Hook, type HookSite, hooksOf, labelsOf } from "./_hook.ts";
import { ask, requestFields } from "./_review.ts";
import type { EvaluateCondition } from "./conditions.ts";
import type { CallWebhook } from "./webhook_call.ts";

const group = "admissionregistration.k8s.io";
const mutating = `mutatingwebhookconfigurations.${group}`;
const validating = `validatingwebhookconfigurations.${group}`;

/** Options of {@link WebhookAdmission}. */
export interface WebhookAdmissionOptions {
  readonly objects: ObjectReader;
  readonly call: CallWebhook;
  readonly evaluate: EvaluateCondition;
  /** Applies a JSON patch. @throws Refusal when it cannot be applied */
  readonly patch: (object: JsonObject, operations: readonly unknown[]) => Draft;
  /** The other versions in which a kind is served. */
  readonly otherVersions: (kind: Kind) => readonly string[];
  /** Makes the UID of a question. */
  readonly newUid: () => string;
}

export class WebhookAdmission implements AdmissionPlugin {
  readonly name = "Webhooks";
  readonly #options: WebhookAdmissionOptions;

  constructor(options: WebhookAdmissionOptions) {
    this.#options = options;
  }

  async admit(request: AdmissionRequest): Promise<void> {
    const hooks = this.#hooks(mutating, request);
    if (hooks.length === 0) return;
    const again: Hook[] = [];
    for (const hook of hooks) {
      const hasChanged = await this.#mutate(hook, request);
      if (hasChanged) {
        again.push(...hooks.slice(0, hooks.indexOf(hook)).filter((one) => one.isReinvoked && !again.includes(one)));
      }
    }
    for (const hook of again) await this.#mutate(hook, request);
  }

  async validate(request: AdmissionRequest): Promise<void> {
    const hooks = this.#hooks(validating, request);
    if (hooks.length === 0) return;
    const outcomes = await Promise.allSettled(hooks.map((hook) => this.#ask(hook, request)));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  /** @returns true when the webhook changed the object */
  async #mutate(hook: Hook, request: AdmissionRequest): Promise<boolean> {
    const verdict = await this.#ask(hook, request);
    if (verdict?.kind !== "allowed" || verdict.patch === undefined || verdict.patch.length === 0) return false;
    const { object } = request;
    if (object === undefined) {
      throw internalError(
        `webhook ${
          JSON.stringify(hook.name)
        } attempted to modify the object, which is not supported for this operation`,
      );
    }
    const changed = this.#options.patch(object, verdict.patch);
    if (isSameJson(object, changed)) return false;
    request.kind.setDefaults(changed);
    request.object = changed;
    return true;
  }

  async #ask(hook: Hook, request: AdmissionRequest) {
    if (!this.#meets(hook, request)) return undefined;
    if (request.isDryRun && hook.hasSideEffects) {
      throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
    }
    const verdict = await ask(hook, request, { call: this.#options.call, uid: this.#options.newUid() });
    if (verdict.kind === "allowed") { for (const warning of verdict.warnings) request.warn(warning); }
    return verdict;
  }

  /** True when all match conditions are; one that fails counts as its webhook's failure does. */
  #meets(hook: Hook, request: AdmissionRequest): boolean {
    const variables = {
      object: request.object ?? null,
      oldObject: request.oldObject ?? null,
      request: requestFields(request),
    };
    for (const { name, expression } of hook.conditions) {
      try {
        if (this.#options.evaluate(expression, variables) !== true) return false;
      } catch (error) {
        if (hook.failsOpen) return false;
        const why = error instanceof Error ? error.message : String(error);
        throw new Refusal(
          403,
          "Forbidden",
          `matchCondition ${JSON.stringify(name)} of webhook ${JSON.stringify(hook.name)} failed: ${why}`,
        );
      }
    }
    return true;
  }

  #hooks(collection: string, request: AdmissionRequest): readonly Hook[] {
    if (isBeyond(request.kind)) return [];
    const configurations = [...this.#options.objects.list(collection)];
    if (configurations.length === 0) return [];
    const site = this.#siteOf(request);
    return configurations
      .toSorted((left, right) => nameOf(left) < nameOf(right) ? -1 : 1)
      .flatMap(hooksOf)
      .filter((hook) => concerns(hook, request, site));
  }

  #siteOf({ namespace, kind, object, oldObject }: AdmissionRequest): HookSite {
    const otherVersions = this.#options.otherVersions(kind);
    if (kind.collection === "namespaces") {
      const itself = object ?? oldObject;
      return { namespaceLabels: itself === undefined ? undefined : labelsOf(itself), otherVersions };
    }
    const holder = namespace === "" ? undefined : this.#options.objects.get("namespaces", "", namespace);
    return { namespaceLabels: holder === undefined ? undefined : labelsOf(holder), otherVersions };
  }
}

/** Kinds that no webhook is asked about. */
function isBeyond(kind: Kind): boolean {
  return kind.group === group && /(webhookconfigurations|admissionpolic(ies|ybindings))$/.test(kind.plural);
}

function nameOf(object: JsonObject): string {
  const { metadata } = object;
  return isJsonObject(metadata) ? `${metadata.name}` : "";
}
