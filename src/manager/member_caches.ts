/**
 * MemberCaches: the caches of a controller in a member of a Fleet. Kinds marked with `inHub()` come from the caches of the
 * hub, which all members share; all others from those of the member.
 */
import type { Infer, KubeObject, ObjectKey, Resource } from "../api/mod.ts";
import type { ListFilter, SharedInformer } from "../cache/mod.ts";
import { type Caches, isInHub } from "../controller/mod.ts";

export class MemberCaches implements Caches {
  readonly #own: Caches;
  readonly #hub: Caches;

  constructor(own: Caches, hub: Caches) {
    this.#own = own;
    this.#hub = hub;
  }

  informer(resource: Resource): SharedInformer<KubeObject> {
    return this.#of(resource).informer(resource);
  }

  findInformer(resource: Resource): SharedInformer<KubeObject> | undefined {
    return this.#of(resource).findInformer(resource);
  }

  writeThrough(...written: Parameters<Caches["writeThrough"]>): ReturnType<Caches["writeThrough"]> {
    return this.#of(written[0]).writeThrough(...written);
  }

  deleteThrough(...deleted: Parameters<Caches["deleteThrough"]>): void {
    this.#of(deleted[0]).deleteThrough(...deleted);
  }

  whyInactive(resource: Resource): string | undefined {
    return this.#of(resource).whyInactive(resource);
  }

  otherVersionsOf(resource: Resource): readonly Resource[] {
    return this.#of(resource).otherVersionsOf(resource);
  }

  find<R extends Resource>(resource: R, key: ObjectKey): Infer<R> | undefined {
    return this.#of(resource).find(resource, key);
  }

  list<R extends Resource>(resource: R, filter: ListFilter): readonly Infer<R>[] {
    return this.#of(resource).list(resource, filter);
  }

  #of(resource: Resource): Caches {
    return isInHub(resource) ? this.#hub : this.#own;
  }
}
