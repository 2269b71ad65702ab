/**
 * Discovery: the kinds that an API server serves, and their names: `deploy`, `deployments`, `Deployment`,
 * `deployments.apps`, `deployments.v1.apps`.
 *
 * Guarantees: two requests if the server has aggregated discovery (1.26 and later: apidiscovery.k8s.io/v2, one document
 * for all), else one more per group version. A group whose server is down (an aggregated API) is left out and does not
 * fail the others. The result is cached; an unknown name reads it again, at most once in `refreshMs`. Callers that look for
 * unknown names at the same time share one read.
 */
import { z } from "zod";
import type { KubeObject, Resource } from "../api/mod.ts";
import { type Clock, systemClock, untilAborted } from "../async/mod.ts";
import { type Logger, logger as loggerOf } from "../observe/mod.ts";
import { parseResponse } from "./response_shape.ts";

/** One kind that the server serves. */
export interface DiscoveredKind {
  /** Its names in the API, as the verbs of a Client take them. */
  readonly resource: Resource<KubeObject>;
  /** Lower case; "" if the server does not send it. */
  readonly singular: string;
  /** Such as `po`. */
  readonly shortNames: readonly string[];
  /** Such as `all`. */
  readonly categories: readonly string[];
  /** Such as `list` and `watch`. */
  readonly verbs: readonly string[];
  /** Such as `status` and `scale`. */
  readonly subresources: readonly string[];
}

/** What {@link Discovery} reads documents with: a Client. */
export interface DiscoverySource {
  /** Sends a GET request and returns the text of the response. */
  raw(path: string, request: { readonly accept?: string; readonly signal?: AbortSignal }): Promise<string>;
}

/** Options of {@link Discovery}. */
export interface DiscoveryOptions {
  /** Milliseconds after a read in which an unknown name does not cause another one. @default 10_000 */
  readonly refreshMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("client") */
  readonly logger?: Logger;
}

/** The build of the API server, from `/version`. */
export interface ServerVersion {
  /** `1`. */
  readonly major: string;
  /** `36`, or `36+` from some vendors. */
  readonly minor: string;
  /** `v1.36.3`. */
  readonly gitVersion: string;
  readonly platform: string;
}

/** A kind in one of its versions. */
export interface KindQuery {
  /** "" for the core group. */
  readonly group: string;
  /** The kind in CamelCase. */
  readonly kind: string;
  /** The version, such as `v1beta1`. @default the one that the server prefers */
  readonly version?: string;
}

/** Finds the kinds of one API server by their names. */
export class Discovery {
  readonly #source: DiscoverySource;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #refreshMs: number;
  #kinds: readonly DiscoveredKind[] | undefined;
  #readAt = -Infinity;
  /** The read that is under way. */
  #reading: Promise<readonly DiscoveredKind[]> | undefined;

  constructor(source: DiscoverySource, options: DiscoveryOptions = {}) {
    this.#source = source;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? loggerOf("client");
    this.#refreshMs = options.refreshMs ?? 10_000;
  }

  /** All kinds in all versions; the preferred version of a group comes first. @throws ApiError, UnreachableError. */
  async resources(signal?: AbortSignal): Promise<readonly DiscoveredKind[]> {
    return this.#kinds ?? await this.#shared(signal);
  }

  /** Reads the kinds from the server now. @throws ApiError, UnreachableError. */
  async refresh(signal?: AbortSignal): Promise<readonly DiscoveredKind[]> {
    const [core, groups] = await Promise.all([this.#read("/api", signal), this.#read("/apis", signal)]);
    this.#kinds = [...core, ...groups];
    this.#readAt = this.#clock.monotonic();
    return this.#kinds;
  }

  /** Reads the kinds, or waits for the read of another caller; that fails when its caller gives up, and then reads itself. */
  async #shared(signal: AbortSignal | undefined): Promise<readonly DiscoveredKind[]> {
    const reading = this.#reading;
    if (reading !== undefined) {
      const kinds = reading.catch(() => undefined);
      const shared = await (signal === undefined ? kinds : untilAborted(kinds, signal));
      return shared ?? await this.#shared(signal);
    }
    const own = this.refresh(signal).finally(() => this.#reading = undefined);
    this.#reading = own;
    return await own;
  }

  /**
   * Finds a kind by its plural, singular, short name or kind, optionally followed by `.group` or `.version.group`. Upper
   * and lower case are the same. As in kubectl, a full name has precedence over the short name of another kind, a whole
   * group over the beginning of one (`ingresses.networking`), and the core group is first, then the order of the server.
   */
  async find(name: string, signal?: AbortSignal): Promise<DiscoveredKind | undefined> {
    const key = name.toLowerCase();
    return await this.#lookUp((all) =>
      matches.reduce<DiscoveredKind | undefined>(
        (found, matchesName) => found ?? all.find((one) => matchesName(one, key)),
        undefined,
      ), signal);
  }

  /** Finds a kind by its group and kind, in `version` or the preferred one. */
  async findKind(query: KindQuery, signal?: AbortSignal): Promise<DiscoveredKind | undefined> {
    const { group, kind, version } = query;
    return await this.#lookUp(
      (all) =>
        all.find(({ resource }) =>
          resource.group === group && resource.kind === kind && (version === undefined || resource.version === version)
        ),
      signal,
    );
  }

  async #lookUp(
    pick: (all: readonly DiscoveredKind[]) => DiscoveredKind | undefined,
    signal: AbortSignal | undefined,
  ): Promise<DiscoveredKind | undefined> {
    const found = pick(await this.resources(signal));
    if (found !== undefined || this.#clock.monotonic() - this.#readAt < this.#refreshMs) return found;
    return pick(await this.#shared(signal));
  }

  async #read(root: "/api" | "/apis", signal: AbortSignal | undefined): Promise<readonly DiscoveredKind[]> {
    const text = await this.#source.raw(root, { accept: acceptedForms, signal });
    const parsed = parseResponse(text, `discover the kinds of ${root}`, rootContent);
    if (parsed.kind === "aggregated") return parsed.kinds;
    const lists = await Promise.all(parsed.paths.map((path) => this.#readVersion(path, signal)));
    return lists.flat();
  }

  async #readVersion(path: string, signal: AbortSignal | undefined): Promise<readonly DiscoveredKind[]> {
    try {
      return parseGroupVersion(await this.#source.raw(path, { signal }), path);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      this.#logger.warn("discovering a group failed", { path, error });
      return [];
    }
  }
}

/** Reads the version of the API server. @throws ApiError, UnreachableError, InvalidResponseError. */
export async function serverVersion(client: DiscoverySource, signal?: AbortSignal): Promise<ServerVersion> {
  return parseResponse(await client.raw("/version", { signal }), "read the server's version", serverVersionSchema);
}

/** How a name may mean a kind, the strongest first. */
const matches: readonly ((one: DiscoveredKind, key: string) => boolean)[] = [
  (one, key) => qualified(one, fullNames(one)).includes(key),
  (one, key) => qualified(one, one.shortNames).includes(key),
  (one, key) => hasGroupPrefix(one, fullNames(one), key),
  (one, key) => hasGroupPrefix(one, one.shortNames, key),
];

function fullNames({ resource, singular }: DiscoveredKind): readonly string[] {
  return [resource.plural, singular, resource.kind.toLowerCase()].filter((name) => name !== "");
}

function qualified({ resource }: DiscoveredKind, names: readonly string[]): readonly string[] {
  const { group, version } = resource;
  return names.flatMap((name) => [name, `${name}.${group}`, `${name}.${version}.${group}`, `${name}.${version}`]);
}

function hasGroupPrefix({ resource }: DiscoveredKind, names: readonly string[], key: string): boolean {
  const dot = key.indexOf(".");
  return dot > 0 && dot < key.length - 1 && names.includes(key.slice(0, dot)) &&
    resource.group.startsWith(key.slice(dot + 1));
}

const serverVersionSchema = z.object({
  major: z.string(),
  minor: z.string(),
  gitVersion: z.string(),
  platform: z.string().default(""),
});

/** The Accept header for the aggregated form, with the old form as alternative. */
const acceptedForms =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList;q=0.9,application/json;q=0.8";

const strings = z.array(z.string()).nullish().transform((value) => value ?? []);
const scope = z.enum(["Namespaced", "Cluster"]);

const aggregated = z.object({
  kind: z.literal("APIGroupDiscoveryList"),
  items: z.array(z.object({
    metadata: z.object({ name: z.string().nullish() }).nullish(),
    versions: z.array(z.object({
      version: z.string(),
      resources: z.array(z.object({
        resource: z.string(),
        responseKind: z.object({ kind: z.string() }).nullish(),
        scope,
        singularResource: z.string().nullish(),
        verbs: strings,
        shortNames: strings,
        categories: strings,
        subresources: z.array(z.object({ subresource: z.string() })).nullish(),
      })).nullish(),
    })).nullish(),
  })),
});

const coreVersions = z.object({ kind: z.literal("APIVersions"), versions: z.array(z.string()) });

const groupList = z.object({
  kind: z.literal("APIGroupList"),
  groups: z.array(z.object({
    versions: z.array(z.object({ groupVersion: z.string() })),
    preferredVersion: z.object({ groupVersion: z.string() }).nullish(),
  })),
});

const resourceList = z.object({
  kind: z.literal("APIResourceList"),
  groupVersion: z.string(),
  resources: z.array(z.object({
    name: z.string(),
    singularName: z.string().nullish(),
    namespaced: z.boolean(),
    kind: z.string(),
    verbs: strings,
    shortNames: strings,
    categories: strings,
  })),
});

/** The content of `/api` or `/apis`: all kinds, or the paths of the group versions. */
type RootContent =
  | { readonly kind: "aggregated"; readonly kinds: readonly DiscoveredKind[] }
  | { readonly kind: "paths"; readonly paths: readonly string[] };

/** The answer to `/api` and `/apis` in each of its forms. */
const rootContent = z.union([
  aggregated.transform((document): RootContent => ({ kind: "aggregated", kinds: fromAggregated(document) })),
  coreVersions.transform(({ versions }): RootContent => ({
    kind: "paths",
    paths: versions.map((version) => segments("/api", version)),
  })),
  groupList.transform(({ groups }): RootContent => ({ kind: "paths", paths: groups.flatMap(pathsOf) })),
]);

/** Parses the kinds of one group version in the old form. @throws InvalidResponseError when it has another form. */
function parseGroupVersion(text: string, path: string): readonly DiscoveredKind[] {
  const { groupVersion, resources } = parseResponse(text, `discover the kinds of ${path}`, resourceList);
  const slash = groupVersion.indexOf("/");
  const group = slash < 0 ? "" : groupVersion.slice(0, slash);
  const version = groupVersion.slice(slash + 1);
  return resources.filter(({ name }) => !name.includes("/")).map((entry) => ({
    resource: {
      group,
      version,
      kind: entry.kind,
      plural: entry.name,
      scope: entry.namespaced ? "Namespaced" : "Cluster",
    },
    singular: entry.singularName ?? "",
    shortNames: entry.shortNames,
    categories: entry.categories,
    verbs: entry.verbs,
    subresources: resources.filter(({ name }) => name.startsWith(`${entry.name}/`))
      .map(({ name }) => name.slice(entry.name.length + 1)),
  }));
}

function fromAggregated(document: z.output<typeof aggregated>): readonly DiscoveredKind[] {
  return document.items.flatMap(({ metadata, versions }) =>
    (versions ?? []).flatMap(({ version, resources }) =>
      (resources ?? []).filter(({ responseKind }) => responseKind?.kind).map((entry) => ({
        resource: {
          group: metadata?.name ?? "",
          version,
          kind: entry.responseKind?.kind ?? "",
          plural: entry.resource,
          scope: entry.scope,
        },
        singular: entry.singularResource ?? "",
        shortNames: entry.shortNames,
        categories: entry.categories,
        verbs: entry.verbs,
        subresources: (entry.subresources ?? []).map(({ subresource }) => subresource),
      }))
    )
  );
}

/** The paths of the versions of a group, the preferred one first. */
function pathsOf(group: z.output<typeof groupList>["groups"][number]): readonly string[] {
  const preferred = group.preferredVersion?.groupVersion;
  const rest = group.versions.map(({ groupVersion }) => groupVersion).filter((one) => one !== preferred);
  return [...(preferred === undefined ? [] : [preferred]), ...rest].map((one) => segments("/apis", one));
}

/** A path made from names of the server. Encoding keeps each name within its segment. */
function segments(root: string, groupVersion: string): string {
  return `${root}/${groupVersion.split("/").map(encodeURIComponent).join("/")}`;
}
