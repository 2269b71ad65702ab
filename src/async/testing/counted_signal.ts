/** CountedSignal: an AbortSignal that counts its listeners, to show that a wait leaves none behind. */

/** Abort it through `controller`. */
export class CountedSignal {
  readonly controller = new AbortController();
  readonly signal: AbortSignal = this.controller.signal;
  readonly #listeners = new Set<unknown>();

  constructor() {
    const { signal } = this;
    const add = signal.addEventListener.bind(signal), remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
      this.#listeners.add(listener);
      add(type, listener, { once: true });
    };
    signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
      this.#listeners.delete(listener);
      remove(type, listener);
    };
    add("abort", () => this.#listeners.clear(), { once: true });
  }

  /** Listeners that were added and neither called nor removed. */
  get listeners(): number {
    return this.#listeners.size;
  }
}
