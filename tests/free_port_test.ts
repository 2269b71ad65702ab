/** Tests of the chooser of free ports. */
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import process from "node:process";
import { freePort } from "./free_port.ts";
import { assert, assertEquals, test } from "./testing.ts";

test("freePort() gives each caller another port, on which a server can listen", async () => {
  const ports = await Promise.all(Array.from({ length: 40 }, () => freePort()));
  assertEquals(new Set(ports).size, ports.length);
  for (const port of ports.slice(0, 3)) {
    const server = createServer();
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
    await new Promise((resolve) => server.close(resolve));
  }
});

test("freePort() leaves out a port that is in use, also when it has given out all others", async () => {
  const server = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const ports: number[] = [];
  for (let count = 0; count < 60; count++) ports.push(await freePort());
  await new Promise((resolve) => server.close(resolve));
  assert(!ports.includes(port), `${port} was given out twice`);
});

test("processes that choose ports at the same time get different ones", async () => {
  const path = new URL("free_port.ts", import.meta.url).href;
  const script = `import { freePort } from ${JSON.stringify(path)};
console.log([await freePort(), await freePort()].join());
for await (const _ of Deno.stdin.readable);`;
  const children = [0, 1, 2].map(() =>
    spawn(process.execPath, ["eval", script], { stdio: ["pipe", "pipe", "inherit"] })
  );
  try {
    const ports = await Promise.all(children.map(({ stdout }) =>
      new Promise<readonly number[]>((resolve, reject) => {
        stdout.once(
          "data",
          (text: Uint8Array) => resolve(new TextDecoder().decode(text).trim().split(",").map(Number)),
        );
        stdout.once("end", () => reject(new Error("Cannot read the ports: the process ended")));
      })
    ));
    const all = [...ports.flat(), await freePort()];
    assertEquals(new Set(all).size, 7, all.join());
    assert(all.every((port) => port > 20_000 && port < 30_000));
  } finally {
    for (const child of children) child.stdin.end();
  }
});
