/** Unknown paths, unsupported methods, probes, and the media types of responses. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import { at, configMap, pod } from "./_objects.ts";
import { customResourcePathCases } from "./custom_resource_paths.ts";
import { processPageCases } from "./process_pages.ts";

const table = "application/json;as=Table;v=v1;g=meta.k8s.io";

const paths: readonly ConformanceCase[] = [
  ...[
    "/nothing",
    "/api/v2",
    "/api/v1/nothings",
    "/api/v1/namespaces/default/nothings",
    "/apis/none.example.com",
    "/apis/none.example.com/v1",
    "/apis/none.example.com/v1/things",
    "/apis/apps/v2/deployments",
    "/apis/apps/v1/nothings",
    "/api/v1/namespaces/default/configmaps/a/b",
    "/api/v1/namespaces/default/configmaps/a/status",
    "/api/v1/namespaces/default/pods/a/nothing",
    "/api/v1/configmaps/a",
    "/api/v1/namespaces/default/nodes",
    "/api/v1/namespaces/default/namespaces",
    "/apis/apps/v1/namespaces/default/deployments/a/scale/b",
    "/api/v1/namespaces/default/pods/..%2Fa",
    "/api/v1/namespaces/default/configmaps/%2E%2E",
    "/api/v1/namespaces/default/configmaps/a%25b",
    "/api/v1/namespaces//configmaps?fieldSelector=metadata.name%3Dnone-of-them",
    "/API/V1/pods",
  ].map((path) => requests(`GET ${path}`, () => [{ path }])),
  requests("GET of a name that is not UTF-8", () => [{ path: "/api/v1/namespaces/default/configmaps/%ff" }], {
    deliberate: "strings of JavaScript hold characters, not bytes: such a path is rejected with 400",
  }),
  requests("methods that a path does not have", (run) => [
    { method: "POST", path: at(run, "configmaps", "a"), body: configMap("a") },
    { method: "PUT", path: at(run, "configmaps"), body: configMap("a") },
    { method: "PATCH", path: at(run, "configmaps"), type: "application/merge-patch+json", body: {} },
    { method: "DELETE", path: "/api/v1/configmaps" },
    { method: "POST", path: "/api/v1/configmaps", body: configMap("a") },
    { method: "OPTIONS", path: at(run, "configmaps") },
    { method: "HEAD", path: at(run, "configmaps") },
    { method: "PUT", path: at(run, "pods", "a") + "/log", body: {} },
    { method: "GET", path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" },
    { method: "DELETE", path: at(run, "pods", "a") + "/eviction" },
    { method: "GET", path: at(run, "pods", "a") + "/binding" },
    { method: "DELETE", path: "/api/v1/namespaces" },
    { method: "GET", path: at(run, "serviceaccounts", "default") + "/token" },
  ]),
  requests("probes", () => [
    { path: "/healthz" },
    { path: "/livez" },
    { path: "/readyz" },
    { path: "/livez/ping" },
    { path: "/readyz/nothing" },
    { path: "/readyz/etcd" },
  ]),
  requests("the discovery of the issuer of tokens", () => [
    {
      path: "/.well-known/openid-configuration",
      pick: ({ issuer: _, jwks_uri: url, ...rest }) => [url.slice(-15), rest],
    },
    { path: "/openid/v1/jwks", pick: ({ keys }) => keys.map((key: object) => Object.keys(key)) },
    { path: "/openid/v1/jwks/", pick: ({ keys }) => keys.length },
    { path: "/openid/v1" },
    { path: "/.well-known" },
    { path: "/.well-known/openid-configuration/a" },
    { path: "/openid/v1/jwks", method: "POST", body: {} },
    { path: "/.well-known/openid-configuration", method: "DELETE" },
  ]),
  requests("results of health checks as metrics", () => [
    { path: "/readyz/ping", pick: (text) => text },
    {
      path: "/metrics/slis",
      pick: (text) =>
        text.split("\n").filter((line: string) => line === 'kubernetes_healthcheck{name="ping",type="readyz"} 1'),
    },
  ]),
];

const accepts = [
  "application/json",
  "*/*",
  "application/*",
  "application/yaml",
  "text/html",
  "application/xml",
  "application/vnd.kubernetes.protobuf,application/json",
  "text/plain, application/json;q=0.5",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
  "application/json;as=Table;v=v2;g=meta.k8s.io",
  "application/json;as=Nothing;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;pretty=1",
  "application/json;stream=watch",
  "",
];

const representations: readonly ConformanceCase[] = [
  ...accepts.map((accept) =>
    scenario(
      `Accept: ${accept === "" ? "(empty)" : accept}`,
      async (run) => {
        await run.prepare({ path: at(run, "secrets"), body: { metadata: { name: "a" }, stringData: { a: "b" } } });
        const pick = (body: unknown) => typeof body === "string" ? body.length > 0 : body;
        await run.call({ path: at(run, "secrets", "a"), accept, pick });
        await run.call({ path: at(run, "secrets"), accept, pick });
        await run.call({ path: at(run, "secrets", "b"), accept, pick });
      },
    )
  ),
  requests(
    "content types of a body",
    (run) =>
      [
        "application/json; charset=utf-8",
        "text/plain",
        "application/xml",
        "application/vnd.kubernetes.protobuf",
        "text/yaml",
        "x",
        "*/*",
      ]
        .map((type, number) => ({ path: at(run, "configmaps"), type, body: configMap(`a-${number}`) })),
  ),
  requests("options of a table", (run) => [
    { path: at(run, "configmaps"), body: configMap("a") },
    { path: at(run, "configmaps", "a"), accept: `${table},application/json` },
    { path: `${at(run, "configmaps", "a")}?includeObject=None`, accept: table },
    { path: `${at(run, "configmaps", "a")}?includeObject=Object`, accept: table },
    { path: `${at(run, "configmaps", "a")}?includeObject=Some`, accept: table },
    { path: at(run, "configmaps", "b"), accept: table },
  ]),
  requests("the response to a write as metadata and as a table", (run) => [
    {
      path: at(run, "configmaps"),
      body: configMap("a"),
      accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    },
    { path: at(run, "configmaps"), body: configMap("b"), accept: table },
    {
      method: "DELETE",
      path: at(run, "configmaps", "a"),
      accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    },
    { path: at(run, "pods"), body: pod("a"), accept: table },
  ], { needsAccount: true }),
  ...["application/yaml", "text/html", "application/json;stream=watch", "application/*", `${table},application/json`]
    .map((accept) =>
      scenario(`a watch with Accept: ${accept}`, async (run) => {
        await run.prepare({ path: at(run, "configmaps"), body: configMap("a") });
        const path = `${at(run, "configmaps")}?fieldSelector=metadata.name%3Da&includeObject=None`;
        await run.watch(path, { count: 1, accept });
      })
    ),
  requests("responses with pretty=true", (run) => [
    { path: at(run, "configmaps"), body: configMap("a") },
    { path: `${at(run, "configmaps", "a")}?pretty=true`, pick: () => "" },
    { path: `${at(run, "configmaps", "b")}?pretty=1` },
  ]),
];

export const pathCases: readonly ConformanceCase[] = [
  ...paths,
  ...representations,
  ...processPageCases,
  ...customResourcePathCases,
];
