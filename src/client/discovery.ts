/**
 * Discovery: which kinds an API server serves, and the many names of each: `deploy`, `deployments`, `Deployment`,
 * `deployments.apps`, `deployments.v1.apps`.
 *
 * Guarantees: two requests where the server has aggregated discovery (1.26 and later), one more per group version where
 * it has not; a group whose server is down (an aggregated API) is left out, it does not fail the rest. What was found is
 * kept; a name that is not found asks again, at most once in ten seconds.
 */
import { type Clock, systemClock } from "../async/mod.ts";
import { type Logger, logger as loggerOf } from "../observe/mod.ts";
import { askedFor, type Discovered, readAggregated, readVersions } from "./_discovery_wire.ts";
import type { Client } from "./client.ts";

export type { Discovered } from "./_discovery_wire.ts";

/** Options of {@link Discovery}. */
export interface DiscoveryOptions {
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("client") */
  readonly logger?: Logger;
}

/** What the API server says of its build at `/version`. */
export interface ServerVersion {
  /** `1`. */
  readonly major: string;
  /** `36`, or `36+` of some vendors. */
  readonly minor: string;
  /** `v1.36.3`. */
  readonly gitVersion: string;
  readonly platform: string;
}

/** Milliseconds in which the list is not asked for again because of a name that is not in it. */
const refreshEveryMs = 10_000;

/** Finds kinds by their names. */
export class Discovery {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #found: readonly Discovered[] | undefined;
  #foundAt = -Infinity;

  constructor(client: Client, options: DiscoveryOptions = {}) {
    this.#client = client;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? loggerOf("client");
  }

  /** All kinds in all versions; a group's preferred version comes first. @throws ApiError, UnreachableError. */
  async resources(signal?: AbortSignal): Promise<readonly Discovered[]> {
    return this.#found ?? await this.refresh(signal);
  }

  /** Asks the server now. @throws ApiError, UnreachableError. */
  async refresh(signal?: AbortSignal): Promise<readonly Discovered[]> {
    const [core, groups] = await Promise.all([this.#read("/api", signal), this.#read("/apis", signal)]);
    this.#found = [...core, ...groups];
    this.#foundAt = this.#clock.monotonic();
    return this.#found;
  }

  /**
   * Finds a kind by plural, singular, short name or kind, with `.group` or `.version.group` behind it if wanted. Letter
   * case does not matter. Of several, the core group's wins, then the server's order.
   */
  async find(name: string, signal?: AbortSignal): Promise<Discovered | undefined> {
    return await this.#lookUp((all) => {
      const wanted = name.toLowerCase();
      // A full name beats a short one of another kind.
      return all.find((one) => fullNames(one).includes(wanted)) ?? all.find((one) => one.shortNames.includes(wanted));
    }, signal);
  }

  /** Finds a kind by its group and kind, in `version` or the preferred one. */
  async findKind(
    wanted: { readonly group: string; readonly kind: string; readonly version?: string },
    signal?: AbortSignal,
  ): Promise<Discovered | undefined> {
    const { group, kind, version } = wanted;
    return await this.#lookUp(
      (all) =>
        all.find(({ resource }) =>
          resource.group === group && resource.kind === kind && (version === undefined || resource.version === version)
        ),
      signal,
    );
  }

  async #lookUp(
    pick: (all: readonly Discovered[]) => Discovered | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Discovered | undefined> {
    const found = pick(await this.resources(signal));
    if (found !== undefined || this.#clock.monotonic() - this.#foundAt < refreshEveryMs) return found;
    return pick(await this.refresh(signal));
  }

  async #read(root: "/api" | "/apis", signal: AbortSignal | undefined): Promise<readonly Discovered[]> {
    const text = await this.#client.raw(root, { accept: askedFor, signal });
    const answer = readAggregated(text, root);
    if (answer.kind === "aggregated") return answer.found;
    const lists = await Promise.all(answer.paths.map((path) => this.#readVersion(path, signal)));
    return lists.flat();
  }

  async #readVersion(path: string, signal: AbortSignal | undefined): Promise<readonly Discovered[]> {
    try {
      return readVersions(await this.#client.raw(path, { signal }), path);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      this.#logger.warn("kinds of a group cannot be discovered", { path, error });
      return [];
    }
  }
}

/** Reads the version of the API server. @throws ApiError, UnreachableError, SyntaxError when it is no API server. */
export async function serverVersion(client: Client, signal?: AbortSignal): Promise<ServerVersion> {
  const text = await client.raw("/version", { signal });
  const version: Partial<ServerVersion> | null = JSON.parse(text);
  const { major, minor, gitVersion, platform = "" } = version ?? {};
  if (typeof gitVersion !== "string" || typeof major !== "string" || typeof minor !== "string") {
    throw new SyntaxError("Cannot read the server's version: the answer to /version is not one of Kubernetes");
  }
  return { major, minor, gitVersion, platform };
}

function fullNames({ resource, singular }: Discovered): readonly string[] {
  const { group, version, kind, plural } = resource;
  return [plural, singular, kind.toLowerCase()]
    .flatMap((name) => [name, `${name}.${group}`, `${name}.${version}.${group}`, `${name}.${version}`]);
}
