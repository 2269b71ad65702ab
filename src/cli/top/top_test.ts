/** Tests of `top`: what it makes of answers, what it shows, and what keys do. */
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { cellsOf, type Line } from "../../observe/mod.ts";
import { serve } from "../../runtime/mod.ts";
import { operatorCli } from "../operator_cli.ts";
import { TestProcess } from "../testing/test_process.ts";
import { type FailingKey, quantile, type Reading, Sampler } from "./sample.ts";
import { runTopScreen } from "./top_screen.ts";
import { screenLines, selected, sortColumns, type View, wholeLines, wholeView } from "./view.ts";

const at = Date.UTC(2026, 10, 23, 9, 12);
const boundsMs = [1, 2, 4, 8];

function controllerAnswer(changes: Readonly<Record<string, unknown>> = {}) {
  return {
    ...{
      controller: "foo",
      runsOn: "leader",
      isRunning: true,
      problems: [],
      workers: 4,
      busyWorkers: 1,
      reconciles: 0,
      failures: 0,
    },
    ...{ durations: [0, 0, 0, 0, 0], failing: 0, queued: 0, waiting: 0, parked: 0, lanes: [], laneCount: 0 },
    ...changes,
  };
}

/** A client that answers with one answer after the other. */
function clientOf(...answers: readonly (readonly [now: number, ...controllers: readonly object[]])[]) {
  const left = [...answers];
  const keys: FailingKey[] = [];
  return {
    keys,
    name: "127.0.0.1:8082",
    ask(path: string) {
      if (path.startsWith("/debug/keys")) return Promise.resolve({ remaining: 0, keys });
      const [now = 0, ...controllers] = left.shift() ?? [];
      return Promise.resolve({ now, durationBoundsMs: boundsMs, controllers });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

const never = new AbortController().signal;

test("quantile() finds the value in its bucket, and knows when there is none", () => {
  assertEquals(quantile(0.5, [0, 0, 0, 0, 0], boundsMs), undefined);
  assertEquals(quantile(0.5, [0, 10, 0, 0, 0], boundsMs), 1.5);
  assertEquals(quantile(0.99, [0, 0, 0, 0, 3], boundsMs), 8);
  assertEquals(quantile(1, [1, 1, 0, 0, 0], boundsMs), 2);
});

test("[130] rates are of the time between two answers, by the clock of the process", async () => {
  const sampler = new Sampler(clientOf(
    [at, controllerAnswer({ reconciles: 1_000, failures: 10, durations: [0, 0, 1_000, 0, 0] })],
    [at + 2_000, controllerAnswer({ reconciles: 1_010, failures: 11, durations: [10, 0, 1_000, 0, 0] })],
    [at + 50_000, controllerAnswer({ reconciles: 1_010, failures: 11, durations: [10, 0, 1_000, 0, 0] })],
    [at + 140_000, controllerAnswer({ reconciles: 1_010, failures: 11, durations: [10, 0, 1_000, 0, 0] })],
    [at + 141_000, controllerAnswer({ reconciles: 5, failures: 0, durations: [0, 5, 0, 0, 0] })],
  ));
  const read = async () => {
    const { controllers: [one] } = await sampler.read(never);
    return [one?.reconcilesPerSecond, one?.failuresPerSecond, one?.p50Ms];
  };
  assertEquals(await read(), [0, 0, 3], "the first reading knows all reconciles only");
  assertEquals(await read(), [5, 0.5, 0.5]);
  assertEquals(await read(), [0, 0, 0.5], "in the last minute");
  assertEquals(await read(), [0, 0, 2.99], "nothing in the last minute: all reconciles");
  assertEquals(await read(), [0, 0, 1.5], "a process that was started again");
});

test("[130] an answer of another shape is an error", async () => {
  const client = clientOf([at, { controller: "foo" }]);
  await assertRejects(() => new Sampler(client).read(never), /it has another shape/);
});

function reading(changes: Partial<Reading> = {}): Reading {
  const base = { isRunning: true, problems: [], lanes: [], laneCount: 0, workers: 2, busyWorkers: 0, failing: 0 };
  const rest = { waiting: 0, parked: 0, reconciles: 0, failures: 0, queued: 0, failuresPerSecond: 0 };
  return {
    now: at,
    address: "127.0.0.1:8082",
    windowSeconds: 2,
    controllers: [
      { ...base, ...rest, controller: "pods", runsOn: "every", reconcilesPerSecond: 0.02, isRunning: false },
      {
        ...base,
        ...rest,
        ...{
          controller: "foo",
          runsOn: "leader",
          reconcilesPerSecond: 12.3,
          failuresPerSecond: 0.5,
          p50Ms: 0.24,
          p99Ms: 1_500,
        },
        ...{ queued: 20, lagSeconds: 0.5, busyWorkers: 2, failing: 1, laneCount: 5 },
        lanes: [{ lane: "a", queued: 12 }, { lane: "b", queued: 5 }, { lane: "c", queued: 1 }],
        oldest: { key: "a/web", lane: "a", ageSeconds: 200 },
        problems: ["foos.example.dev: server unreachable"],
      },
    ],
    failingKeys: [
      {
        controller: "foo",
        key: "a/web",
        state: "waiting",
        at,
        nextAt: at + 12_000,
        lane: "a",
        retries: 6,
        reason: "no quota",
      },
      { controller: "foo", key: "a/odd", state: "stopped", at, lane: "", retries: 0, reason: "it cannot work" },
    ],
    moreFailingKeys: 0,
    ...changes,
  };
}

function texts(lines: readonly Line[]): readonly string[] {
  return lines.map((line) =>
    cellsOf(line).map((cell) => typeof cell === "string" ? cell : cell.text).join("").trimEnd()
  );
}

const view = (changes: Partial<View> = {}): View => ({ ...wholeView, ...changes });

test("[130] top shows controllers, their problems, and the failing keys with their next retry", () => {
  assertEquals(texts(wholeLines(selected(reading(), view()))), [
    "CONTROLLER   RUNS ON   RECONCILES/S   FAILURES/S   P50      P99     BUSY   FAILING   LAG      QUEUED   OLDEST        LANES",
    "foo          leader    12             0.5          0.2 ms   1.5 s   2/2    1         500 ms   20       3 min a/web   a 12, b 5, c 1, 2 more",
    "pods         every     standby        0            -        -       0/2    0         -        0        -",
    "! foo: foos.example.dev: server unreachable",
    "",
    "FAILING KEY   CONTROLLER   STATE     RETRIES   NEXT             ERROR",
    "a/web         foo          waiting   6         in 12 s          no quota",
    "a/odd         foo          stopped   -         after a change   it cannot work",
  ]);
});

test("top says how to see the controllers of a fleet when the hub has none", () => {
  const [line = ""] = texts(wholeLines(reading({ controllers: [], failingKeys: [] })));
  assertMatch(line, /^no controller; .*--member$/);
});

test("top names the kinds that are not watched now, as no problem", () => {
  const [, foo] = reading().controllers;
  assert(foo !== undefined);
  const inactive = ["routes.example.dev is not active: routes.example.dev is not installed"];
  const lines = wholeLines(reading({ controllers: [{ ...foo, problems: [], inactive }], failingKeys: [] }));
  assertEquals(lines[2], { text: `foo: ${inactive[0]}`, tone: "muted" });
});

test("[130] controllers are sorted, reversed and filtered; a controller whose key is found stays", () => {
  const names = (changes: Partial<View>) =>
    selected(reading(), view(changes)).controllers.map(({ controller }) => controller);
  assertEquals(names({}), ["foo", "pods"]);
  assertEquals(names({ isReversed: true }), ["pods", "foo"]);
  assertEquals(names({ sortBy: "queued" }), ["foo", "pods"]);
  assertEquals(names({ sortBy: "queued", isReversed: true }), ["pods", "foo"]);
  assertEquals(names({ filter: "PO" }), ["pods"]);
  assertEquals(names({ filter: "quota" }), ["foo"]);
  const found = selected(reading(), view({ filter: "quota" })).failingKeys.map(({ key }) => key);
  assertEquals([found, names({ filter: "nothing" })], [["a/web"], []]);
});

test("[130] the lines of a screen fit on it, whatever its height", () => {
  const failingKeys = Array.from({ length: 40 }, (_, index): FailingKey => ({
    ...{ controller: "foo", key: `a/k${index}`, state: "waiting", at, lane: "a", retries: 1, reason: "no" },
  }));
  for (let rows = 2; rows < 60; rows++) {
    const lines = texts(screenLines(reading({ failingKeys }), { rows, top: "top", bottom: "bottom", scrolled: 0 }));
    assertEquals([lines.length, lines[0], lines.at(-1)], [rows, "top", "bottom"]);
  }
  const lines = texts(screenLines(reading({ failingKeys }), { rows: 16, top: "top", bottom: "bottom", scrolled: 3 }));
  assertEquals(lines.filter((line) => /^a\/k/.test(line)).map((line) => line.split(" ")[0]).slice(0, 2), [
    "a/k3",
    "a/k4",
  ]);
  assertMatch(lines.at(-2) ?? "", /^and 3\d more keys$/);
});

/** `top` on a test terminal, with readings from a function. */
function onScreen(read: () => Promise<Reading>) {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const process = new TestProcess([], {}, { isTerminal: true, answers: [] });
  let [shown, draws, redrawn]: [readonly string[], number, number] = [[], 0, 0];
  const screen = {
    rows: 20,
    show(lines: readonly Line[]) {
      shown = texts(lines);
      draws++;
    },
    redraw: () => void redrawn++,
    onResize: (react: () => void) => void process.stdout.onResize?.(react),
    [Symbol.dispose]: () => {},
  };
  const options = { screen, stdin: process.stdin, clock, name: "op", intervalMs: 2_000, view: view(), read };
  const running = runTopScreen(options, stop.signal);
  return {
    clock,
    stop,
    process,
    running,
    get shown() {
      return shown.join("\n");
    },
    get draws() {
      return draws;
    },
    get redrawn() {
      return redrawn;
    },
  };
}

test("[130] keys sort, filter and scroll at once; q ends it, and nothing is left", async () => {
  const top = onScreen(() => Promise.resolve(reading()));
  await top.clock.advance(0);
  assertMatch(top.shown, /^op top {3}127\.0\.0\.1:8082 {3}09:12:00Z, every 2 s {3}2 controllers {3}2 failing keys\n/);
  assertMatch(top.shown, /q quit {3}s sort: name {3}r reverse/);
  assertEquals(top.draws, 1);
  assert(top.process.press("s", "r"));
  assertMatch(top.shown, /s sort: reconciles reversed/);
  assertMatch(top.shown, /\npods .*\nfoo /);
  top.process.press("/", "p", "o", "x", "backspace");
  assertMatch(top.shown, /filter: po_ /);
  assertMatch(top.shown, /1 controller {3}0 failing keys/);
  top.process.press("enter");
  assertMatch(top.shown, /\/ filter: po {3}Esc all/);
  top.process.press("/", "zzz", "q", "escape");
  assertMatch(top.shown, /\/ filter: po /);
  top.process.press("escape", "down", "down", "down", "up", "ctrl-l");
  assertMatch(top.shown, /2 controllers {3}2 failing keys/);
  assertEquals(top.redrawn, 1);
  const before = top.draws;
  top.process.resize({ columns: 40, rows: 10 });
  assertEquals(top.draws, before + 1);
  top.process.press("q");
  await top.running;
  assertEquals([top.process.press("x"), top.clock.pendingTimers], [false, 0]);
});

test("[130] a process that does not answer leaves the last reading, with the reason, until it answers again", async () => {
  let failure: Error | undefined;
  let reads = 0;
  const top = onScreen(() => (reads++, failure === undefined ? Promise.resolve(reading()) : Promise.reject(failure)));
  await top.clock.advance(0);
  failure = new Error("Cannot ask the process at 127.0.0.1:8082: connection refused");
  await top.clock.advance(2_000);
  assertMatch(top.shown, /^! Cannot ask the process at 127\.0\.0\.1:8082: connection refused\n/);
  assertMatch(top.shown, /\nfoo /);
  failure = undefined;
  await top.clock.advance(2_000);
  assertMatch(top.shown, /^op top /);
  assertEquals(reads, 3);
  top.stop.abort();
  await top.running;
  await assertRejects(() => onScreen(() => Promise.reject(new Error("no token"))).running, /no token/);
});

/** Runs `top` on the clock of the system, because the answers come over a socket. */
async function runTop(handler: (request: Request) => Response, ...args: readonly string[]) {
  await using server = await serve({ handler, onError: console.error });
  let [out, err] = ["", ""];
  const code = await operatorCli({ name: "op", controllers: [] }, {
    args: ["top", "--address", `127.0.0.1:${server.port}`, "--interval", "200ms", ...args],
    environment: { HOME: "/nonexistent", OP_DEBUG_TOKEN: "a-token-of-the-test" },
    stdout: { write: (text) => out += text },
    stderr: { write: (text) => err += text },
  });
  return { code, out, err };
}

test("[130] without a terminal top prints once, as text or as JSON; names of others do not control the terminal", async () => {
  let now = at;
  const name = "foo\u001b[2J";
  const handler = (request: Request) =>
    new URL(request.url).pathname === "/debug/keys"
      ? Response.json({
        remaining: 3,
        keys: [{ controller: name, key: "a/\u202e", state: "parked", at, lane: "a", retries: 0, reason: "x\ny\u0007" }],
      })
      : Response.json({
        now: now += 500,
        durationBoundsMs: boundsMs,
        controllers: [controllerAnswer({ controller: name })],
      });
  const plain = await runTop(handler);
  assertEquals([plain.code, plain.err], [0, ""]);
  assertMatch(plain.out, /^CONTROLLER .*\nfoo\\u001b\[2J +leader +0 +0 /);
  assertMatch(plain.out, /\na\/\\u202e +foo\\u001b\[2J +parked +- +now +x y\\u0007\nand 3 more keys\n$/);
  const json = await runTop(handler, "-o", "json");
  // deno-lint-ignore no-control-regex
  assert(!/[\u0000-\u0009\u000b-\u001f\u202e]/.test(json.out), json.out);
  const { windowSeconds, controllers, failingKeys, moreFailingKeys } = JSON.parse(json.out);
  assertEquals([windowSeconds, controllers[0].controller, failingKeys[0].key], [0.5, name, "a/\u202e"]);
  assertEquals(moreFailingKeys, 3);
});

test("[130] top refuses what it cannot show, and says why", async () => {
  const refused = await runTop(() => Response.json({ error: "The token is missing or wrong" }, { status: 401 }));
  assertEquals(refused.code, 4);
  assertMatch(
    refused.err,
    /Cannot ask 127\.0\.0\.1:\d+ for \/debug\/\w+: The token is missing or wrong\. Pass the token/,
  );
  const often = await runTop(() => new Response(), "--interval", "1ms");
  assertEquals(often.code, 2);
  assertMatch(often.err, /--interval.*it is not between 200ms and 1h/);
});

test("[130] whatever numbers and texts a process sends, top shows them or refuses the answer", async () => {
  const random = seededRandom(16);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T;
  const number = () => pick([0, -1, 1, 0.5, 3, 1e9, 1e15, 1e300, -1e300, Number.MAX_SAFE_INTEGER, at]);
  const text = () => pick(["", "foo", "\u001b[2J", "a\nb", "\u202e", "x".repeat(5_000), "__proto__", "🙂", "\ud800"]);
  const list = <T>(make: () => T): T[] => Array.from({ length: Math.floor(random.next() * 4) }, make);
  const maybe = <T>(make: () => T): T | undefined => random.next() < 0.5 ? make() : undefined;
  const one = () => ({
    ...{ controller: text(), isRunning: pick([true, false]), problems: list(text), durations: list(number) },
    ...{ workers: number(), busyWorkers: number(), reconciles: number(), failures: number(), failing: number() },
    ...{ queued: number(), waiting: number(), parked: number(), laneCount: number(), lagSeconds: maybe(number) },
    lanes: list(() => ({ lane: text(), queued: number() })),
    oldest: maybe(() => ({ key: text(), lane: text(), addedAt: number() })),
  });
  const key = () => ({
    ...{ controller: text(), key: text(), state: text(), at: number(), nextAt: maybe(number), lane: text() },
    ...{ retries: number(), reason: maybe(text) },
  });
  let [shown, refused] = [0, 0];
  for (let round = 0; round < 400; round++) {
    const client = {
      name: "127.0.0.1:8082",
      ask: (path: string) =>
        Promise.resolve(JSON.parse(JSON.stringify(
          path.startsWith("/debug/keys")
            ? { remaining: number(), keys: list(key) }
            : { now: number(), durationBoundsMs: list(number), controllers: list(one) },
        ))),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const sampler = new Sampler(client);
    for (let turn = 0; turn < 3; turn++) {
      const found = await sampler.read(never).catch((error: Error) => error);
      if (found instanceof Error) {
        assertMatch(found.message, /it has another shape/);
        refused++;
        continue;
      }
      const rows = pick([2, 5, 24]);
      const chosen = selected(
        found,
        view({ sortBy: pick(sortColumns), isReversed: pick([true, false]), filter: pick(["", "o"]) }),
      );
      const lines = screenLines(chosen, { rows, top: "top", bottom: "bottom", scrolled: pick([0, 1, 7]) });
      assertEquals(lines.length, rows);
      // deno-lint-ignore no-control-regex
      assert(texts([...lines, ...wholeLines(chosen)]).every((line) => !/[\u0000-\u001f\u202e]/.test(line)));
      assert(new Date(chosen.now).toISOString() !== "");
      shown++;
    }
  }
  assert(shown > 100 && refused > 20, `${shown} shown, ${refused} refused`);
});
