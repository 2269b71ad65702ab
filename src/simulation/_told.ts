/**
 * Told: listens as a handler at every informer of every process, and holds what it hears against what an informer promises
 * (cache/handler.ts): a life is told as added, updated any number of times, deleted; an update never leads from one
 * UID to another; and when all is at rest, who only listened believes what the server has.
 */
import { keyOf, type KubeObject, type ObjectKey, resourceName } from "../api/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import { type Watched, watchedBy } from "./_cache_check.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import { differing } from "./_summary.ts";
import type { Stage } from "./_stage.ts";
import type { Violation } from "./violation.ts";

/** Violations that are told of one run. */
const mostTold = 5;

/** What handlers were told in a run. */
export class Told {
  readonly #watched: readonly Watched[];
  readonly #listeners: Listener[] = [];
  readonly #wrong: string[] = [];

  constructor(controllers: readonly OperatorController[]) {
    this.#watched = watchedBy(controllers);
  }

  /** Listens to a process that was just started. */
  listen(process: OperatorProcess): void {
    for (const watched of this.#watched) {
      const listener = new Listener(process, watched, (message) => this.#wrong.push(message));
      this.#listeners.push(listener);
      process.manager.caches.informer(watched.resource, watched.inside).addHandler(listener, { name: "simulation" });
    }
  }

  /** Everything that was wrong until now. */
  violations(stage: Stage): readonly Violation[] {
    const living = this.#listeners.filter(({ process }) => !process.isDead);
    const wrong = [...this.#wrong, ...living.flatMap((listener) => listener.differences(stage))];
    return wrong.slice(0, mostTold).map((message) => ({ invariant: "told", message }));
  }
}

/** A handler that believes what it is told, and nothing else. */
export class Listener {
  readonly process: Pick<OperatorProcess, "id" | "isDead">;
  readonly #watched: Watched;
  readonly #wrong: (message: string) => void;
  readonly #uids = new Map<ObjectKey, string | undefined>();

  constructor(process: Listener["process"], watched: Watched, wrong: (message: string) => void) {
    this.process = process;
    this.#watched = watched;
    this.#wrong = wrong;
  }

  added(object: KubeObject): void {
    const key = keyOf(object);
    if (this.#uids.has(key)) this.#say(`${key} was added twice, and not deleted in between`);
    this.#uids.set(key, object.metadata.uid);
  }

  updated(old: KubeObject, object: KubeObject): void {
    const key = keyOf(object);
    const { uid } = object.metadata;
    if (!this.#uids.has(key)) this.#say(`${key} was updated before it was added`);
    else if (old.metadata.uid !== uid || this.#uids.get(key) !== uid) {
      this.#say(`an update of ${key} led from one object to another of its name`);
    }
    this.#uids.set(key, uid);
  }

  deleted({ key, lastKnown }: { readonly key: ObjectKey; readonly lastKnown: KubeObject }): void {
    if (!this.#uids.has(key)) this.#say(`${key} was deleted before it was added`);
    else if (this.#uids.get(key) !== lastKnown.metadata.uid) {
      this.#say(`the deletion of ${key} was about another object of its name`);
    }
    this.#uids.delete(key);
  }

  /** What it believes and is not so. */
  differences(stage: Pick<Stage, "list">): readonly string[] {
    const { resource, inside } = this.#watched;
    const stored = new Map<ObjectKey, string | undefined>(
      stage.list(resourceName(resource), inside).map((object) => [keyOf(object), object.metadata.uid]),
    );
    return differing(stored, this.#uids).map((key) => {
      const state = !stored.has(key) ? "is gone" : this.#uids.has(key) ? "is another one" : "is there";
      return `${this.#name}: ${key} ${state}, and nobody said so`;
    });
  }

  #say(message: string): void {
    this.#wrong(`${this.#name}: ${message}`);
  }

  get #name(): string {
    return `process ${this.process.id}, ${resourceName(this.#watched.resource)}`;
  }
}
