/** Tests of the proxies of Pods, Services and Nodes, over sockets and on every runtime. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:net";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { LoopbackServer } from "../../../tests/loopback.ts";
import { until } from "../../../tests/until.ts";
import { VirtualClock } from "../../async/mod.ts";
import { httpClient, serve, type ServeHandler } from "../../runtime/mod.ts";
import { kubernetesApi } from "../mod.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const space = "/api/v1/namespaces/default";

/** What a request to the program was. */
interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

class Site implements AsyncDisposable {
  readonly errors: unknown[] = [];
  readonly seen: Seen[] = [];
  readonly #http = httpClient();
  /** What is open, in the order of its opening. Node 22 has no AsyncDisposableStack. */
  readonly #open: AsyncDisposable[] = [];
  readonly clock = new VirtualClock();
  readonly #api = kubernetesApi({ clock: this.clock, onError: (error) => this.errors.push(error) });
  url = "";

  /** A Pod `web` with the ports 80 and 443 for which programs stand in, its Service, and a Node. */
  static async start(
    answer: (response: ServerResponse, request: IncomingMessage) => void = (response) => response.end(),
  ) {
    const site = new Site();
    const server = await LoopbackServer.start({
      answer: async (request, response) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        site.seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
        answer(response, request);
      },
    });
    site.#open.push(server);
    const onError = (error: unknown) => site.errors.push(error);
    const handler: ServeHandler = (request, connection) => site.#api.server.fetch(request, connection);
    const api = await serve({ handler, clock: site.clock, onError });
    site.#open.push(api);
    site.url = `http://127.0.0.1:${api.port}`;
    await site.#createObjects(new URL(server.url()).port);
    return site;
  }

  async #createObjects(port: string): Promise<void> {
    const annotations = { "pintle.dev/serves": `80=127.0.0.1:${port}, 8080=1, 10250=127.0.0.1:${port}` };
    await this.post(`${space}/serviceaccounts`, { metadata: { name: "default" } });
    const containers = [{ name: "main", image: "example.invalid/main", ports: [{ containerPort: 80 }] }];
    for (const name of ["web", "other"]) {
      await this.post(`${space}/pods`, { metadata: { name, annotations }, spec: { nodeName: "a", containers } });
    }
    await this.run("web", "10.1.2.3");
    const ports = [{ name: "http", port: 8000, targetPort: 80 }, { name: "broken", port: 8001, targetPort: 8080 }];
    await this.post(`${space}/services`, { metadata: { name: "web" }, spec: { ports, selector: { app: "web" } } });
    const targetRef = { kind: "Pod", name: "web", namespace: "default" };
    await this.post(`${space}/endpoints`, {
      metadata: { name: "web" },
      subsets: [{
        // Only the last one is an address of its Pod.
        addresses: [{ ip: "10.1.2.9" }, { ip: "10.1.2.8", targetRef }, { ip: "10.1.2.3", targetRef }],
        ports: [{ name: "http", port: 80 }, { name: "broken", port: 8080 }],
      }],
    });
    await this.post("/api/v1/nodes", { metadata: { name: "a", annotations } });
    await this.patch("/api/v1/nodes/a/status", {
      status: { addresses: [{ type: "InternalIP", address: "10.9.9.9" }] },
    });
  }

  async run(name: string, podIP: string): Promise<void> {
    await this.patch(`${space}/pods/${name}/status`, { status: { phase: "Running", podIP, podIPs: [{ ip: podIP }] } });
  }

  async post(path: string, object: object): Promise<void> {
    const response = await this.send("POST", path, { "content-type": "application/json" }, JSON.stringify(object));
    assertEquals(response.status, 201, await response.text());
  }

  async patch(path: string, patch: object): Promise<void> {
    const type = { "content-type": "application/merge-patch+json" };
    assertEquals((await this.send("PATCH", path, type, JSON.stringify(patch))).status, 200);
  }

  async send(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: string) {
    return await this.#http.fetch(new Request(`${this.url}${path}`, { method, headers, ...(body ? { body } : {}) }));
  }

  async get(path: string): Promise<readonly [status: number, text: string]> {
    const response = await this.send("GET", path);
    return [response.status, await response.text()];
  }

  async upgrade(path: string, headers: Readonly<Record<string, string>>) {
    return await this.#http.upgrade(new Request(`${this.url}${path}`), headers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close();
    this.#api.server[Symbol.dispose]();
    for (const one of this.#open.toReversed()) await one[Symbol.asyncDispose]();
    assertEquals(this.errors, []);
  }
}

test("the proxy of a Pod passes on method, path, query, body and fields, but no credentials and none of the connection", async () => {
  await using site = await Site.start((response) => {
    response.writeHead(418, {
      "content-type": "text/x-tea",
      "x-answer": "yes",
      "access-control-allow-origin": "*",
      "keep-alive": "timeout=9",
    });
    response.end("short and stout");
  });
  const headers = {
    accept: "text/html",
    authorization: "Bearer secret",
    cookie: "a=b",
    "proxy-authorization": "Basic secret",
    "x-own": "1",
    "x-forwarded-for": "192.0.2.1",
  };
  const path = `${space}/pods/web/proxy/a%20b/c%2Fd/./e(f)/?q=1&q=%2F`;
  const response = await site.send("PUT", path, headers, "the body");
  assertEquals([response.status, await response.text()], [418, "short and stout"]);
  assertEquals(
    ["content-type", "x-answer", "access-control-allow-origin", "keep-alive"].map((name) => response.headers.get(name)),
    ["text/x-tea", "yes", null, null],
  );
  const [seen] = site.seen;
  assertEquals([seen?.line, seen?.body], ["PUT /a%20b/c/d/e%28f%29/?q=1&q=%2F", "the body"]);
  const passed = (name: string) => seen?.headers[name];
  const names = ["authorization", "proxy-authorization", "accept", "cookie", "x-own", "x-forwarded-for", "host"];
  assertEquals(names.map(passed), [
    undefined,
    undefined,
    "text/html",
    "a=b",
    "1",
    "192.0.2.1, 127.0.0.1",
    new URL(site.url).host,
  ]);
});

test("every method reaches the program, and each form of a name finds its port", async () => {
  await using site = await Site.start((response, { method }) => response.end(method === "HEAD" ? "" : "ok"));
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]) {
    const response = await site.send(method, `${space}/pods/web/proxy/`);
    assertEquals([response.status, await response.text()], [200, method === "HEAD" ? "" : "ok"], method);
  }
  for (const path of ["pods/web:80", "pods/http:web:80", "services/web:http", "services/http:web:8000"]) {
    assertEquals(await site.get(`${space}/${path}/proxy/x`), [200, "ok"], path);
  }
  assertEquals(await site.get("/api/v1/nodes/a/proxy/metrics"), [200, "ok"]);
  assertEquals(site.seen.map(({ line }) => line).slice(-2), ["GET /x", "GET /metrics"]);
});

test("a path without a slash, and a redirect of the program, lead through the proxy", async () => {
  await using site = await Site.start((response, { url = "" }) => {
    response.writeHead(302, { location: new URL(url, "http://own").searchParams.get("to") ?? "" });
    response.end();
  });
  const proxy = `${space}/pods/web/proxy`;
  const empty = await site.send("GET", `${proxy}?a=b`);
  assertEquals([empty.status, empty.headers.get("location")], [301, `${proxy}/?a=b`]);
  assertEquals(site.seen.length, 0);
  const own = new URL(site.url).host;
  const targets: Readonly<Record<string, string>> = {
    "/login?next=1": `${proxy}/login?next=1`,
    "http://10.1.2.3:80/x/": `${proxy}/x/`,
    [`http://${own}/x`]: `${proxy}/x`,
    "relative": "relative",
    "https://example.com/x": "https://example.com/x",
    [`${proxy}/y`]: `${proxy}/y`,
  };
  for (const [from, to] of Object.entries(targets)) {
    const response = await site.send("GET", `${proxy}/away?to=${encodeURIComponent(from)}`);
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("location")], [302, to], from);
  }
});

test("what cannot be proxied has the status of kube-apiserver", async () => {
  await using site = await Site.start();
  const errors: readonly (readonly [path: string, status: number, message: RegExp])[] = [
    [`${space}/pods/none/proxy/`, 404, /pods \\"none\\" not found/],
    [`${space}/pods/a:b:c:d/proxy/`, 400, /invalid pod request \\"a:b:c:d\\"/],
    [`${space}/pods/ftp:web:80/proxy/`, 400, /invalid pod request/],
    [`${space}/pods/other/proxy/`, 400, /address not allowed/],
    [
      `${space}/pods/web:81/proxy/`,
      503,
      /error trying to reach service: dial tcp 10\.1\.2\.3:81: .*refused \(the Pod is/,
    ],
    [
      `${space}/pods/web:8080/proxy/`,
      503,
      /error trying to reach service: dial tcp 127\.0\.0\.1:1: connect: connection ref/,
    ],
    [`${space}/services/none/proxy/`, 404, /services \\"none\\" not found/],
    [`${space}/services/none:80/proxy/`, 404, /services \\"none\\" not found/],
    [`${space}/services/web:81/proxy/`, 503, /no service port 81 found for service \\"web\\"/],
    [`${space}/services/web/proxy/`, 503, /no endpoints available for service \\"web\\"/],
    [`${space}/services/web:8001/proxy/`, 503, /error trying to reach service: /],
    ["/api/v1/nodes/none/proxy/", 404, /nodes \\"none\\" not found/],
    ["/api/v1/nodes/a:1234/proxy/", 503, /dial tcp 10\.9\.9\.9:1234: .*the Node is simulated/],
    ["/api/v1/pods/web/proxy/", 404, /could not find the requested resource/],
    [`${space}/pods/web/proxy/?dryRun=All`, 400, /dryRun is not supported/],
  ];
  for (const [path, status, message] of errors) {
    const [code, text] = await site.get(path);
    assertEquals(code, status, `${path}: ${text}`);
    assertMatch(text, message);
    assertEquals(JSON.parse(text).kind, "Status");
  }
  await site.patch(`${space}/pods/web/status`, { status: { phase: "Succeeded" } });
  assertMatch((await site.get(`${space}/pods/web/proxy/`))[1], /the Pod is not running: its phase is \\"Succeeded\\"/);
  assertEquals(site.seen.length, 0);
});

test("a response streams through the proxy, and ends at the program when the client leaves", async () => {
  let hasEnded = false;
  await using site = await Site.start((response) => {
    response.on("close", () => hasEnded = true);
    response.write("first");
  });
  const response = await site.send("GET", `${space}/pods/web/proxy/stream`);
  const reader = response.body?.getReader();
  assertEquals(new TextDecoder().decode((await reader?.read())?.value), "first");
  const idle = site.clock.pendingTimers;
  await reader?.cancel();
  // A client that only sends no more has two seconds to read on.
  await until(() => hasEnded || site.clock.pendingTimers > idle, "the end of what the client sends");
  await site.clock.advance(2_000);
  await until(() => hasEnded, "the end at the program");
});

test("a request for another protocol switches both connections", async () => {
  const heads: string[] = [];
  const program = createServer((socket) => {
    socket.once("data", (bytes) => {
      heads.push(String(bytes));
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\nx-own: 1\r\n\r\nhi ");
      socket.on("data", (bytes) => String(bytes) === "bye" ? socket.end() : socket.write(bytes));
    });
  });
  await new Promise<void>((resolve) => program.listen(0, "127.0.0.1", resolve));
  const address = program.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await using site = await Site.start();
  const annotations = { "pintle.dev/serves": `80=${port}` };
  await site.patch(`${space}/pods/web`, { metadata: { annotations } });
  const headers = { connection: "Upgrade", upgrade: "echo", authorization: "Bearer secret" };
  const answer = await site.upgrade(`${space}/pods/web/proxy/ws?x=1`, headers);
  assert(answer.kind === "switched");
  assertEquals(answer.headers.get("x-own"), "1");
  let text = "";
  let hasEnded = false;
  answer.wire.onBytes = (bytes) => text += new TextDecoder().decode(bytes);
  answer.wire.onEnd = () => hasEnded = true;
  await answer.wire.write(new TextEncoder().encode("there"));
  await until(() => text === "hi there", "the echo");
  const [head = ""] = heads;
  assert(head.startsWith("GET /ws?x=1 HTTP/1.1\r\n"), head);
  assert(!head.includes("secret") && /^upgrade: echo\r$/im.test(head), head);
  await answer.wire.write(new TextEncoder().encode("bye"));
  await until(() => hasEnded, "the end of the connection");
  await new Promise((resolve) => program.close(resolve));
});

test("a proxy is authorized as its subresource, with the verb of its method", async () => {
  using server = new KubernetesTestServer();
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  const rules = [{ apiGroups: [""], resources: ["pods/proxy"], verbs: ["get", "update"] }];
  await server.create(`${rbac}/roles`, { metadata: { name: "proxy" }, rules });
  await server.create(`${rbac}/rolebindings`, {
    metadata: { name: "proxy" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "proxy" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "jane" }],
  });
  const jane = { authorization: "Bearer jane" };
  const codes: Readonly<Record<string, number>> = { GET: 404, HEAD: 404, PUT: 404, POST: 403, PATCH: 403, DELETE: 403 };
  for (const [method, code] of Object.entries(codes)) {
    const answer = await server.send(method, `${space}/pods/web/proxy/a/b`, undefined, jane);
    assertEquals(answer.code, code, method);
    if (method === "POST") assertMatch(answer.body.message, /cannot create resource "pods\/proxy" in API group ""/);
  }
  assertEquals((await server.send("GET", `${space}/services/web/proxy/`, undefined, jane)).code, 403);
});
