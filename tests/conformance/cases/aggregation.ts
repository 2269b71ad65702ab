/** APIServices: their checks, their condition, and the requests that are passed on to the API server behind one. */
import type { CaseRun } from "../case_run.ts";
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import { as, grant, revoke, rule } from "./_access_users.ts";
import {
  apiServiceOf,
  apiServicePath,
  conditionIn,
  type ExtensionServer,
  hasReason,
  register,
  withExtensionServer,
} from "./_extension_server.ts";
import { at, type Body } from "./_objects.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const merge = { method: "PATCH", type: "application/merge-patch+json" } as const;
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** An APIService of a group that nobody serves; `spec` replaces its fields. */
function apiService(run: CaseRun, spec: Body = {}, name = ""): Body {
  const group = `${run.name("none")}.example.com`;
  const full = { group, version: "v1", groupPriorityMinimum: 100, versionPriority: 10, ...spec };
  return { metadata: { name: name === "" ? `${full.version}.${full.group}` : name }, spec: full };
}

const target = { namespace: "default", name: "none-such", port: 443 };
const bundle = "Q0E=";

/** Objects that a server refuses, or changes. */
const objects: readonly (readonly [title: string, spec: Body, name?: string])[] = [
  ["of a negative priority", { groupPriorityMinimum: -1, versionPriority: 0 }],
  ["of a priority that is too high", { groupPriorityMinimum: 20_001, versionPriority: 1_001 }],
  ["without priorities", { groupPriorityMinimum: undefined, versionPriority: undefined }],
  ["of another name", {}, "v1.other.example.com"],
  ["of a name with a slash", {}, "v1/a"],
  ["without a group", { group: "" }, "v1."],
  ["of a version of core that is none", { group: "", version: "v2" }, "v2."],
  ["of an invalid group", { group: "Upper_Case" }, "v1.Upper_Case"],
  ["of an invalid version", { version: "1v" }],
  ["that is local, with a bundle", { caBundle: bundle }],
  ["that is local and insecure", { insecureSkipTLSVerify: true }],
  ["with a Service without names", { service: { port: 0 } }],
  ["with a port that is none", { service: { ...target, port: 70_000 } }],
  ["that is insecure, with a bundle", { service: target, caBundle: bundle, insecureSkipTLSVerify: true }],
  ["with a bundle that is not base64", { service: target, caBundle: "!" }],
];

const checks: readonly ConformanceCase[] = [
  ...objects.map(([title, spec, name]) =>
    requests(`an APIService ${title}`, (run) => [
      { path: `${apiServicePath()}?dryRun=All`, body: apiService(run, spec, name) },
    ])
  ),
  scenario("a local APIService is available at once, and its status and spec are written separately", async (run) => {
    const body = { ...apiService(run), status: { conditions: [{ type: "Other", status: "True" }] } };
    const { metadata } = await run.call({ path: apiServicePath(), body });
    const path = apiServicePath(metadata.name);
    const pick = ({ spec, status }: Any) => ({ spec, status });
    await run.call({
      ...merge,
      path: `${path}/status`,
      body: { status: { conditions: [{ type: "A", status: "No" }] } },
    });
    await run.call({ ...merge, path: `${path}?dryRun=All`, body: { spec: { versionPriority: 0 } }, pick });
    await run.call({ ...merge, path: `${path}?dryRun=All`, body: { spec: { version: "v2" } } });
    await run.call({ ...merge, path: `${path}?dryRun=All`, body: { spec: { versionPriority: 20 }, status: {} }, pick });
    const live = await run.call({ path, pick });
    const { resourceVersion: _, ...unversioned } = live.metadata;
    await run.call({ method: "PUT", path, body: { ...live, metadata: unversioned } });
    await run.call({ method: "PUT", path: apiServicePath("v1.missing.example.com"), body });
    await run.call({ method: "DELETE", path, pick: ({ status }) => status });
  }),
];

const conditions: readonly ConformanceCase[] = [
  scenario("the condition says which part of the Service is missing, one after the other", async (run) => {
    await withExtensionServer(run, async (server) => {
      const { group } = server;
      const service = { namespace: run.namespace, name: "api", port: 443 };
      await run.prepare({ path: apiServicePath(), body: apiServiceOf(run, server, { service }) });
      await hasReason(run, group, "ServiceNotFound");
      const services = at(run, "services");
      await run.prepare({ path: services, body: { metadata: { name: "api" }, spec: { ports: [{ port: 80 }] } } });
      await hasReason(run, group, "ServicePortError");
      const ports = [{ name: "https", port: 443 }];
      await run.prepare({ ...merge, path: `${services}/api`, body: { spec: { ports } } });
      await hasReason(run, group, "EndpointsNotFound");
      const labels = { "kubernetes.io/service-name": "api" };
      const slices = at(run, "discovery.k8s.io/v1/endpointslices");
      const slice = (endpoints: readonly Body[], name: string) => ({
        metadata: { name: "api", labels },
        addressType: "IPv4",
        endpoints,
        ports: [{ name, port: 443 }],
      });
      await run.prepare({ path: slices, body: slice([], "https") });
      await hasReason(run, group, "MissingEndpoints");
      await run.call({ path: `/apis/${group}/v1` });
      await run.call({ path: `/apis/${group}/v1/namespaces/${run.namespace}/widgets` });
    });
  }),
  scenario("an API server that does not listen, and one that answers with an error, fail the check", async (run) => {
    await withExtensionServer(run, async (server) => {
      await register(run, server);
      await hasReason(run, server.group, "Passed");
      await server.close();
      await run.prepare({
        ...merge,
        path: apiServicePath(`v1.${server.group}`),
        body: { spec: { versionPriority: 11 } },
      });
      await hasReason(run, server.group, "FailedDiscoveryCheck");
      await run.call({ path: `/apis/${server.group}/v1` });
    });
    await withExtensionServer(run, async (server) => {
      await run.prepare({ path: apiServicePath(), body: apiServiceOf(run, server) });
      await hasReason(run, server.group, "FailedDiscoveryCheck");
    }, {
      answer: (_request, response) => {
        response.writeHead(500);
        response.end();
        return true;
      },
    });
  }),
  scenario("the certificate of the API server must be that of the Service, unless that is not asked", async (run) => {
    const fails = async (server: ExtensionServer, spec: Body) => {
      const path = apiServicePath(`v1.${server.group}`);
      await run.prepare({ ...merge, path, body: { spec } });
      // The words of the message are those of the TLS library.
      await run.until(path, (body) => conditionIn(body)?.reason === "FailedDiscoveryCheck");
      await run.call({ path: `/apis/${server.group}/v1` });
    };
    await withExtensionServer(run, async (server) => {
      await register(run, server, { caBundle: undefined, insecureSkipTLSVerify: true });
      await hasReason(run, server.group, "Passed");
      await fails(server, { insecureSkipTLSVerify: false, caBundle: server.caBundle });
    }, { host: "other.example.com" });
    await withExtensionServer(run, async (server) => {
      await run.prepare({ path: apiServicePath(), body: apiServiceOf(run, server) });
      await hasReason(run, server.group, "Passed");
      await fails(server, { caBundle: null });
    });
  }),
  scenario("an APIService that loses its Service is local again", async (run) => {
    await withExtensionServer(run, async (server) => {
      await register(run, server);
      await hasReason(run, server.group, "Passed");
      const path = apiServicePath(`v1.${server.group}`);
      await run.prepare({ ...merge, path, body: { spec: { service: null, caBundle: null } } });
      await hasReason(run, server.group, "Local");
      await run.call({ path: `/apis/${server.group}` });
      await run.call({ path: `/apis/${server.group}/v1` });
      await run.call({ path: `/apis/${server.group}/v1/widgets` });
    });
  }),
];

/** Runs a case while the API server behind an APIService is available. */
async function served(
  run: CaseRun,
  act: (server: ExtensionServer, base: string) => Promise<void>,
  options: Parameters<typeof withExtensionServer>[2] = {},
): Promise<void> {
  await withExtensionServer(run, async (server) => {
    await register(run, server);
    await run.until(`/apis/${server.group}/v1`, (_, code) => code === 200);
    await act(server, `/apis/${server.group}/v1`);
  }, options);
}

/** The administrators of the servers have different names. */
function withoutName({ headers, ...rest }: Any): Body {
  const { "x-remote-user": _name, "x-remote-uid": _uid, ...others } = headers;
  return { ...rest, headers: others };
}

const passing: readonly ConformanceCase[] = [
  scenario("requests reach the API server with the user, and without credentials", async (run) => {
    await served(run, async (_server, base) => {
      const objects = `${base}/namespaces/${run.namespace}/widgets`;
      const forged = {
        "x-remote-user": "root",
        "x-remote-group": "system:masters",
        "x-remote-extra-a": "b",
        "x-own": "1",
      };
      const pick = withoutName;
      const query = "limit=5&labelSelector=a%3Db+c*d~&empty&labelSelector=x%2Fy";
      await run.call({ path: `${objects}?${query}`, headers: forged, pick });
      await run.call({ path: objects, body: { kind: "Widget" }, pick });
      await run.call({ method: "PUT", path: `${objects}/a`, body: "text", type: "text/plain", pick });
      await run.call({ ...merge, path: `${objects}/a/status`, body: { a: 1 }, pick });
      await run.call({ method: "DELETE", path: `${objects}/a`, body: { kind: "DeleteOptions" }, pick });
      await run.call({ method: "OPTIONS", path: `${base}/anything/at/all/`, pick });
      await run.call({ path: base });
    });
  }),
  scenario("the API server learns the groups and the extra values of an impersonated user", async (run) => {
    await served(run, async (_server, base) => {
      await run.call({
        path: `${base}/widgets`,
        headers: { ...as("jane", "system:masters", "shop"), "impersonate-extra-scopes": "a", "impersonate-uid": "7" },
      });
    });
  }),
  scenario("users need the permission for what they ask for in the group", async (run) => {
    await served(run, async ({ group }, base) => {
      const user = run.name("aggregated");
      await grant(run, user, [rule("get", `${group}/widgets`)], "cluster");
      const objects = `${base}/namespaces/${run.namespace}/widgets`;
      for (const path of [`${objects}/a`, objects, `${objects}/a/status`]) await run.call({ path, headers: as(user) });
      await run.call({ path: objects, body: {}, headers: as(user) });
      await revoke(run);
    });
  }),
  scenario("responses come back with their code, type and body, but no redirect", async (run) => {
    const codes: Readonly<Record<string, number>> = { gone: 410, teapot: 418, broken: 500, unavailable: 503 };
    await served(run, async (_server, base) => {
      for (const name of [...Object.keys(codes), "away"]) await run.call({ path: `${base}/widgets/${name}` });
    }, {
      answer(request, response) {
        const name = request.url?.split("/").at(-1) ?? "";
        const code = codes[name];
        if (code === undefined && name !== "away") return false;
        response.writeHead(code ?? 302, { "content-type": "text/x-own", ...(code ? {} : { location: "/elsewhere" }) });
        response.end(`the body of ${name}`);
        return true;
      },
    });
  }),
  scenario("a watch streams events while they come", async (run) => {
    const open: (() => void)[] = [];
    await served(run, async (_server, base) => {
      const act = async () => {
        while (open.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
        open[0]?.();
      };
      await run.watch(`${base}/widgets?watch=true`, { count: 2, act });
    }, {
      answer(request, response) {
        if (!request.url?.includes("watch=true")) return false;
        const event = (name: string) => `${JSON.stringify({ type: "ADDED", object: { kind: "Widget", name } })}\n`;
        response.writeHead(200, { "content-type": "application/json" });
        response.write(event("first"));
        open.push(() => response.write(event("second")));
        return true;
      },
    });
  }),
];

const groupIn = (group: string) => ({ groups }: Any) => groups.find((one: Any) => one.name === group) ?? "none";
const itemIn = (group: string) => ({ items }: Any) => items.find((one: Any) => one.metadata.name === group) ?? "none";

const discovery: readonly ConformanceCase[] = [
  ...[true, false].map((isAggregated) =>
    scenario(`an API server ${isAggregated ? "with" : "without"} aggregated discovery is discovered`, async (run) => {
      await served(run, async ({ group, close }, base) => {
        const fresh = (body: Any) => itemIn(group)(body).versions?.[0]?.freshness === "Current";
        await run.until({ path: "/apis", accept: aggregated }, fresh);
        await run.call({ path: "/apis", pick: groupIn(group) });
        await run.call({ path: `/apis/${group}` });
        await run.call({ path: base });
        await run.call({ path: "/apis", accept: aggregated, pick: itemIn(group) });
        await close();
        const path = apiServicePath(`v1.${group}`);
        await run.prepare({ ...merge, path, body: { spec: { versionPriority: 12 } } });
        await run.until({ path: "/apis", accept: aggregated }, (body) => !fresh(body));
        await run.call({ path: "/apis", pick: groupIn(group) });
        await run.call({ path: "/apis", accept: aggregated, pick: itemIn(group) });
      }, { isAggregated });
    })
  ),
  scenario("groups of APIServices have their place among the others, and go with them", async (run) => {
    const services = [["a", 17_000], ["b", 1_000], ["c", 10], ["d", 10]] as const;
    const nameOf = (stem: string) => `${stem}-${run.unique}.example.com`;
    for (const [stem, groupPriorityMinimum] of services) {
      await run.prepare({
        path: apiServicePath(),
        body: apiService(run, { group: nameOf(stem), groupPriorityMinimum }),
      });
    }
    const own = services.map(([stem]) => nameOf(stem));
    const builtin = ["apps", "batch", "autoscaling", "policy", "storage.k8s.io", "events.k8s.io"];
    const pick = ({ groups }: Any) =>
      groups.map(({ name }: Any) => name).filter((name: string) => own.includes(name) || builtin.includes(name));
    await run.until("/apis", ({ groups }) => own.every((name) => groups.some((one: Any) => one.name === name)));
    await run.call({ path: "/apis", pick });
    for (const name of own) await run.prepare({ method: "DELETE", path: apiServicePath(`v1.${name}`) });
    await run.until("/apis", ({ groups }) => own.every((name) => !groups.some((one: Any) => one.name === name)));
    await run.call({ path: `/apis/${own[0]}` });
    await run.call({ path: `/apis/${own[0]}/v1` });
  }),
  scenario("a group has the versions of its APIServices by their priorities", async (run) => {
    const versions = [["v1", 10], ["v2", 10], ["v1beta1", 20], ["v3alpha1", 10]] as const;
    for (const [version, versionPriority] of versions) {
      await run.prepare({ path: apiServicePath(), body: apiService(run, { version, versionPriority }) });
    }
    const group = `${run.name("none")}.example.com`;
    await run.until(`/apis/${group}`, (body) => body.versions?.length === versions.length);
    await run.call({ path: `/apis/${group}` });
    for (const [version] of versions) {
      await run.prepare({ method: "DELETE", path: apiServicePath(`${version}.${group}`) });
    }
  }),
];

/** All cases of the group. */
export const aggregationCases: readonly ConformanceCase[] = [...checks, ...conditions, ...passing, ...discovery];
