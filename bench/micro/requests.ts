/**
 * Micro-benchmark of one write, from the object to the socket and back: the CPU of this process per request at each layer.
 * The server is another process that answers every request with the same Deployment.
 *
 *   sh tasks/bun.sh bench/micro/requests.ts [requests]
 *
 * Each layer sends `requests` (default 20,000) with ten in flight; the layers run in turns, and the last round counts. The
 * layers contain each other, so the difference between two rows is what the upper one adds.
 */
import { spawn } from "node:child_process";
import { createServer, type Socket } from "node:net";
import process from "node:process";
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { httpClient } from "../../src/runtime/mod.ts";
import { Deployment, manifest } from "../../src/mod.ts";

const inFlight = 10;
const rounds = 3;
const path = "/apis/apps/v1/namespaces/default/deployments/web";
const query = "?fieldManager=bench&force=true";

const labels = { app: "nginx", controller: "web" };
const desired = manifest(Deployment, {
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "nginx", image: "nginx:latest" }] } },
  },
});
const stored = {
  ...desired,
  metadata: {
    ...desired.metadata,
    uid: "9b1f6a3e-8c0d-4b7e-9f53-0d5ad4c6f1b2",
    resourceVersion: "1234",
    generation: 1,
    creationTimestamp: "2026-01-01T00:00:00Z",
    managedFields: [{
      ...{ manager: "bench", operation: "Apply", apiVersion: "apps/v1", time: "2026-01-01T00:00:00Z" },
      fieldsType: "FieldsV1",
      fieldsV1: {
        "f:spec": { "f:replicas": {}, "f:selector": {}, "f:template": { "f:spec": { "f:containers": {} } } },
      },
    }],
  },
  status: {},
};

/** Answers on each connection, one request after the other, as soon as its last byte has come. */
function serve(): void {
  const text = JSON.stringify(stored);
  const head =
    "HTTP/1.1 200 OK\r\naudit-id: 5d1c\r\ncache-control: no-cache, private\r\ncontent-type: application/json\r\n" +
    "x-kubernetes-pf-flowschema-uid: 4a1f\r\nx-kubernetes-pf-prioritylevel-uid: 3d2b\r\n" +
    `date: Thu, 01 Jan 2026 00:00:00 GMT\r\ncontent-length: ${text.length}\r\n\r\n`;
  const answer = (socket: Socket) => {
    let received = "";
    socket.on("error", () => {}).setEncoding("latin1").on("data", (part: string) => {
      received += part;
      const end = received.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (end < 0 || received.length < end + 4 + length) return;
      received = "";
      socket.write(head + text);
    });
  };
  const server = createServer(answer).listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(typeof address === "object" ? address?.port : "");
  });
  process.stdin.on("end", () => process.exit(0)).resume();
}

/** Sends one request, and reads its response. */
type Layer = () => Promise<unknown>;

async function layersAt(server: string): Promise<Readonly<Record<string, Layer>>> {
  const access = await loadClusterAccess({ environment: {}, overrides: { server } });
  const transport = clusterTransport(access);
  const http = httpClient({});
  const client = new Client(transport);
  const options = { fieldManager: "bench", force: true } as const;
  const body = JSON.stringify(desired);
  const request = () =>
    new Request(server + path + query, {
      ...{ method: "PATCH", body },
      headers: { accept: "application/json", "content-type": "application/apply-patch+yaml" },
    });
  const { signal } = new AbortController();
  return {
    "HTTP client": async () => await (await http.fetch(request())).text(),
    "transport": async () => await (await transport(request())).text(),
    "client": () => client.apply(Deployment, desired, options),
    "client, with a signal": () =>
      client.apply(Deployment, desired, { ...options, signal: new AbortController().signal }),
    "client, one signal for all": () => client.apply(Deployment, desired, { ...options, signal }),
  };
}

/** CPU of this process per request, in microseconds. */
async function measure(layer: Layer, requests: number): Promise<number> {
  let left = requests;
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left-- > 0) await layer();
  }));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

async function main(requests: number): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename ?? "", "serve"], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise<string>((resolve) =>
    child.stdout.once("data", (text) => resolve(String(text).trim()))
  );
  const layers = await layersAt(`http://127.0.0.1:${port}`);
  for (let round = 1; round <= rounds; round++) {
    for (const [name, layer] of Object.entries(layers)) {
      const perRequest = await measure(layer, requests);
      if (round === rounds) console.log(`${name.padEnd(28)}${perRequest.toFixed(1)} µs`);
    }
  }
  child.stdin.end();
}

if (process.argv[2] === "serve") serve();
else {
  await main(Number(process.argv[2] ?? 20_000));
  process.exit(0);
}
