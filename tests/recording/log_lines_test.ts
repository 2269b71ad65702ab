/**
 * Tests that log lines are readings of the recording: a line about a reconcile, a write, an Event, a Lease or a cache names
 * its entry, and says the same in the same words.
 */
import { VirtualClock } from "../../src/async/mod.ts";
import { ConfigMap, configureLogging, controller, done, manifest, Secret, TerminalError } from "../../src/mod.ts";
import type { Client } from "../../src/client/mod.ts";
import { LeaderElector } from "../../src/manager/mod.ts";
import { type Entry, errorText, Recording } from "../../src/observe/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

/** A line of the log, as JSON has it. */
type LogLine = Readonly<Record<string, unknown>> & { readonly logger: string; readonly msg: string };

/** Everything that is logged until it is disposed. */
function collectLines(clock: VirtualClock): Disposable & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const logging = configureLogging({
    level: "debug",
    format: "json",
    write: (text) => lines.push(...text.trim().split("\n").map((line) => JSON.parse(line))),
    now: () => clock.now(),
  });
  return { lines, [Symbol.dispose]: () => logging[Symbol.dispose]() };
}

/** What a line says, in the words of its entry: each value must be equal. */
function asEntry(line: LogLine, entry: Entry): readonly (readonly [inLog: unknown, inEntry: unknown])[] {
  const { logger, msg, ts } = line;
  const own: [unknown, unknown][] = entry.controller === undefined ? [] : [[logger.split(".")[1], entry.controller]];
  if (logger.startsWith("controller.") && line.key !== undefined) own.push([line.key, entry.key]);
  own.push([Date.parse(String(ts)), Math.floor(entry.at)]);
  switch (entry.kind) {
    case "reconcile-end":
      return [...own, [line.outcome, entry.outcome], [line.error, entry.error]];
    case "write":
      return [
        ...own,
        [line.resource, entry.object.resource],
        [line.object, entry.object.key],
        [msg, wordsOf(entry)],
      ];
    case "event":
      return [...own, [line.type, entry.type], [line.reason, entry.reason], [line.note, entry.note], [
        line.object,
        entry.object.key,
      ]];
    case "lease":
      return [...own, [line.lease, entry.lease], [line.state, entry.state], [line.holder, entry.holder]];
    case "cache":
      return [
        ...own,
        [logger.startsWith("cache"), true],
        [line.reason, entry.reason],
        [line.attempts, entry.attempts],
        [entry.at + Number(line.delayMs), entry.until],
      ];
    case "queue":
      return [...own, [line.reason, entry.reason], [entry.decision, "parked"]];
    case "error":
      return [...own, [line.what, entry.what], [line.error, entry.error]];
    default:
      throw new Error(`the line "${msg}" names an entry of kind ${entry.kind}`);
  }
}

/** `apply`, `patch status`, as the log says it. */
function wordsOf(entry: Entry & { readonly kind: "write" }): string {
  return entry.subresource === undefined ? entry.verb : `${entry.verb} ${entry.subresource}`;
}

test("[137] log lines about reconciles, writes, Events, parked keys and caches agree with the entry that they name", async () => {
  const clock = new VirtualClock();
  using log = collectLines(clock);
  const recording = new Recording({ now: () => clock.now() });
  let failures = 0, isForbidden = true;
  const worker = controller("worker", { maxRetries: 2 })
    .for(Secret, {
      when: ({ object }) => {
        if (object.metadata.name === "odd") throw new Error("the predicate failed");
        return true;
      },
    })
    .owns(ConfigMap)
    .reconcile(async (ctx) => {
      const { name = "", namespace } = ctx.object.metadata;
      if (name === "odd") return done;
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { text: "a" } }));
      ctx.event("Normal", "Applied", `applied ${name}`);
      if (name === "terminal") throw new TerminalError("the input is wrong");
      if (name === "flaky" && failures++ < 1) throw new Error("no luck, password=hunter2hunter2");
      if (name === "hopeless") throw new Error("no luck at all");
      return done;
    });
  await using world = await World.start({
    controllers: [worker],
    cluster: false,
    clock,
    recorder: recording,
    wrap: (transport) => (request) => {
      const isList = request.method === "GET" && new URL(request.url).pathname.endsWith("/secrets");
      if (isList && isForbidden) return Promise.resolve(new Response("no", { status: 500 }));
      return transport(request);
    },
  });
  await clock.advance(3_000);
  isForbidden = false;
  await clock.advance(120_000);
  for (const name of ["terminal", "flaky", "hopeless", "odd", "looped"]) await world.create(Secret, { name });
  await clock.advance(60_000);
  // A user who reverts the field each time makes a write loop.
  for (let round = 0; round < 20; round++) {
    await world.patch(ConfigMap, "default/looped", { kind: "merge", value: { data: { text: "b" } } });
    await clock.advance(100);
  }
  const seen = new Map<string, number>();
  for (const line of log.lines) {
    if (typeof line.entry !== "number") continue;
    const entry = recording.find(line.entry);
    assert(entry !== undefined, `no entry ${line.entry}: ${JSON.stringify(line)}`);
    for (const [inLog, inEntry] of asEntry(line, entry)) {
      assertEquals(inLog, inEntry, `${JSON.stringify(line)}\n${JSON.stringify(entry)}`);
    }
    seen.set(entry.kind, (seen.get(entry.kind) ?? 0) + 1);
  }
  assertEquals([...seen.keys()].sort(), ["cache", "error", "event", "queue", "reconcile-end", "write"]);
  // Each failure, write and Event has its line.
  const count = (isMeant: (entry: Entry) => boolean) => recording.entries().filter(isMeant).length;
  assertEquals(
    seen.get("reconcile-end"),
    count((entry) => entry.kind === "reconcile-end" && entry.error !== undefined),
  );
  assertEquals(seen.get("write"), count((entry) => entry.kind === "write"));
  assertEquals(seen.get("event"), count((entry) => entry.kind === "event" && entry.reason !== "ReconcileLoop"));
  assertEquals(seen.get("cache"), count((entry) => entry.kind === "cache" && entry.state === "waiting"));
  const outcomes = recording.entries().flatMap((entry) => entry.kind === "reconcile-end" ? [entry.outcome] : []);
  assertEquals(new Set(outcomes), new Set(["done", "terminal", "failed", "given-up"]));
  assert(!JSON.stringify(log.lines).includes("hunter2"));
});

test("[137] log lines about the Lease agree with the entry that they name", async () => {
  const clock = new VirtualClock();
  using log = collectLines(clock);
  const recorder = new Recording({ now: () => clock.now() });
  await using world = await World.start({ controllers: [], cluster: false, clock });
  let isDown = false;
  const broken = world.client.withTransport((transport) => (request) =>
    isDown ? Promise.reject(new TypeError("down")) : transport(request)
  );
  const stop = new AbortController();
  const elect = (client: Client, identity: string) => {
    const elector = new LeaderElector({
      ...{ client, namespace: "default", name: "op", identity, clock, recorder },
      whenLost: "standby",
    });
    const work = ({ signal }: { readonly signal: AbortSignal }) =>
      clock.sleep(600_000, AbortSignal.any([signal, stop.signal])).catch(() => undefined);
    return elector.run(work, stop.signal);
  };
  const terms = [elect(broken, "one"), elect(world.client, "two")];
  await clock.advance(5_000);
  isDown = true;
  await clock.advance(60_000);
  isDown = false;
  await clock.advance(60_000);
  stop.abort();
  await clock.advance(60_000);
  await Promise.allSettled(terms);
  const lines = log.lines.filter(({ entry }) => entry !== undefined);
  for (const line of lines) {
    const entry = recorder.find(Number(line.entry));
    assert(entry?.kind === "lease", JSON.stringify(line));
    for (const [inLog, inEntry] of asEntry(line, entry)) assertEquals(inLog, inEntry, JSON.stringify([line, entry]));
    assertEquals(line.error, entry.error);
  }
  const named = new Set(lines.map(({ entry }) => entry));
  const unnamed = recorder.entries().filter(({ id }) => !named.has(id));
  // A Lease that was lost, or that nobody held, is not released on the server: no line says it was.
  assert(unnamed.every((entry) => entry.kind === "lease" && entry.state === "released"), JSON.stringify(unnamed));
  assertEquals(
    new Set(lines.map(({ state }) => state)),
    new Set(["standby", "leading", "other-leader", "lost", "released"]),
  );
});

test("[137] without a recorder, log lines name no entry", async () => {
  const clock = new VirtualClock();
  using log = collectLines(clock);
  const failing = controller("failing").for(ConfigMap).reconcile(() => Promise.reject(new Error("no luck")));
  await using world = await World.start({ controllers: [failing], cluster: false, clock });
  await world.create(ConfigMap, { name: "a" });
  await clock.advance(1_000);
  const lines = log.lines.filter(({ msg }) => msg.startsWith("reconcile failed"));
  assert(lines.length > 0 && lines.every((line) => !("entry" in line) && line.outcome === "failed"));
  assertEquals(lines[0]?.error, errorText(new Error("no luck")));
});
