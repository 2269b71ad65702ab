/**
 * DeclaredCaches: the shared caches as one controller sees them. The caches hold the kinds of all controllers of a Manager;
 * a controller that reads a kind which only another one declared would fail as soon as it runs without the other.
 */
import { type Infer, type KubeObject, type ObjectKey, type Resource, resourceId } from "../../api/mod.ts";
import type { ListFilter, SharedInformer } from "../../cache/mod.ts";
import { type Caches, type ControllerDefinition, isInHub } from "../../controller/mod.ts";

export class DeclaredCaches implements Caches {
  readonly #caches: Caches;
  readonly #controller: string;
  readonly #kinds: ReadonlySet<string>;

  constructor(caches: Caches, { name, watches }: ControllerDefinition) {
    this.#caches = caches;
    this.#controller = name;
    this.#kinds = new Set(watches.map(({ resource }) => idOf(resource)));
  }

  informer(resource: Resource): SharedInformer<KubeObject> {
    return this.#caches.informer(resource);
  }

  findInformer(resource: Resource): SharedInformer<KubeObject> | undefined {
    return this.#caches.findInformer(resource);
  }

  writeThrough(...written: Parameters<Caches["writeThrough"]>): ReturnType<Caches["writeThrough"]> {
    return this.#caches.writeThrough(...written);
  }

  deleteThrough(...deleted: Parameters<Caches["deleteThrough"]>): void {
    this.#caches.deleteThrough(...deleted);
  }

  whyInactive(resource: Resource): string | undefined {
    return this.#caches.whyInactive(resource);
  }

  otherVersionsOf(resource: Resource): readonly Resource[] {
    return this.#caches.otherVersionsOf(resource);
  }

  /** @throws TypeError when the controller does not watch the kind. */
  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined {
    this.#check(resource);
    return this.#caches.find(resource, key);
  }

  /** @throws TypeError when the controller does not watch the kind. */
  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[] {
    this.#check(resource);
    return this.#caches.list(resource, filter);
  }

  #check(resource: Resource): void {
    if (this.#kinds.has(idOf(resource))) return;
    const { kind } = resource;
    throw new TypeError(
      `Cannot read ${kind} from the cache: controller "${this.#controller}" did not declare it. ` +
        `Declare .watches(${kind}, ...)`,
    );
  }
}

/** The kind, and whether its objects are those of the hub. */
function idOf(resource: Resource): string {
  return isInHub(resource) ? `${resourceId(resource)} in the hub` : resourceId(resource);
}
