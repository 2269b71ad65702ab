/**
 * SelectedNamespaces: the namespaces whose labels match a selector, as they change. They are read from the cache of Namespaces,
 * of which only the metadata is kept.
 *
 * Guarantees: a namespace leaves as soon as its labels no longer match. One that is deleted stays for a minute, so that the
 * other watches, which may be behind that of Namespaces, can show the deletions of its objects.
 */
import { type KubeObject, type LabelSelector, matchesLabels } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import { problemOf, type SharedInformer } from "../cache/mod.ts";
import type { Logger } from "../observe/mod.ts";

/** Options of {@link SelectedNamespaces}. */
export interface SelectedNamespacesOptions {
  /** The cache of Namespaces. */
  readonly informer: SharedInformer<KubeObject>;
  readonly selector: LabelSelector;
  /** A namespace is selected from now on. */
  readonly onJoined: (namespace: string) => void;
  /** A namespace is no longer selected. */
  readonly onLeft: (namespace: string) => void;
  /** Called with the number of selected namespaces. @default it is not measured */
  readonly setCount?: ((count: number) => void) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds that the watches of a deleted namespace go on. */
const deletedMs = 60_000;

export class SelectedNamespaces implements Disposable {
  readonly #options: SelectedNamespacesOptions;
  readonly #selected = new Set<string>();
  /** The deleted namespaces that are still selected. */
  readonly #deleted = new Map<string, Disposable>();
  readonly #synced: (signal: AbortSignal) => Promise<void>;

  constructor(options: SelectedNamespacesOptions) {
    this.#options = options;
    const registration = options.informer.addHandler({
      onAdd: (namespace) => this.#update(namespace),
      onUpdate: (_, namespace) => this.#update(namespace),
      onDelete: ({ lastKnown }) => this.#noteDeleted(nameOf(lastKnown)),
    }, { name: "namespace selector" });
    this.#synced = (signal) => registration.synced(signal);
  }

  /** The selected namespaces. */
  get names(): readonly string[] {
    return [...this.#selected];
  }

  /** Resolves when the first namespaces have joined. @throws `signal.reason` when aborted */
  synced(signal: AbortSignal): Promise<void> {
    return this.#synced(signal);
  }

  /** Why the namespaces are not known; undefined when they are. */
  problem(): string | undefined {
    const problems = this.#options.informer.statuses().flatMap((status) => problemOf(status) ?? []);
    return problems.length === 0 ? undefined : problems.join("; ");
  }

  [Symbol.dispose](): void {
    for (const timer of this.#deleted.values()) timer[Symbol.dispose]();
    this.#deleted.clear();
  }

  #update(namespace: KubeObject): void {
    const name = nameOf(namespace);
    this.#deleted.get(name)?.[Symbol.dispose]();
    this.#deleted.delete(name);
    const { selector, onJoined, setCount, log } = this.#options;
    if (!matchesLabels(selector, namespace.metadata.labels)) return this.#leave(name, "its labels no longer match");
    if (this.#selected.has(name)) return;
    this.#selected.add(name);
    log.info("namespace joined", { namespace: name, count: this.#selected.size });
    setCount?.(this.#selected.size);
    onJoined(name);
  }

  #noteDeleted(name: string): void {
    if (!this.#selected.has(name)) return;
    const { clock } = this.#options;
    this.#deleted.set(
      name,
      clock.timer(deletedMs, () => {
        this.#deleted.delete(name);
        this.#leave(name, "it was deleted");
      }),
    );
  }

  #leave(name: string, reason: string): void {
    if (!this.#selected.delete(name)) return;
    const { onLeft, setCount, log } = this.#options;
    log.info("namespace left", { namespace: name, reason, count: this.#selected.size });
    setCount?.(this.#selected.size);
    onLeft(name);
  }
}

function nameOf({ metadata: { name = "" } }: KubeObject): string {
  return name;
}
