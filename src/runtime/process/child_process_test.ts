/** Tests of spawn() and runAttached() with /bin/sh, which every system has on which these tests run. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { until } from "../../../tests/until.ts";
import { runAttached, spawn } from "./child_process.ts";
import { runtimeName } from "./process.ts";
import { isProcessAlive } from "./process_identity.ts";

const sh = (script: string, ...args: string[]) => ["/bin/sh", "-c", script, "sh", ...args];

test("a program gets its arguments unchanged, without a shell", async () => {
  const args = ["a b", "$HOME", "`id`", "; rm -rf /", "'\"\\", "", "*"];
  const result = await spawn(sh('for a in "$@"; do printf "%s|" "$a"; done', ...args));
  assertEquals(result, { kind: "ended", code: 0, stdout: args.map((arg) => `${arg}|`).join(""), stderr: "" });
});

test("a program gets the given environment and inherits nothing", async () => {
  const result = await spawn(["/usr/bin/env"], { env: { ONLY: "this" } });
  assert(result.kind === "ended");
  const inherited = result.stdout.split("\n").filter((line) => /^(HOME|USER|PATH|LANG)=/.test(line));
  assertEquals(inherited, []);
  assert(result.stdout.includes("ONLY=this\n"));
});

test("standard input, both outputs and the exit code are passed on", async () => {
  const result = await spawn(sh("cat; echo oops >&2; exit 7"), { stdin: "größe" });
  assertEquals(result, { kind: "ended", code: 7, stdout: "größe", stderr: "oops\n" });
});

test("a program that takes too long is killed", async () => {
  const result = await spawn(["/bin/sleep", "1000"], { timeoutMs: 20 });
  assertEquals(result, { kind: "timedOut", stdout: "", stderr: "" });
});

test("a program that writes too much is killed", async () => {
  const result = await spawn(sh("while :; do echo 0123456789; done"), { maxOutputBytes: 10_000 });
  assert(result.kind === "tooMuchOutput");
  assert(result.stdout.length <= 10_000);
});

test("an abort kills the program and rejects with the signal's reason", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const running = spawn(["/bin/sleep", "1000"], { signal: controller.signal });
  controller.abort(reason);
  assertEquals(await assertRejects(() => running), reason);
});

test("a program that is missing, or cannot be run, is a result", async () => {
  assertEquals((await spawn(["/no/such/program"])).kind, "notFound");
  const folder = await spawn(["/tmp"]);
  assert(folder.kind === "notStarted" || folder.kind === "notFound", folder.kind);
});

test("the result of a program that a signal ended names the signal", async () => {
  const result = await spawn(sh("kill -TERM $$"));
  assertEquals(result, { kind: "killed", by: "SIGTERM", stdout: "", stderr: "" });
});

test("[61] a program that ignores SIGTERM is killed with its processes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-child-"));
  try {
    const file = join(folder, "pid");
    const stop = new AbortController(), kill = new AbortController();
    const script = 'trap \'\' TERM; /bin/sleep 1000 & echo $! > "$1.new"; mv "$1.new" "$1"; wait';
    const options = { env: { PATH: "/usr/bin:/bin" }, signal: stop.signal, kill: kill.signal, hasOwnGroup: true };
    const running = runAttached(sh(script, file), options);
    const pid = () => {
      try {
        return readFileSync(file, "utf8").trim();
      } catch {
        return "";
      }
    };
    await until(() => pid() !== "", "the start");
    stop.abort();
    kill.abort();
    assertEquals(await running, { kind: "ended", code: 137 });
    // A killed process is a zombie until its new parent has looked at it.
    const state = () => {
      try {
        return readFileSync(`/proc/${pid()}/stat`, "utf8").split(") ")[1]?.charAt(0);
      } catch {
        return undefined;
      }
    };
    await until(() => [undefined, "Z", "X"].includes(state()), "the end of its process");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a program does not outlive the process that waits for it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-spawn-"));
  try {
    const parent = fileURLToPath(new URL("../testing/leaving_parent.ts", import.meta.url));
    const runtime = [process.execPath, ...(runtimeName === "deno" ? ["run", "-A", "--no-check"] : [])];
    const result = await spawn([...runtime, parent, join(folder, "id")], { env: { PATH: "/usr/bin:/bin" } });
    assert(result.kind === "ended" && result.code === 0, JSON.stringify(result));
    const id = Number(readFileSync(join(folder, "id"), "utf8"));
    await until(() => !isProcessAlive(id), "the end of the program");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
