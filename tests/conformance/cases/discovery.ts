/** Discovery, OpenAPI and version: what clients ask before they ask for anything. */
import { type ConformanceCase, requests } from "../conformance_case.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Groups that Kubernetes itself serves and both servers have; a shared control plane may serve others' CRDs too. */
const groups = [
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "apps",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
];

const byName = (left: Any, right: Any) => left.name < right.name ? -1 : 1;

/** The versions of a group that are not of every server, and the rest. */
const versions: Readonly<Record<string, readonly string[]>> = {
  autoscaling: ["v1", "v2"],
};

export const discoveryCases: readonly ConformanceCase[] = [
  requests("the versions of the core group", () => [
    { path: "/api", pick: ({ kind, versions }: Any) => ({ kind, versions }) },
    { path: "/api/v1", pick: (list: Any) => ({ ...list, resources: list.resources.toSorted(byName) }) },
  ]),
  requests("the list of groups", () => [
    {
      path: "/apis",
      pick: ({ kind, apiVersion, groups: all }: Any) => ({
        kind,
        apiVersion,
        groups: all.filter(({ name }: Any) => groups.includes(name)).toSorted(byName),
      }),
    },
  ]),
  ...groups.map((group) =>
    requests(`the group ${group}`, () => [
      { path: `/apis/${group}` },
      ...(versions[group] ?? ["v1"]).map((version) => ({
        path: `/apis/${group}/${version}`,
        pick: (list: Any) => ({ ...list, resources: list.resources.toSorted(byName) }),
      })),
    ])
  ),
  requests("aggregated discovery of the core group", () => [
    {
      path: "/api",
      accept: aggregated,
      pick: ({ items, ...rest }: Any) => ({ ...rest, items: items.map(withoutState) }),
    },
  ]),
  requests("aggregated discovery of all groups", () => [
    {
      path: "/apis",
      accept: `${aggregated},application/json`,
      pick: ({ items, ...rest }: Any) => ({
        ...rest,
        items: items.filter(({ metadata }: Any) => groups.includes(metadata.name)).map(withoutState),
      }),
    },
  ]),
  requests("aggregated discovery in versions that are gone", () => [
    {
      path: "/apis",
      accept: "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
      pick: ({ kind }: Any) => kind,
    },
    {
      path: "/apis",
      accept: "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList",
      pick: ({ kind }: Any) => kind,
    },
  ]),
  requests(
    "the version",
    () => [{
      path: "/version",
      pick: (version: Any) => ({ keys: Object.keys(version).toSorted(), major: version.major, minor: version.minor }),
    }],
  ),
  requests("the index of OpenAPI v3", () => [
    {
      path: "/openapi/v3",
      pick: ({ paths }: Any) =>
        ["api/v1", ...groups.map((group) => `apis/${group}/${versions[group]?.[1] ?? "v1"}`)].map((path) => [
          path,
          String(paths[path]?.serverRelativeURL).replace(/=.*/, "=HASH"),
        ]),
    },
  ]),
  requests("OpenAPI v3 of one version", () => [
    {
      path: "/openapi/v3/apis/apps/v1",
      pick: ({ openapi, info, components, paths }: Any) => ({
        openapi,
        info,
        schemas: Object.keys(components.schemas).filter((name) => name.includes("apps.v1.Deployment")).toSorted(),
        deployment: Object.keys(components.schemas["io.k8s.api.apps.v1.Deployment"].properties),
        kinds: components.schemas["io.k8s.api.apps.v1.Deployment"]["x-kubernetes-group-version-kind"],
        paths: Object.keys(paths).filter((path) => path.includes("/deployments")).toSorted(),
      }),
    },
    { path: "/openapi/v3/apis/none.example.com/v1" },
  ]),
  requests("OpenAPI v2", () => [
    {
      path: "/openapi/v2",
      pick: ({ swagger, info, definitions }: Any) => ({
        swagger,
        info,
        pod: Object.keys(definitions["io.k8s.api.core.v1.Pod"].properties),
        spec: Object.keys(definitions["io.k8s.api.core.v1.PodSpec"].properties).toSorted(),
      }),
    },
  ]),
];

/** How fresh each group's answer is does not belong to what is compared. */
function withoutState(group: Any): Any {
  return { ...group, metadata: { name: group.metadata.name } };
}
