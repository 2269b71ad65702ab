/** Requests that a server passes on: proxies and port-forwards without anything behind them, and who may ask for them. */
import type { Call } from "../case_run.ts";
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import { as, grant, rule } from "./_access_users.ts";
import { at, type Body, pod } from "./_objects.ts";

const merge = { method: "PATCH", type: "application/merge-patch+json" } as const;
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

/** A created object is not compared here. */
const made = { pick: () => "made" };

/** A Service without a selector, so that no controller gives it endpoints. */
function manual(name: string): Body {
  return { metadata: { name }, spec: { ports: [{ name: "http", port: 80 }] } };
}

const proxies: readonly ConformanceCase[] = [
  requests(
    "the proxy of a Pod that does not exist, by each method",
    (run) => methods.map((method): Call => ({ method, path: `${at(run, "pods", "none")}/proxy/` })),
  ),
  requests(
    "proxies of names that are none",
    (run) =>
      ["pods", "services"].flatMap((kind) =>
        ["a:b:c:d", "ftp:a:80", ":80", "http::80", "https:none:80", "none:web"].map((name): Call => ({
          path: `${at(run, kind, name)}/proxy/x`,
        }))
      ),
  ),
  requests("the proxy of a Pod without an address, with each form of a name", (run) => [
    { path: at(run, "pods"), body: pod("a"), ...made },
    ...["a", "a:80", "http:a:80", "https:a:", "a:web"].map((name): Call => ({
      path: `${at(run, "pods", name)}/proxy/`,
    })),
    { path: `${at(run, "pods", "a")}/proxy` },
    { path: `${at(run, "pods", "a")}/proxy?dryRun=All` },
  ], { needsAccount: true }),
  scenario("the proxy of a Pod whose address is of one machine or one link", async (run) => {
    await run.call({ path: at(run, "pods"), body: pod("a"), ...made });
    for (const ip of ["127.0.0.1", "169.254.1.1", "::1", "fe80::1", "224.0.0.1", "0.0.0.0"]) {
      const status = { podIP: ip, podIPs: [{ ip }] };
      const pick = ({ status, message }: Body) => status ?? message;
      await run.call({ ...merge, path: `${at(run, "pods", "a")}/status`, body: { status }, pick });
      await run.call({ path: `${at(run, "pods", "a")}/proxy/` });
    }
  }, { needsAccount: true }),
  requests("proxies at paths that do not exist", () => [
    { path: "/api/v1/pods/a/proxy/" },
    { path: "/api/v1/namespaces/default/pods/proxy" },
    { path: "/api/v1/namespaces/default/nodes/a/proxy/" },
    { path: "/api/v1/namespaces/default/configmaps/a/proxy/" },
    { path: "/apis/apps/v1/namespaces/default/deployments/a/proxy/" },
  ]),
  requests("the proxy of a Service that has no endpoints", (run) => [
    { path: `${at(run, "services", "web")}/proxy/` },
    { path: `${at(run, "services", "web:80")}/proxy/` },
    { path: at(run, "services"), body: manual("web"), ...made },
    { path: `${at(run, "services", "web")}/proxy/` },
    { path: at(run, "endpoints"), body: { metadata: { name: "web" }, subsets: [] }, ...made },
    ...["web", "web:http", "web:80", "web:81", "web:-1", "web:other", "https:web:http"].map((name): Call => ({
      path: `${at(run, "services", name)}/proxy/a/b?c=d`,
    })),
  ]),
  requests("the proxy of a Service whose endpoints are no Pods, or not those of their Pods", (run) => {
    const subsets = (...addresses: readonly Body[]) => [{ addresses, ports: [{ name: "http", port: 80 }] }];
    const target = (name: string) => ({ kind: "Pod", name, namespace: run.namespace });
    const put = (name: string, subsets: readonly Body[]): Call => ({
      path: at(run, "endpoints"),
      body: { metadata: { name }, subsets },
      ...made,
    });
    return [
      { path: at(run, "pods"), body: pod("other"), ...made },
      ...["a", "b", "c"].map((name): Call => ({ path: at(run, "services"), body: manual(name), ...made })),
      put("a", subsets({ ip: "10.255.0.1" })),
      put("b", subsets({ ip: "10.255.0.1", targetRef: target("none") })),
      put("c", subsets({ ip: "10.255.0.1", targetRef: target("other") })),
      ...["a:http", "b:http", "c:80", "c:8080", "c"].map((name): Call => ({
        path: `${at(run, "services", name)}/proxy/`,
      })),
    ];
  }, { needsAccount: true }),
  scenario("the proxy of a Node that does not exist, has no address, or one of loopback", async (run) => {
    const name = run.name("proxied");
    await run.call({ path: `/api/v1/nodes/${name}/proxy/metrics` });
    await run.call({ path: `/api/v1/nodes/a:b:c:d/proxy/` });
    await run.call({ path: "/api/v1/nodes", body: { metadata: { name } }, ...made });
    await run.call({ path: `/api/v1/nodes/${name}/proxy/` });
    const addresses = [{ type: "Other", address: "a" }, { type: "Third", address: "192.0.2.1" }];
    await run.call({ ...merge, path: `/api/v1/nodes/${name}/status`, body: { status: { addresses } }, ...made });
    await run.call({ path: `/api/v1/nodes/${name}:80/proxy/` });
    const loopback = [{ type: "InternalIP", address: "127.0.0.1" }];
    await run.call({
      ...merge,
      path: `/api/v1/nodes/${name}/status`,
      body: { status: { addresses: loopback } },
      ...made,
    });
    await run.call({ path: `/api/v1/nodes/${name}/proxy/` });
    await run.prepare({ method: "DELETE", path: `/api/v1/nodes/${name}` });
  }),
];

const forwards: readonly ConformanceCase[] = [
  requests("a port-forward that cannot be", (run) => [
    { method: "POST", path: `${at(run, "pods", "none")}/portforward` },
    { path: `${at(run, "pods", "none")}/portforward?ports=80` },
    { path: at(run, "pods"), body: pod("a"), ...made },
    { method: "POST", path: `${at(run, "pods", "a")}/portforward` },
    { path: `${at(run, "pods", "a")}/portforward?ports=80` },
    { method: "PUT", path: `${at(run, "pods", "a")}/portforward` },
    { method: "POST", path: `${at(run, "services", "a")}/portforward` },
  ], { needsAccount: true }),
];

/** What a user without more than these verbs gets. */
const permissions = ["get", "create", "update", "patch", "delete", "*"].map((verb): ConformanceCase =>
  scenario(`who may only ${verb} proxies and port-forwards gets no other method`, async (run) => {
    const user = run.name("forwarder");
    await grant(run, user, [rule(verb, "pods/proxy services/proxy pods/portforward")], "namespace");
    const send = async (path: string, method: Call["method"]) =>
      await run.call({ method, path, headers: as(user), recordsDenial: true });
    for (const method of methods) await send(`${at(run, "pods", "none")}/proxy/x`, method);
    for (const method of methods) await send(`${at(run, "services", "http:none:80")}/proxy/x/y`, method);
    for (const method of ["GET", "POST"] as const) {
      await send(`${at(run, "pods", "none")}/portforward?ports=80`, method);
    }
    await send(`/api/v1/nodes/none/proxy/metrics`, "GET");
  })
);

/** All cases of the group. */
export const forwardingCases: readonly ConformanceCase[] = [...proxies, ...forwards, ...permissions];
