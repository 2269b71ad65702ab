/**
 * Reinvocations: which mutating webhooks or policies run in the second round of admission. There is one when a plugin has
 * changed the object in the first; then those with reinvocationPolicy IfNeeded run again that ran before the last change. As
 * apiserver `webhook/mutating/reinvocationcontext.go` of Kubernetes 1.36.
 */
import { type AdmissionRequest, isSameJson, type JsonObject } from "../model/mod.ts";

/** What a plugin knows about one request. @typeParam Key identifies a webhook, or a policy with its binding and params */
export class Reinvocations<Key> {
  readonly #request: AdmissionRequest;
  readonly #ran = new Set<Key>();
  readonly #again = new Set<Key>();
  #output: JsonObject | undefined;

  constructor(request: AdmissionRequest) {
    this.#request = request;
  }

  /** Begins the round of a plugin: a change by other plugins since its last round counts. */
  begin(): void {
    const { isSecondRound, object } = this.#request;
    if (isSecondRound === true && !isSameJson(this.#output ?? null, object ?? null)) this.#requireAgain();
  }

  /** True if the webhook or policy runs in this round. */
  mayRun(key: Key): boolean {
    return this.#request.isSecondRound !== true || this.#again.has(key);
  }

  /** Notes a run. @param isReinvoked its reinvocationPolicy is IfNeeded */
  ran(key: Key, { hasChanged, isReinvoked }: { readonly hasChanged: boolean; readonly isReinvoked: boolean }): void {
    if (hasChanged) this.changed();
    if (isReinvoked) this.#ran.add(key);
  }

  /** Asks for a second round. */
  changed(): void {
    this.#requireAgain();
    this.#request.needsSecondRound = true;
  }

  /** Ends the round of the plugin. */
  end(): void {
    const { object } = this.#request;
    // Later plugins of this round change the object in place.
    this.#output = object === undefined ? undefined : structuredClone(object);
  }

  #requireAgain(): void {
    for (const key of this.#ran) this.#again.add(key);
    this.#ran.clear();
  }
}

/** The reinvocations of a plugin, by request. */
export class ReinvocationsByRequest<Key> {
  readonly #known = new WeakMap<AdmissionRequest, Reinvocations<Key>>();

  of(request: AdmissionRequest): Reinvocations<Key> {
    const known = this.#known.get(request) ?? new Reinvocations<Key>(request);
    this.#known.set(request, known);
    return known;
  }
}
