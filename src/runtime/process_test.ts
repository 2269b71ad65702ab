/** The process itself: signals, outputs, facts. */
import process from "node:process";
import { Writable } from "node:stream";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { environment } from "./environment.ts";
import { homeDirectory } from "./home_directory.ts";
import { memoryUsage } from "./memory_usage.ts";
import { onSignal } from "./on_signal.ts";
import { openFileDescriptors } from "./open_file_descriptors.ts";
import { resolvePath } from "./paths.ts";
import { processFacts } from "./process_facts.ts";
import { spawn } from "./spawn.ts";
import { textWriter } from "./text_writer.ts";

/** A stream whose reader has gone away. */
class BrokenPipe extends Writable {
  writes = 0;

  override _write(_chunk: unknown, _encoding: unknown, done: (error: Error) => void): void {
    this.writes++;
    done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  }
}

test("[85] a reader that went away makes writes no-ops, without an error", async () => {
  const stream = new BrokenPipe();
  const writer = textWriter(stream);
  writer.write("lost");
  await writer.flush();
  assertEquals(writer.write("not even tried"), false);
  await writer.flush();
  assertEquals(stream.writes, 1);
  assertEquals([writer.isOpen, writer.failure], [false, undefined]);
});

test("what cannot be written for another reason is told, to whoever asks", async () => {
  const full = new Error("ENOSPC: no space left on device");
  const writer = textWriter(new Writable({ write: (_chunk, _encoding, done) => done(full) }));
  assertEquals([writer.isOpen, writer.failure], [true, undefined]);
  writer.write("lost");
  await writer.flush();
  assertEquals([writer.isOpen, writer.failure, writer.write("not even tried")], [false, full, false]);
});

test("text goes out in order, and flush() waits for it", async () => {
  const seen: string[] = [];
  const writer = textWriter(
    new Writable({
      write(chunk, _encoding, done) {
        queueMicrotask(() => {
          seen.push(String(chunk));
          done();
        });
      },
    }),
  );
  assertEquals([writer.write("a"), writer.write("b")], [true, true]);
  await writer.flush();
  assertEquals(seen, ["a", "b"]);
  assertEquals([writer.isTerminal, writer.columns], [false, undefined]);
});

test("onSignal() hears the signals it was told of, until it is disposed", async () => {
  // On Deno a listener alone does not keep the process waiting for a signal that is on its way.
  const alive = setInterval(() => {}, 60_000);
  using _alive = { [Symbol.dispose]: () => clearInterval(alive) };
  const seen: string[] = [];
  let heard: () => void = () => {};
  const ear = onSignal(["SIGHUP", "SIGUSR2"], (signal) => {
    seen.push(signal);
    heard();
  });
  // Keeps the signal from ending the process once the first listener is gone.
  using _guard = onSignal(["SIGUSR2"], () => heard());
  for (const signal of ["HUP", "USR2"]) {
    const once = new Promise<void>((resolve) => heard = resolve);
    await spawn(["/bin/kill", `-${signal}`, String(process.pid)]);
    await once;
  }
  assertEquals(seen, ["SIGHUP", "SIGUSR2"]);
  ear[Symbol.dispose]();
  const once = new Promise<void>((resolve) => heard = resolve);
  await spawn(["/bin/kill", "-USR2", String(process.pid)]);
  await once;
  assertEquals(seen.length, 2);
});

test("the environment is a copy without a prototype", () => {
  const copy = environment();
  assertEquals(copy.PATH, process.env.PATH);
  assertEquals(Object.getPrototypeOf(copy), null);
});

test("the home folder is $HOME, and the system's word without it", () => {
  assertEquals(homeDirectory({ HOME: "/home/jane" }), "/home/jane");
  assert(homeDirectory({}) !== "");
});

test("paths are relative to the folder they stand in", () => {
  assertEquals([resolvePath("/a/b", "c/d"), resolvePath("/a/b", "../c"), resolvePath("/a/b", "/c")], [
    "/a/b/c/d",
    "/a/c",
    "/c",
  ]);
});

test("the facts of the process are those of the system", async () => {
  const { pid, os, arch, hostname } = processFacts();
  assertEquals(pid, process.pid);
  assert(/^(linux|darwin|windows)$/.test(os) && /^(amd64|arm64)$/.test(arch) && hostname !== "");
  const { rssBytes, heapUsedBytes } = memoryUsage();
  assert(rssBytes > heapUsedBytes / 2 && heapUsedBytes > 1_000_000);
  const open = await openFileDescriptors();
  if (os === "linux") assert(open !== undefined && open >= 3);
});
