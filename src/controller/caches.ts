/** Caches: where a controller finds the informer of a kind. The Manager's factory implements it. */
import type { KubeObject, Resource } from "../api/mod.ts";
import type { SharedInformer } from "../cache/mod.ts";
import type { CacheReader } from "./cache_reader.ts";

/** The shared caches of one process. */
export interface Caches extends CacheReader {
  /** The informer of a kind; the same one for everybody who asks. */
  informer(resource: Resource): SharedInformer<KubeObject>;
  /** The informer of a kind if somebody has asked for it. */
  findInformer(resource: Resource): SharedInformer<KubeObject> | undefined;
}
