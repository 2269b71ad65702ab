/**
 * The client of scripts on real kubelets: logs, exec, attach and port-forward through the real API server, and the waits
 * around them. The Pod's program is `agnhost netexec`, an HTTP server that logs its requests.
 */
import { Pod } from "../../src/mod.ts";
import { Client } from "../../src/client.ts";
import { until } from "../controlplane/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../testing.ts";
import { nginxImage } from "./images.ts";
import { realNodeTest, uniqueName } from "./test.ts";

const signal = () => AbortSignal.timeout(300_000);

/** Reads until the text has `pattern`. */
async function readUntil(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    if (pattern.test(text)) return text;
  }
  throw new Error(`Cannot see ${pattern}: the stream ended with ${JSON.stringify(text)}`);
}

realNodeTest(
  "[115, 116] logs, exec, attach and port-forward work through a real API server and kubelet",
  async (node) => {
    const { controlPlane } = node;
    const namespace = uniqueName("client");
    await controlPlane.kubectlOutput(["create", "namespace", namespace]);
    using client = await Client.fromKubeconfig({ overrides: { kubeconfig: controlPlane.kubeconfig } });
    const key = `${namespace}/web`;
    const containers = [{ name: "web", image: nginxImage, ports: [{ containerPort: 80 }] }];
    await client.create(Pod, { metadata: { namespace, name: "web" }, spec: { containers } });
    const ready = await client.waitFor(Pod, key, "Ready", { signal: signal() });
    assertEquals(ready?.status?.phase, "Running");

    const errors: unknown[] = [];
    await using forward = await client.portForward(key, {
      port: 80,
      signal: signal(),
      onError: (error) => errors.push(error),
    });
    const ask = async (path: string) => {
      const response = await fetch(`http://${forward.hostname}:${forward.port}${path}`, {
        headers: { connection: "close" },
      });
      return await response.text();
    };
    // The container runs; its server may not listen yet.
    await until("see the server listen", async () => {
      const text = await ask("/echo?msg=one").catch(String);
      return text === "one" ? { kind: "found", value: text } : { kind: "pending", state: text };
    });
    errors.length = 0;
    assertEquals(await Promise.all([ask("/hostname"), ask("/hostname"), ask("/echo?msg=three")]), [
      "web",
      "web",
      "three",
    ]);

    const lines: string[] = [];
    for await (const line of client.logs(key, { container: "web", follow: true, signal: signal() })) {
      lines.push(line);
      if (lines.filter((one) => one.includes("GET /hostname")).length === 2) break;
    }
    assert(lines.length > 2, lines.join("\n"));

    const command = ["/program", "connect", "127.0.0.1:80"];
    using connects = await client.exec(key, { command, signal: signal() });
    assertEquals(await connects.output(), { exitCode: 0, stdout: "", stderr: "" });
    using refused = await client.exec(key, { command: ["/program", "connect", "127.0.0.1:9"], signal: signal() });
    const { exitCode, stderr } = await refused.output();
    assertEquals([exitCode, stderr.trim()], [1, "REFUSED"]);
    using missing = await client.exec(key, { command: ["/nothing"], signal: signal() });
    await assertRejects(() => missing.output(), /\/nothing/);

    using attached = await client.attach(key, { container: "web", signal: signal() });
    // Both are read: the program may log to either.
    const seen = Promise.any(
      [attached.stdout, attached.stderr].map((stream) => readUntil(stream, /GET \/echo\?msg=now/)),
    );
    assertEquals(await ask("/echo?msg=now"), "now");
    assertMatch(await seen, /GET \/echo\?msg=now/);
    attached[Symbol.dispose]();
    assertEquals(errors, []);

    await client.delete(Pod, key);
    await client.waitFor(Pod, key, "deleted", { signal: signal() });
    await assertRejects(() => client.get(Pod, key), /not found/);
    await controlPlane.kubectlOutput(["delete", "namespace", namespace, "--wait=false"]);
  },
);
