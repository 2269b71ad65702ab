/** Tests of worker processes, with real processes of the current runtime. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { runtimeName } from "./process.ts";
import { coreCount, startWorkerProcess } from "./worker_process.ts";

const script = fileURLToPath(new URL("../testing/uppercase_worker.ts", import.meta.url));
const command = [process.execPath, ...(runtimeName === "deno" ? ["run", "-A"] : []), script];

test("a worker answers in the order of the requests, and its other output is dropped", async () => {
  using worker = startWorkerProcess(command, process.env);
  assertEquals(await Promise.all(["one", "two", "größe"].map((line) => worker.request(line))), [
    "ONE",
    "TWO",
    "GRÖSSE",
  ]);
});

test("requests to a worker that ends, or has ended, reject", async () => {
  using worker = startWorkerProcess(command, process.env);
  for (const line of ["end", "more"]) {
    const error = await assertRejects(() => worker.request(line));
    assert(error instanceof Error && error.message.startsWith("Cannot send request to process"), String(error));
  }
});

test("a worker whose parent is gone ends in the middle of a request", async () => {
  const [path = "", ...args] = command;
  const child = spawn(path, args, { stdio: ["pipe", "ignore", "ignore"] });
  const ended = once(child, "exit");
  child.stdin.end("one\nwait\n");
  assertEquals(await ended, [0, null]);
});

test("requests to a program that does not exist reject", async () => {
  using worker = startWorkerProcess(["/no/such/program"], {});
  await assertRejects(() => worker.request("one"));
});

test("there is at least one core", () => assert(coreCount() >= 1));
