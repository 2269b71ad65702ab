/** Discovery, OpenAPI and version: what clients read first. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import type { Body } from "./_objects.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Built-in groups that both servers serve. A shared control plane can serve custom resources too. */
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

/** The versions of groups with more than v1. */
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
  requests("aggregated discovery in versions that are not served", () => [
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
  requests("the operations of OpenAPI v3", () => [
    operations(
      "apis/apps/v1",
      "deployments",
      "namespaces/{namespace}/deployments",
      "namespaces/{namespace}/deployments/{name}",
      "namespaces/{namespace}/deployments/{name}/scale",
    ),
    operations(
      "api/v1",
      "nodes",
      "nodes/{name}/status",
      "namespaces/{namespace}/pods/{name}/eviction",
      "namespaces/{namespace}/serviceaccounts/{name}/token",
    ),
    operations("apis/authorization.k8s.io/v1", "subjectaccessreviews"),
    operations("apis/rbac.authorization.k8s.io/v1", "clusterroles/{name}"),
  ]),
  scenario("the OpenAPI of a custom resource", async (run) => {
    const group = `${run.unique}.example.com`;
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await run.prepare({ path, body: gadgets(group) });
    try {
      await compareOpenApi(run, group);
    } finally {
      await run.prepare({ method: "DELETE", path: `${path}/gadgets.${group}` }).catch(() => undefined);
    }
  }),
];

/** Compares what both OpenAPI documents say of the custom resource. */
async function compareOpenApi(run: CaseRun, group: string): Promise<void> {
  const name = `com.example.${run.unique}.v1.Gadget`;
  await run.until("/openapi/v3", ({ paths = {} }) => paths[`apis/${group}/v1`] !== undefined);
  await run.until(`/openapi/v3/apis/${group}/v1`, (_, code) => code === 200);
  await run.call({
    path: `/openapi/v3/apis/${group}/v1`,
    pick: ({ info, components: { schemas } }: Any) =>
      withoutServerDescriptions({ info, kind: schemas[name], list: schemas[`${name}List`] }),
  });
  await run.call(operations(`apis/${group}/v1`, "gadgets", "namespaces/{namespace}/gadgets/{name}"));
  await run.until("/openapi/v2", ({ definitions = {} }) => definitions[name] !== undefined);
  await run.call({
    path: "/openapi/v2",
    pick: ({ definitions }: Any) =>
      withoutServerDescriptions({ kind: definitions[name], list: definitions[`${name}List`] }),
  });
}

/** Media types that the embedded server does not support. */
const unsupportedMediaTypes = /cbor|protobuf/;

/** Fields that contain the name of the group, which differs in each run. */
const namedAfterGroup: ReadonlySet<string> = new Set(["operationId", "tags"]);

/** Operations without descriptions, without unsupported media types, and without the name of the group. */
function operationsOf(value: Any): Any {
  if (Array.isArray(value)) return value.map(operationsOf);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key, item]) =>
    !(key === "description" && typeof item === "string") && !unsupportedMediaTypes.test(key) &&
    !namedAfterGroup.has(key)
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, operationsOf(item)]));
}

/** Selects some paths of an OpenAPI v3 document. */
const operations = (path: string, ...names: readonly string[]) => ({
  path: `/openapi/v3/${path}`,
  pick: ({ paths }: Any) => Object.fromEntries(names.map((one) => [one, operationsOf(paths[`/${path}/${one}`])])),
});

/** The descriptions in the custom resource definition. */
const ownDescriptions: ReadonlySet<unknown> = new Set(["A Gadget is a thing.", "How large."]);

/** Schemas without the descriptions that a server adds, because the two servers have different ones. */
function withoutServerDescriptions(value: Any): Any {
  if (Array.isArray(value)) return value.map(withoutServerDescriptions);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key, item]) =>
    !(key === "description" && typeof item === "string") || ownDescriptions.has(item)
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutServerDescriptions(item)]));
}

/** A schema with one example of each part that OpenAPI publishes in another form. */
const published: Body = {
  type: "object",
  description: "A Gadget is a thing.",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", format: "int32", minimum: 1, maximum: 10, default: 3, description: "How large." },
        port: { "x-kubernetes-int-or-string": true },
        maybe: { type: "string", nullable: true, enum: ["a", "b"] },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        embedded: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        list: {
          type: "array",
          items: { type: "object", required: ["name"], properties: { name: { type: "string", pattern: "^a" } } },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
        },
        map: { type: "object", additionalProperties: { type: "string" }, "x-kubernetes-map-type": "granular" },
        either: { type: "string", oneOf: [{ minLength: 1 }, { pattern: "^x" }] },
      },
      "x-kubernetes-validations": [{ rule: "self.size > 0", message: "too small" }],
    },
  },
};

function gadgets(group: string): Body {
  const names = { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" };
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: published },
    subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
  };
  return { metadata: { name: `gadgets.${group}` }, spec: { group, scope: "Namespaced", names, versions: [version] } };
}

/** Drops the freshness of a group, which differs between servers. */
function withoutState(group: Any): Any {
  return { ...group, metadata: { name: group.metadata.name } };
}
