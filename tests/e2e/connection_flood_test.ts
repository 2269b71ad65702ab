/**
 * The compiled binary with few open files, and more connections than it can have: `dev` and its API server under `ulimit -n`.
 *
 * The rules: it refuses what it cannot hold and does not end; as soon as the connections are gone, it serves again.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import * as tls from "node:tls";
import { until } from "../controlplane/mod.ts";
import { freePort } from "../free_port.ts";
import { assert, assertMatch, test } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

const openFiles = 128, floods = 3, connections = 500;

const found = (value: string) => ({ kind: "found", value }) as const;
const pending = (state: string) => ({ kind: "pending", state }) as const;

/** One request without a token. @returns the beginning of the response; "" when the server cannot answer */
function answer(port: number): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    const socket = tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
    socket.once(
      "secureConnect",
      () => socket.write("GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
    );
    socket.on("data", (chunk) => received += chunk.toString());
    socket.on("error", () => resolve(""));
    socket.on("close", () => resolve(received));
  });
}

/** Opens connections until each is accepted or refused, then closes all. */
async function flood(port: number): Promise<void> {
  const sockets: Socket[] = [];
  const settled = Array.from({ length: connections }, () =>
    new Promise<void>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port }, () => resolve());
      sockets.push(socket);
      socket.on("error", () => resolve());
    }));
  await Promise.all(settled);
  for (const socket of sockets) socket.destroy();
}

test("[security 13] dev serves again after more connections than it can have open files", async () => {
  const folder = mkdtempSync("/tmp/pintle-flood-");
  const kubeconfig = join(folder, "kubeconfig"), port = await freePort();
  const line = `ulimit -n ${openFiles}; exec "$0" dev --quiet --port ${port} --write-kubeconfig ${kubeconfig}`;
  const dev = spawn("/bin/sh", ["-c", line, binaryPath()], { stdio: ["ignore", "ignore", "pipe"], env: {} });
  let stderr = "", hasEnded = false;
  dev.stderr.on("data", (chunk) => stderr += chunk.toString());
  const ended = new Promise<void>((resolve) => dev.once("exit", () => resolve(void (hasEnded = true))));
  try {
    await until("see the kubeconfig", () => existsSync(kubeconfig) ? found(kubeconfig) : pending(stderr));
    for (let round = 0; round < floods; round++) {
      await flood(port);
      const response = await until("get a response again", async () => {
        const received = await answer(port);
        return received === "" ? pending(stderr) : found(received);
      });
      assertMatch(response, /^HTTP\/1\.1 401 /);
    }
    assert(!hasEnded && !/defect|\n +at /.test(stderr), stderr);
  } finally {
    dev.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
