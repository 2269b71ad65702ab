import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { VirtualClock } from "../../async/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { withSamples } from "../../manager/mod.ts";
import { cellsOf } from "../../observe/mod.ts";
import { Convergence } from "../convergence/mod.ts";
import { createProcess, startCommandLine } from "../testing/run_command.ts";
import type { TestTerminal } from "../testing/test_process.ts";
import { liveTable, type LiveTableOptions } from "./live_table.ts";

const sample = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sample" } };
/** A controller whose reconcile of "sample" fails. */
const keeper = controller("keeper", { namespace: "default" }).for(builtin.ConfigMap).reconcile((ctx) => {
  if (ctx.object.metadata.name === "sample") throw new Error("Cannot keep it: it is odd");
  return Promise.resolve(done);
});
const operator = { name: "op", version: "1.0.0", controllers: [withSamples(keeper, [sample])] };

function options(changes: Partial<LiveTableOptions> = {}): LiveTableOptions {
  const clock = new VirtualClock();
  return {
    controllers: operator.controllers,
    manager: {
      activity: () => [{ controller: "keeper", objects: 12, queued: 3, running: 1, waiting: 2 }],
      parked: () => [],
    },
    outcomes: new Convergence(clock),
    program: "op dev",
    kubeconfig: "/run/x.yaml",
    hasSamples: false,
    clock,
    ...changes,
  };
}

function textsOf(changes: Partial<LiveTableOptions> = {}): readonly string[] {
  return liveTable(options(changes)).map((line) =>
    cellsOf(line).map((cell) => typeof cell === "string" ? cell : cell.text).join("")
  );
}

test("[102] the live table shows what each controller has to do, what to try next and how to end", () => {
  assertEquals(textsOf(), [
    "",
    "CONTROLLER   OBJECTS   QUEUED   RUNNING   FAILING   LAST ERROR",
    "keeper       12        3        1         0",
    "",
    "try in another terminal:",
    "  export KUBECONFIG=/run/x.yaml",
    "  kubectl get configmaps --all-namespaces",
    "  op dev keeper --samples",
    "end: Ctrl-C",
  ]);
});

test("[102] the live table without controllers only says what to try and how to end", () => {
  assertEquals(textsOf({ controllers: [] }), [
    "",
    "",
    "try in another terminal:",
    "  export KUBECONFIG=/run/x.yaml",
    "  kubectl get nodes",
    "end: Ctrl-C",
  ]);
});

test("[102] the live table names the last error, also after the object has recovered", async () => {
  const clock = new VirtualClock();
  const failure = { controller: "keeper", key: "default/sample", error: "it is odd", isFinal: false };
  const lastErrorOf = () => ({ key: "default/sample", error: "it is odd", at: clock.now() - 180_000 });
  const failing = liveTable(options({ clock, outcomes: { failures: [failure], lastErrorOf } }));
  const row = {
    text: "keeper       12        3        1         1         3 min ago, default/sample: it is odd",
    tone: "error",
  };
  assertEquals<unknown>(failing[2], row);
  assertEquals<unknown>(failing[6], {
    text: "  kubectl describe configmaps sample --namespace default",
    tone: "muted",
  });
  await clock.advance(60_000);
  const [, , recovered] = textsOf({ clock, outcomes: { failures: [], lastErrorOf } });
  assertEquals(recovered, "keeper       12        3        1         0         3 min ago, default/sample: it is odd");
});

test("[102] a parked key counts as failing, and many controllers are cut", () => {
  const parked = () => [{ controller: "keeper", key: "default/a", reason: "its writes are reverted" }];
  const [, , row] = textsOf({ manager: { ...options().manager, parked } });
  assertMatch(row ?? "", / 1 +default\/a: its writes are reverted$/);
  const many = Array.from({ length: 14 }, (_, index) => ({ ...keeper, name: `k${index}` }));
  const texts = textsOf({ controllers: many });
  assertStringIncludes(texts.join("\n"), "\nk11 ");
  assertStringIncludes(texts.join("\n"), "\nand 2 more\n");
});

/** Runs `dev keeper --samples` until its output contains a text, then sends SIGINT. */
async function devUntil(text: RegExp, terminal: TestTerminal, environment: Readonly<Record<string, string>> = {}) {
  const path = await mkdtemp(join(tmpdir(), "pintle-dev-"));
  const process = createProcess(["dev", "keeper", "--samples"], {
    terminal,
    environment: { XDG_RUNTIME_DIR: path, ...environment },
  });
  const ending = startCommandLine(operator, process);
  while (!text.test(process.err)) await process.clock.advance(100);
  process.signal("SIGINT");
  let code: number | undefined;
  ending.then((value) => code = value);
  while (code === undefined) await process.clock.advance(100);
  await rm(path, { recursive: true });
  return { code, err: process.err };
}

test("[102] dev on a terminal shows the live table until a signal, and removes it", async () => {
  const failing = /keeper +\d+ +\d+ +\d+ +1 +\d+ s ago, default\/sample: Cannot keep it: it is odd/;
  const { code, err } = await devUntil(failing, { isTerminal: true, columns: 120 });
  assertEquals(code, 0);
  assertStringIncludes(err, "\u001b[31mkeeper ");
  assertMatch(err, /end: Ctrl-C/);
  // The log stands above the table, which is removed at each record and at the end.
  assertMatch(err, /reconcile failed, retrying/);
  assert(err.lastIndexOf("\u001b[J") > err.lastIndexOf("end: Ctrl-C"));
});

test("[102] dev on a terminal has no colours with NO_COLOR, and no table with TERM=dumb", async () => {
  const plain = await devUntil(/end: Ctrl-C/, { isTerminal: true }, { NO_COLOR: "1" });
  // deno-lint-ignore no-control-regex
  assert(!/\u001b\[\d+m/.test(plain.err));
  const dumb = await devUntil(/reconcile failed/, { isTerminal: true }, { TERM: "dumb" });
  assert(!dumb.err.includes("end: Ctrl-C") && !dumb.err.includes("\u001b"));
});

test("[102] dev in a pipe prints lines only", async () => {
  const { code, err } = await devUntil(/reconcile failed/, {});
  assertEquals(code, 0);
  assert(!err.includes("CONTROLLER") && !err.includes("\u001b"));
  assertMatch(err, /^op: export KUBECONFIG=\S+$/m);
  assertMatch(err, /^op: samples: ConfigMap default\/sample$/m);
});
