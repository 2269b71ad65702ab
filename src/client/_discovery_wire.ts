/**
 * The two forms in which API servers list their kinds: aggregated (apidiscovery.k8s.io/v2, one document for all) and the
 * old one (a list of versions, then a document for each). Both become the same values.
 */
import type { KubeObject, Resource } from "../api/mod.ts";
import { z } from "zod";

/** One kind as the server offers it. */
export interface Discovered {
  readonly resource: Resource<KubeObject>;
  /** Lower case; "" where the server does not say. */
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** Such as `all`. */
  readonly categories: readonly string[];
  /** Such as `list` and `watch`. */
  readonly verbs: readonly string[];
  /** Such as `status` and `scale`. */
  readonly subresources: readonly string[];
}

/** The Accept header that asks for the aggregated form and takes the old one. */
export const askedFor =
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

/** What `/api` or `/apis` said: everything, or where to ask on. */
export type RootAnswer =
  | { readonly kind: "aggregated"; readonly found: readonly Discovered[] }
  | { readonly kind: "paths"; readonly paths: readonly string[] };

/** Reads the answer of a root. @throws SyntaxError when it is in none of the forms. */
export function readAggregated(text: string, root: "/api" | "/apis"): RootAnswer {
  const value: unknown = JSON.parse(text);
  const whole = aggregated.safeParse(value);
  if (whole.success) return { kind: "aggregated", found: fromAggregated(whole.data) };
  const core = coreVersions.safeParse(value);
  if (core.success) return { kind: "paths", paths: core.data.versions.map((version) => segments("/api", version)) };
  const groups = groupList.safeParse(value);
  if (groups.success) return { kind: "paths", paths: groups.data.groups.flatMap(pathsOf) };
  throw new SyntaxError(`Cannot discover kinds: the answer to ${root} is in no form of Kubernetes`);
}

/** Reads the kinds of one group version in the old form. @throws SyntaxError when it is not in that form. */
export function readVersions(text: string, path: string): readonly Discovered[] {
  const parsed = resourceList.safeParse(JSON.parse(text));
  if (!parsed.success) {
    throw new SyntaxError(`Cannot discover kinds: the answer to ${path} is in no form of Kubernetes`);
  }
  const { groupVersion, resources } = parsed.data;
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

function fromAggregated(document: z.output<typeof aggregated>): readonly Discovered[] {
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

/** The group's versions, the preferred one first. */
function pathsOf(group: z.output<typeof groupList>["groups"][number]): readonly string[] {
  const preferred = group.preferredVersion?.groupVersion;
  const rest = group.versions.map(({ groupVersion }) => groupVersion).filter((one) => one !== preferred);
  return [...(preferred === undefined ? [] : [preferred]), ...rest].map((one) => segments("/apis", one));
}

/** A path of names the server gave, none of which may reach elsewhere. */
function segments(root: string, groupVersion: string): string {
  return `${root}/${groupVersion.split("/").map(encodeURIComponent).join("/")}`;
}
