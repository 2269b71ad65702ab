/** ReportedClusters: the members of a simulated fleet, as its provider reports them. A test engages and disengages them. */
import { aborted } from "../async/mod.ts";
import type { ClusterConnection, ClusterProvider, FleetCluster } from "../fleet/mod.ts";

export class ReportedClusters {
  readonly #names: Set<string>;
  #changed = Promise.withResolvers<void>();

  /** @param names are engaged from the start */
  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  /** The members that are engaged. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** The provider reports the member from now on. */
  engage(name: string): void {
    this.#names.add(name);
    this.#change();
  }

  /** The provider does not report the member any more. */
  disengage(name: string): void {
    this.#names.delete(name);
    this.#change();
  }

  /** The provider for one process. @param connect opens a connection to a member */
  provider(connect: (name: string) => ClusterConnection): ClusterProvider {
    // deno-lint-ignore no-this-alias -- a generator has no lexical this
    const clusters = this;
    return {
      name: "the world",
      async *watch(signal) {
        using stopped = aborted(signal);
        while (!signal.aborted) {
          const changed = clusters.#changed.promise;
          yield [...clusters.#names].map((name): FleetCluster => ({
            name,
            revision: "",
            connect: () => Promise.resolve(connect(name)),
          }));
          await Promise.race([changed, stopped]);
        }
      },
    };
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
