/** Tests of aggregated API servers, over sockets and on every runtime, with a virtual clock of the server. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { LoopbackServer } from "../../../tests/loopback.ts";
import { until } from "../../../tests/until.ts";
import { VirtualClock } from "../../async/mod.ts";
import { nextTurn, toBase64 } from "../../runtime/mod.ts";
import { kubernetesApi } from "../mod.ts";

const group = "drinks.example.com";
const base = `/apis/${group}/v1`;
const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
const authority = await CertificateAuthority.create("drinks");
const frontProxy = await (async () => {
  const { certificate, key } = await authority.issue({ commonName: "front-proxy-client" });
  return { cert: certificate, key, ca: authority.certificate };
})();
const admin = { name: "root", uid: "7", groups: ["system:masters"], extra: new Map([["scopes/a%", ["x", "y"]]]) };

// deno-lint-ignore no-explicit-any
type Any = any;

class Site implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly errors: unknown[] = [];
  readonly seen: IncomingMessage[] = [];
  readonly #api = kubernetesApi({
    clock: this.clock,
    tokens: new Map([["root", admin]]),
    frontProxy,
    onError: (error) => this.errors.push(error),
  });
  #server: LoopbackServer | undefined;
  /** Answers what is not discovery. */
  answer = (_request: IncomingMessage, response: ServerResponse): void => void response.end("{}");
  isFailing = false;

  /** An API server behind an ExternalName Service. */
  static async start(externalName = "localhost"): Promise<Site> {
    const site = new Site();
    const tls = await authority.issue({ commonName: "api", usage: "server", hosts: ["api.default.svc"] });
    const answer = (request: IncomingMessage, response: ServerResponse) => site.#respond(request, response);
    // It takes only the client whose authority the ConfigMap names.
    site.#server = await LoopbackServer.start({ tls, clientCa: authority.certificate, answer });
    await site.post("/api/v1/namespaces/default/services", {
      metadata: { name: "api" },
      spec: { type: "ExternalName", externalName },
    });
    const service = { namespace: "default", name: "api", port: site.#server.port };
    const caBundle = toBase64(authority.certificate);
    await site.post(apiServices, {
      metadata: { name: `v1.${group}` },
      spec: { group, version: "v1", groupPriorityMinimum: 100, versionPriority: 10, service, caBundle },
    });
    return site;
  }

  #respond(request: IncomingMessage, response: ServerResponse): void {
    if (this.isFailing) response.writeHead(500).end();
    else if (request.url === "/apis") response.writeHead(404).end();
    else if (request.url === base) response.end(JSON.stringify({ resources: [{ name: "teas", kind: "Tea" }] }));
    else {
      this.seen.push(request);
      this.answer(request, response);
    }
  }

  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", "Bearer root");
    return await this.#api.server.fetch(new Request(`http://in.memory${path}`, { ...init, headers }));
  }

  async post(path: string, body: object): Promise<void> {
    const headers = { "content-type": "application/json" };
    const response = await this.send(path, { method: "POST", headers, body: JSON.stringify(body) });
    assertEquals(response.status, 201, await response.text());
  }

  condition(): Any {
    const object: Any = this.#api.server.storage.get("apiservices.apiregistration.k8s.io", "", `v1.${group}`);
    return object?.status?.conditions?.[0];
  }

  /** Waits until a check has ended with a reason, discovery included, and only the timer of the next one is left. */
  async hasReason(reason: string): Promise<void> {
    const condition = () => this.condition()?.reason === reason;
    await until(condition, `the reason ${reason}`);
    let isFresh = reason !== "Passed";
    for (let tries = 0; !isFresh && tries < 10_000; tries++) {
      await until(() => true, "a turn");
      isFresh = await this.#isDiscovered();
    }
    await until(() => condition() && this.pendingTimers === 1, "the timer of the next check");
  }

  async #isDiscovered(): Promise<boolean> {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const list: Any = await (await this.send("/apis", { headers: { accept } })).json();
    const item = list.items.find((one: Any) => one.metadata.name === group);
    await nextTurn();
    return item?.versions[0].freshness === "Current";
  }

  get pendingTimers(): number {
    return this.clock.pendingTimers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#api.server[Symbol.dispose]();
    await this.#server?.[Symbol.asyncDispose]();
    assertEquals(this.errors, []);
  }
}

test("a request is passed on with its user, each value on its own line, and without what clients forge", async () => {
  await using site = await Site.start();
  await site.hasReason("Passed");
  const headers = { "x-remote-user": "forged", "x-remote-extra-other": "forged", "x-own": "1" };
  const response = await site.send(`${base}/teas?b=2&a=1`, { headers });
  assertEquals([response.status, await response.text()], [200, "{}"]);
  const [request] = site.seen;
  const raw = request?.rawHeaders ?? [];
  const valuesOf = (name: string) =>
    raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
  const names = ["x-remote-user", "x-remote-uid", "x-remote-group", "x-remote-extra-scopes%2fa%25", "authorization"];
  assertEquals(names.map(valuesOf), [["root"], ["7"], ["system:masters"], ["x", "y"], []]);
  assertEquals([request?.url, valuesOf("x-remote-extra-other"), valuesOf("x-own")], [`${base}/teas?a=1&b=2`, [], [
    "1",
  ]]);
});

test("a response streams, and ends at the API server when the client leaves", async () => {
  await using site = await Site.start();
  await site.hasReason("Passed");
  let hasEnded = false;
  site.answer = (_request, response) => {
    response.on("close", () => hasEnded = true);
    response.write("first");
  };
  const response = await site.send(`${base}/teas?watch=true`);
  const reader = response.body?.getReader();
  assertEquals(new TextDecoder().decode((await reader?.read())?.value), "first");
  await reader?.cancel();
  await until(() => hasEnded, "the end at the API server");
});

test("an API server that fails is noticed within 30 s, and its recovery by a retry", async () => {
  await using site = await Site.start();
  await site.hasReason("Passed");
  site.isFailing = true;
  await site.clock.advance(30_000);
  await site.hasReason("FailedDiscoveryCheck");
  assertMatch(
    site.condition().message,
    /bad status from https:\/\/localhost:\d+\/apis\/drinks\.example\.com\/v1: 500$/,
  );
  const refused = await site.send(`${base}/teas`);
  assertEquals([refused.status, await refused.text()], [503, "service unavailable\n"]);
  site.isFailing = false;
  // A step is shorter than the time limit of the requests of a check, and each check ends before the next step.
  for (let waitedMs = 0; waitedMs < 60_000 && site.condition().reason !== "Passed"; waitedMs += 4_000) {
    await until(() => site.pendingTimers === 1, "the timer of the next check");
    await site.clock.advance(4_000);
    await until(() => site.pendingTimers === 1, "the end of the check");
  }
  await site.hasReason("Passed");
  assertEquals((await site.send(`${base}/teas`)).status, 200);
});

test("an API server on another machine is not connected to", async () => {
  for (const externalName of ["192.0.2.1", "example.com", "localhost.example.com"]) {
    await using site = await Site.start(externalName);
    await site.hasReason("FailedDiscoveryCheck");
    assertMatch(site.condition().message, /this server connects to loopback only, not to "/);
    assertEquals(site.seen.length, 0);
  }
});

test("without other API servers no timer is set, and none is left when their APIService is deleted", async () => {
  await using site = await Site.start();
  await site.hasReason("Passed");
  assertEquals((await site.send(`${apiServices}/v1.${group}`, { method: "DELETE" })).status, 200);
  await until(() => site.pendingTimers === 0, "the end of the timers");
  assertEquals((await site.send(`${base}/teas`)).status, 404);
  assertEquals((await site.send(`/apis/${group}`)).status, 404);
});

test("other API servers learn from a ConfigMap whose requests name a user", async () => {
  await using site = await Site.start();
  const path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  const { data }: Any = await (await site.send(path)).json();
  assertEquals(data["requestheader-client-ca-file"], authority.certificate);
  assertEquals(data["requestheader-allowed-names"], '["front-proxy-client"]');
  assertEquals(data["requestheader-username-headers"], '["X-Remote-User"]');
});
