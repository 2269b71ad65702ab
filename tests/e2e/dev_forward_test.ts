/** kubectl port-forward and the proxies of simulated Pods of `controller dev`, with the compiled binary: a program of the test stands in. */
import process from "node:process";
import { assertEquals, assertMatch } from "../testing.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { freePort } from "../free_port.ts";
import { LoopbackServer } from "../loopback.ts";
import { runBinary } from "./_binary.ts";

const path = process.env["PATH"] ?? "";

/** Runs a script with kubectl beside a Pod `web`, for whose port 80 a server of this test stands in. */
async function onDev(standIn: string, ...script: readonly string[]) {
  const pod = [
    `kubectl apply -f - <<'END'
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web }, annotations: { pintle.dev/serves: "80=${standIn}" } }
spec:
  containers: [{ name: main, image: example.invalid/main, ports: [{ containerPort: 80 }] }]
END`,
    "kubectl wait --for=condition=Ready pod/web --timeout=300s",
  ];
  const text = [...pod, ...script].join("\n");
  return await runBinary(["dev", "-q", "--", "sh", "-ec", text], { env: { PATH: path } });
}

async function hello(): Promise<LoopbackServer> {
  return await LoopbackServer.start({
    answer: (request, response) => {
      response.setHeader("connection", "close");
      response.end(`${request.method} ${request.url}\n`);
    },
  });
}

/** Forwards a port, waits until kubectl listens, asks it, and ends kubectl. */
function forwarding(localPort: number, port: number, ask: string): readonly string[] {
  return [
    "log=$(mktemp)",
    `kubectl port-forward pod/web ${localPort}:${port} >"$log" 2>&1 & forward=$!`,
    `until grep -q 'Forwarding from 127' "$log"; do kill -0 "$forward"; sleep 0.1; done`,
    ask,
    `kill "$forward" || true; wait "$forward" || true; cat "$log"; rm "$log"`,
  ];
}

for (const isTunnelled of [true, false]) {
  const how = isTunnelled ? "by WebSocket" : "by SPDY";
  controlPlaneTest(`kubectl port-forward ${how} reaches the program that stands in for a Pod`, async () => {
    await using server = await hello();
    const local = await freePort();
    const { code, stdout, stderr } = await onDev(
      new URL(server.url()).host,
      `export KUBECTL_PORT_FORWARD_WEBSOCKETS=${isTunnelled}`,
      ...forwarding(local, 80, `curl -s http://127.0.0.1:${local}/one; curl -s http://127.0.0.1:${local}/two`),
    );
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /GET \/one\nGET \/two\n/);
  });
}

controlPlaneTest("kubectl port-forward to a port that nothing serves says that the connection is refused", async () => {
  const local = await freePort();
  const { stdout } = await onDev(
    "10.0.0.1:80",
    ...forwarding(local, 80, `curl -s http://127.0.0.1:${local}/ || true; wait "$forward" || true`),
  );
  assertMatch(
    stdout,
    /error forwarding port 80 to pod web_default, uid .*connection refused .*which is no port on loopback/,
  );
});

controlPlaneTest("kubectl get --raw reaches the program through the proxies of a Pod and of its Service", async () => {
  await using server = await hello();
  const proxy = "/api/v1/namespaces/default";
  const { code, stdout, stderr } = await onDev(
    new URL(server.url()).host,
    "kubectl expose pod web --port 8080 --target-port 80 --name web",
    "until kubectl get endpoints web -o jsonpath='{.subsets[0].addresses[0].ip}' 2>/dev/null | grep -q .; do sleep 0.1; done",
    `kubectl get --raw ${proxy}/pods/web/proxy/of-pod?a=b`,
    `kubectl get --raw ${proxy}/services/web:8080/proxy/of-service`,
    `kubectl create --raw ${proxy}/services/web:8080/proxy/created -f /dev/null`,
    `kubectl get --raw ${proxy}/services/none:80/proxy/ || true`,
    `kubectl get --raw ${proxy}/pods/web:81/proxy/`,
  );
  assertEquals(code, 1);
  assertMatch(stdout, /GET \/of-pod\?a=b\nGET \/of-service\nPOST \/created\n/);
  assertMatch(stderr, /NotFound.*services "none" not found/);
  assertMatch(stderr, /ServiceUnavailable.*connection refused \(the Pod is simulated/);
});
