/** informersOf(): a factory of shared informers for programs that want caches without controllers. */
import { Recovery, systemClock, systemRandom } from "../async/mod.ts";
import { InformerFactory, type InformerFactoryOptions } from "../cache/mod.ts";
import { type Client, recoveryTransport } from "../client/mod.ts";
import { listWatchOf } from "./list_watches.ts";

/** Options of {@link informersOf}: those of an {@link InformerFactory}, which gets its ListWatches from the client. */
export type InformersOptions = Omit<InformerFactoryOptions, "listWatch" | "boundsOf">;

/**
 * Creates a factory of shared informers for a client, for programs that want caches without controllers. The same kind in
 * the same scope has one cache and one watch.
 *
 * @param client Lists and watches the objects.
 * @example
 * ```ts
 * import { Client } from "@pintle/controller/client";
 * import { informersOf } from "@pintle/controller/cache";
 * import { Pod } from "@pintle/controller";
 *
 * const client = new Client(() => Promise.reject(new Error("there is no server in an example")));
 * const informers = informersOf(client, { namespaces: ["shop"] });
 * const pods = informers.informer(Pod, { labelSelector: { matchLabels: { app: "web" } } });
 * pods.addHandler({ onAdd: (pod) => console.log(pod.metadata.name) });
 * console.assert(pods.lister.size === 0 && !pods.hasSynced); // until `informers.run(signal)` has listed them
 * ```
 */
export function informersOf(client: Client, options: InformersOptions = {}): InformerFactory {
  const { clock = systemClock, random = systemRandom } = options;
  const recovery = new Recovery(clock, random);
  const observed = client.withTransport((transport) => recoveryTransport(transport, recovery, { clock }));
  return new InformerFactory({
    recovery,
    ...options,
    listWatch: (resource, scope) =>
      listWatchOf(observed, resource, { ...scope, reportManagers: options.recorder !== undefined }),
  });
}
