/** An aggregated API server behind `controller dev`, with the compiled binary and kubectl: the server is written here. */
import process from "node:process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Buffer } from "node:buffer";
import { assertEquals, assertMatch } from "../testing.ts";
import { CertificateAuthority } from "../controlplane/certificate_authority.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { LoopbackServer } from "../loopback.ts";
import { runBinary } from "./_binary.ts";

const path = process.env["PATH"] ?? "";
const group = "drinks.example.com";

/** An API server with one kind and one object. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const send = (body: object, code = 200) => {
    response.writeHead(code, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  const [root, ...parts] = (request.url ?? "").split("?")[0]?.split("/").slice(1) ?? [];
  const user = request.headers["x-remote-user"];
  const tea = {
    apiVersion: `${group}/v1`,
    kind: "Tea",
    metadata: { name: "green", namespace: "default", annotations: { user } },
  };
  if (root !== "apis" || parts.length === 0) return send({ kind: "Status", code: 404 }, 404);
  const key = parts.slice(2).join("/");
  if (key === "") {
    const verbs = ["get", "list"];
    const resources = [{ name: "teas", singularName: "tea", namespaced: true, kind: "Tea", verbs, shortNames: ["t"] }];
    return send({ kind: "APIResourceList", apiVersion: "v1", groupVersion: `${group}/v1`, resources });
  }
  if (key.endsWith("/teas/green")) return send(tea);
  if (key.endsWith("teas")) {
    return send({ apiVersion: `${group}/v1`, kind: "TeaList", metadata: { resourceVersion: "1" }, items: [tea] });
  }
  send(
    { kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", message: "no such tea", code: 404 },
    404,
  );
}

async function start(): Promise<{ readonly server: LoopbackServer; readonly bundle: string }> {
  const authority = await CertificateAuthority.create("drinks");
  const tls = await authority.issue({ commonName: "drinks", usage: "server", hosts: ["api.default.svc"] });
  const bundle = Buffer.from(authority.certificate).toString("base64");
  return { server: await LoopbackServer.start({ tls, answer }), bundle };
}

function apiService(bundle: string, port: number): string {
  return `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: { name: v1.${group} }
spec:
  group: ${group}
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  caBundle: ${bundle}
  service: { namespace: default, name: api, port: ${port} }`;
}

async function onDev(manifest: string, ...script: readonly string[]) {
  const text = [`kubectl apply -f - <<'END'\n${manifest}\nEND`, ...script].join("\n");
  return await runBinary(["dev", "-q", "--", "sh", "-ec", text], { env: { PATH: path } });
}

const use = [
  `kubectl wait --for=condition=Available apiservice/v1.${group} --timeout=300s`,
  `until kubectl api-resources --api-group=${group} 2>/dev/null | grep -q Tea; do sleep 0.1; done`,
  "kubectl get teas -o name",
  "kubectl get t green -o jsonpath='{.metadata.annotations.user}{\"\\n\"}'",
  "kubectl get teas --as=jane || true",
];

controlPlaneTest("kubectl uses an aggregated API server behind an ExternalName Service", async () => {
  const { server, bundle } = await start();
  await using _server = server;
  const service = "apiVersion: v1\nkind: Service\nmetadata: { name: api }\n" +
    "spec: { type: ExternalName, externalName: localhost }";
  const { code, stdout, stderr } = await onDev(`${service}\n---${apiService(bundle, server.port)}`, ...use);
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /tea\.drinks\.example\.com\/green\npintle-dev-admin\n$/);
  assertMatch(stderr, /User "jane" cannot list resource "teas" in API group "drinks\.example\.com"/);
});

controlPlaneTest("kubectl uses an aggregated API server that stands in for the Pods of a Deployment", async () => {
  const { server, bundle } = await start();
  await using _server = server;
  const workload = `
apiVersion: v1
kind: Service
metadata: { name: api }
spec: { selector: { app: api }, ports: [{ name: https, port: 443, targetPort: 8443 }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: api }
spec:
  replicas: 2
  selector: { matchLabels: { app: api } }
  template:
    metadata: { labels: { app: api }, annotations: { pintle.dev/serves: "8443=127.0.0.1:${server.port}" } }
    spec: { containers: [{ name: main, image: example.invalid/api }] }`;
  const { code, stdout, stderr } = await onDev(
    `${workload}\n---${apiService(bundle, 443)}`,
    ...use,
    "kubectl scale deployment api --replicas=0",
    `kubectl wait --for=jsonpath='{.status.conditions[0].reason}'=MissingEndpoints apiservice/v1.${group} --timeout=300s`,
    `kubectl get --raw /apis/${group}/v1/teas`,
  );
  assertEquals(code, 1, stdout);
  assertMatch(stdout, /tea\.drinks\.example\.com\/green\npintle-dev-admin\n/);
  assertMatch(stderr, /service unavailable|the server is currently unable to handle the request/);
});
