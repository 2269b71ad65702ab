/**
 * WebhookAdmission: the webhooks of Mutating- and ValidatingWebhookConfigurations, as they are stored at that moment.
 *
 * Mutating ones are asked one after the other, by the names of their configurations; who wants to see what later ones
 * changed is asked once more. Validating ones are asked at the same time. Configurations and policies themselves are
 * beyond all webhooks, so that a broken one can always be taken away.
 */
import {
  type Authorizer,
  badRequest,
  type Draft,
  draftOf,
  forbidden,
  internalError,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  type ObjectReader,
} from "../model/mod.ts";
import { UndecodableError } from "../kinds/mod.ts";
import { jsonPatch, PatchMisfit } from "../patch/mod.ts";
import type { AdmissionPlugin, AdmissionRequest, Kind } from "../model/mod.ts";
import { concerns, type Hook, hooksOf } from "./_hook.ts";
import { valuesOf } from "./cel_variables.ts";
import { meetsConditions } from "./match_conditions.ts";
import { isBeyond, siteOf } from "./_request_site.ts";
import { converted, shownAs } from "./_shown_request.ts";
import { ask } from "./_review.ts";
import type { CallWebhook } from "./webhook_call.ts";

const group = "admissionregistration.k8s.io";
const mutating = `mutatingwebhookconfigurations.${group}`;
const validating = `validatingwebhookconfigurations.${group}`;

/** Options of {@link WebhookAdmission}. */
export interface WebhookAdmissionOptions {
  readonly objects: ObjectReader;
  readonly call: CallWebhook;
  /** Whom match conditions may ask. */
  readonly authorizer: Authorizer;
  /** A kind in the other versions in which it is served. */
  readonly otherKinds: (kind: Kind) => readonly Kind[];
  /** Makes the UID of a question. */
  readonly newUid: () => string;
}

export class WebhookAdmission implements AdmissionPlugin {
  readonly name = "Webhooks";
  readonly #options: WebhookAdmissionOptions;

  constructor(options: WebhookAdmissionOptions) {
    this.#options = options;
  }

  /** Waits for nothing when nobody is to be asked, which is nearly always. */
  admit(request: AdmissionRequest): void | Promise<void> {
    const hooks = this.#hooks(mutating, request);
    if (hooks.length > 0) return this.#admitAll(hooks, request);
  }

  validate(request: AdmissionRequest): void | Promise<void> {
    const hooks = this.#hooks(validating, request);
    if (hooks.length > 0) return this.#validateAll(hooks, request);
  }

  async #admitAll(hooks: readonly Invocation[], request: AdmissionRequest): Promise<void> {
    const again: Invocation[] = [];
    for (const one of hooks) {
      const hasChanged = await this.#mutate(one, request);
      if (!hasChanged) continue;
      const before = hooks.slice(0, hooks.indexOf(one));
      again.push(...before.filter((other) => other.hook.isReinvoked && !again.includes(other)));
    }
    for (const one of again) await this.#mutate(one, request);
  }

  async #validateAll(hooks: readonly Invocation[], request: AdmissionRequest): Promise<void> {
    const outcomes = await Promise.allSettled(hooks.map(async ({ hook, kind }) => {
      await this.#ask(hook, await shownAs(request, kind), request.kind);
    }));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  /** @returns true when the webhook changed the object */
  async #mutate({ hook, kind }: Invocation, request: AdmissionRequest): Promise<boolean> {
    const shown = await shownAs(request, kind);
    const verdict = await this.#ask(hook, shown, request.kind);
    if (verdict?.kind !== "allowed" || verdict.patch === undefined || verdict.patch.length === 0) return false;
    const { object } = shown;
    if (object === undefined) {
      throw internalError(
        `admission webhook "${hook.name}" attempted to modify the object, which is not supported for this operation`,
      );
    }
    const changed = patched(object, verdict.patch);
    if (isSameJson(object, changed)) return false;
    decode(kind, changed);
    kind.setDefaults(changed);
    request.object = kind === request.kind ? changed : draftOf(await converted(changed, request.kind));
    return true;
  }

  async #ask(hook: Hook, request: AdmissionRequest, asked: Kind) {
    if (!this.#meets(hook, request)) return undefined;
    if (request.isDryRun && hook.hasSideEffects) {
      throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
    }
    const verdict = await ask(hook, request, { call: this.#options.call, uid: this.#options.newUid(), asked });
    if (verdict.kind === "allowed") { for (const warning of verdict.warnings) request.warn(warning); }
    return verdict;
  }

  /** True when all match conditions are met. */
  #meets(hook: Hook, request: AdmissionRequest): boolean {
    if (hook.conditions.length === 0) return true;
    const values = valuesOf(request, this.#options);
    const outcome = meetsConditions(hook.conditions, values, hook.failsOpen);
    if (outcome.kind !== "failed") return outcome.kind === "met";
    const { group, plural } = request.kind;
    throw forbidden({ group, resource: plural, name: request.name }, outcome.message);
  }

  #hooks(collection: string, request: AdmissionRequest): readonly Invocation[] {
    if (isBeyond(request.kind)) return [];
    const configurations = [...this.#options.objects.list(collection)];
    if (configurations.length === 0) return [];
    const site = siteOf(request, this.#options);
    return configurations
      .toSorted((left, right) => nameOf(left) < nameOf(right) ? -1 : 1)
      .flatMap((configuration) => hooksOf(configuration, collection === mutating))
      .flatMap((hook) => {
        const kind = concerns(hook, request, site);
        return kind === undefined ? [] : [{ hook, kind }];
      });
  }
}

/** A webhook that is asked, and the kind it is asked about: the request's, or the same in another version. */
interface Invocation {
  readonly hook: Hook;
  readonly kind: Kind;
}

/** What a webhook made has to be of a built-in kind; fields that the kind does not know go without a word. */
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
    throw error instanceof PatchMisfit ? internalError(error.why) : error;
  }
}

function nameOf(object: JsonObject): string {
  const { metadata } = object;
  return isJsonObject(metadata) ? `${metadata.name}` : "";
}
