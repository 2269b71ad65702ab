/** withExtensionServer(): an API server of one group on the loopback address while a case runs, behind a Service of the case. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";
import { CertificateAuthority } from "../../controlplane/certificate_authority.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body } from "./_objects.ts";

/** A running extension server. */
export interface ExtensionServer {
  /** Its group, which no other run has. */
  readonly group: string;
  readonly port: number;
  /** In base64, as in an APIService. */
  readonly caBundle: string;
  /** Ends it before the case does. */
  close(): Promise<void>;
}

/** Options of {@link withExtensionServer}. */
export interface ExtensionOptions {
  /** Answers a request; false for one that is answered as usual. @default every request is answered as usual */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** True if it serves aggregated discovery. @default true */
  readonly isAggregated?: boolean;
  /** The name in its certificate. @default that of the Service `api` */
  readonly host?: string;
}

/** The resources of the group, in both forms of discovery. */
function discoveryOf(group: string) {
  const verbs = ["get", "list", "watch", "create"];
  const responseKind = { group, version: "v1", kind: "Widget" };
  return {
    legacy: {
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: `${group}/v1`,
      resources: [
        { name: "widgets", singularName: "widget", namespaced: true, kind: "Widget", verbs, shortNames: ["wd"] },
        { name: "widgets/status", singularName: "", namespaced: true, kind: "Widget", verbs: ["get"] },
      ],
    },
    aggregated: {
      kind: "APIGroupDiscoveryList",
      apiVersion: "apidiscovery.k8s.io/v2",
      metadata: {},
      items: [{
        metadata: { name: group },
        versions: [{
          version: "v1",
          resources: [{
            resource: "widgets",
            responseKind,
            scope: "Namespaced",
            singularResource: "widget",
            verbs,
            subresources: [{ subresource: "status", responseKind, verbs: ["get"] }],
          }],
          freshness: "Current",
        }],
      }],
    },
  };
}

/** What the server shows of the fields that it gets. */
function shownHeaders({ rawHeaders }: IncomingMessage): Body {
  const shown: Record<string, string[]> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    const isShown = /^(x-remote-|x-own|authorization$|impersonate-|content-type$|cookie$|x-forwarded-(uri|proto)$|te$)/;
    if (isShown.test(name)) (shown[name] ??= []).push(rawHeaders[index + 1] ?? "");
  }
  return Object.fromEntries(Object.entries(shown).toSorted(([left], [right]) => left < right ? -1 : 1));
}

async function respond(request: IncomingMessage, response: ServerResponse, group: string, isAggregated: boolean) {
  const path = (request.url ?? "").split("?")[0] ?? "";
  const { legacy, aggregated } = discoveryOf(group);
  const json = (body: unknown, type = "application/json") => {
    response.writeHead(200, { "content-type": type });
    response.end(JSON.stringify(body));
  };
  if (path === "/apis") {
    if (isAggregated) return json(aggregated, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    response.writeHead(404);
    return void response.end("not found");
  }
  if (path === `/apis/${group}/v1`) return json(legacy);
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method, url } = request;
  json({ method, url, headers: shownHeaders(request), body: Buffer.concat(chunks).toString() });
}

/** Serves while `act` runs. */
export async function withExtensionServer(
  run: CaseRun,
  act: (server: ExtensionServer) => Promise<void>,
  options: ExtensionOptions = {},
): Promise<void> {
  const { answer = () => false, isAggregated = true, host = `api.${run.namespace}.svc` } = options;
  const group = `${run.name("widgets")}.example.com`;
  const authority = await CertificateAuthority.create("conformance");
  const pair = await authority.issue({ commonName: "extension", usage: "server", hosts: [host] });
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    if (!answer(request, response)) respond(request, response, group, isAggregated).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    const { port } = server.address() as AddressInfo;
    await act({ group, port, caBundle: Buffer.from(authority.certificate).toString("base64"), close });
  } finally {
    if (server.listening) await close();
    await run.prepare({ method: "DELETE", path: apiServicePath(`v1.${group}`) });
  }
}

/** The path of an APIService. */
export function apiServicePath(name = ""): string {
  return `/apis/apiregistration.k8s.io/v1/apiservices${name === "" ? "" : `/${name}`}`;
}

/** An APIService for `v1` of the group, whose Service is `api`. */
export function apiServiceOf(run: CaseRun, server: ExtensionServer, spec: Body = {}): Body {
  const { group, port, caBundle } = server;
  const service = { namespace: run.namespace, name: "api", port };
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1.${group}` },
    spec: { group, version: "v1", groupPriorityMinimum: 200, versionPriority: 10, service, caBundle, ...spec },
  };
}

/** Creates the Service `api`, which leads to loopback, and the APIService. */
export async function register(run: CaseRun, server: ExtensionServer, spec: Body = {}): Promise<void> {
  const external = { type: "ExternalName", externalName: "127.0.0.1" };
  await run.prepare({ path: at(run, "services"), body: { metadata: { name: "api" }, spec: external } });
  await run.prepare({ path: apiServicePath(), body: apiServiceOf(run, server, spec) });
}

/** The condition of an APIService. */
// deno-lint-ignore no-explicit-any
export const conditionIn = (body: any) => body.status?.conditions?.find((one: Body) => one["type"] === "Available");

/** Waits until an APIService has a reason, and records its condition. */
export async function hasReason(run: CaseRun, group: string, reason: string): Promise<void> {
  const path = apiServicePath(`v1.${group}`);
  await run.until(path, (body) => conditionIn(body)?.reason === reason);
  await run.call({ path, pick: conditionIn });
}
