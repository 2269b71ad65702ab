/** Tests of `run --record` and `dev --record`: the file is whole however the command ends, and has no secrets. */
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../controller/mod.ts";
import { withSamples } from "../../manager/mod.ts";
import { type Entry, readRecording } from "../../observe/mod.ts";
import { RecordFolder } from "../recording/testing/record_folder.ts";
import { emptyList } from "../testing/test_kinds.ts";
import { createProcess, endOf, type RunOptions, startCommandLine } from "../testing/run_command.ts";

const token = "tok-9c41f0b2d7e84a6b";
const plain = "correct-horse-7";
/** Under a name that does not look like a secret. */
const data = { greeting: btoa("battery-staple-8") };

/** The entries of a recording whose lines are all whole. */
async function entriesOf(text: string): Promise<readonly Entry[]> {
  const lines = await Array.fromAsync(readRecording([new TextEncoder().encode(text)], { name: "a.jsonl" }));
  return lines.flatMap((line) => {
    assert(line.kind !== "truncated");
    return line.kind === "entry" ? [line.entry] : [];
  });
}

async function entriesIn({ path }: RecordFolder): Promise<readonly Entry[]> {
  return await entriesOf(await readFile(path, "utf8"));
}

/** A cluster with a ConfigMap and a Secret. */
function clusterWith(): FakeCluster {
  const cluster = new FakeCluster();
  const metadata = { namespace: "shop", name: "a" };
  cluster.put("/api/v1/namespaces/shop/configmaps/a", { apiVersion: "v1", kind: "ConfigMap", metadata });
  cluster.put("/api/v1/namespaces/shop/secrets/a", { apiVersion: "v1", kind: "Secret", metadata, data } as never);
  cluster.intercept = ({ method, url }, path) => {
    if (path === "/version") return Response.json({ gitVersion: "v1.36.3" });
    return method === "GET" && url.includes("limit=1") ? Response.json(emptyList) : undefined;
  };
  return cluster;
}

/** Writes a Service for each ConfigMap. */
const exposer = controller("exposer").for(builtin.ConfigMap).owns(builtin.Service).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const metadata = { namespace, name: name.replaceAll(".", "-") };
  await ctx.apply(manifest(builtin.Service, { metadata, spec: { clusterIP: "None" } }));
  return done;
});

const operator = (one: ControllerDefinition) => ({ name: "op", version: "1.0.0", controllers: [one] });

/** Runs `run --record` until the Service exists, then does something that ends it. */
async function ended(
  path: string,
  args: readonly string[],
  end: (process: ReturnType<typeof createProcess>, cluster: FakeCluster) => void,
) {
  const cluster = clusterWith();
  const process = createProcess(["run", "--all", "--record", path, ...args], { transport: cluster.transport });
  const ending = startCommandLine(operator(exposer), process, cluster.transport);
  while (cluster.get("/api/v1/namespaces/shop/services/a") === undefined) await process.clock.advance(5);
  // What has not left the process when its end is known is lost.
  const text = ending.then(() => readFileSync(path, "utf8"));
  end(process, cluster);
  return { code: await endOf(ending, process, 5), err: process.err, text: await text };
}

/** Runs a command to its end, in small steps: the disk takes real time, and 5 s of the clock are its limit. */
async function run(one: ControllerDefinition, args: readonly string[], options: RunOptions = {}) {
  const process = createProcess(args, options);
  const code = await endOf(startCommandLine(operator(one), process, options.transport), process, 5);
  return { code, err: process.err, out: process.out };
}

/** The kinds of the entries that led to the write of the Service. */
function chainOf(entries: readonly Entry[]): string {
  const chain: string[] = [];
  let entry = entries.find(({ kind, key }) => kind === "write" && key === "shop/a");
  while (entry !== undefined) {
    chain.push(entry.kind);
    const [cause] = entry.causes;
    entry = entries.find(({ id }) => id === cause);
  }
  return chain.join();
}

const wholeChain = "write,reconcile-start,enqueue,list";

test("[131] run --record writes what happened, and why reads it after the end", async () => {
  await using folder = await RecordFolder.make("a.jsonl");
  const args = ["run", "--all", "--once", "--record", folder.path];
  const { code, err } = await run(exposer, args, { transport: clusterWith().transport });
  assertEquals(code, 0, err);
  const entries = await entriesIn(folder);
  assertEquals(chainOf(entries), wholeChain);
  assert(entries.some((entry) => entry.kind === "change" && entry.state !== undefined), "it has whole objects");
  const why = await run(exposer, ["why", "service", "shop/a", "--file", folder.path]);
  assertEquals(why.code, 0, why.err);
  assertMatch(why.out, /reconciled in \S+ \S+: applied Service shop\/a/);
});

test("[131] the file is whole after a signal, after two, after a defect, and has the loss of the Lease", async () => {
  const electing = "--leader-elect --leader-election-lease-duration 3s --leader-election-renew-deadline 2s";
  const endings: readonly (readonly [number, string, Parameters<typeof ended>[2]])[] = [
    [0, "", (process) => void process.signal("SIGTERM")],
    [1, "", (process) => ["SIGTERM", "SIGTERM"].forEach(() => process.signal("SIGTERM"))],
    [131, "", (process) => void process.signal("SIGQUIT")],
    [70, "", (process) => process.reject(new TypeError("x is not a function"))],
    [7, `${electing} --leader-election-retry-period 500ms`, (_process, cluster) => {
      cluster.intercept = (_request, path) =>
        path.includes("/leases/") ? new Response("no", { status: 500 }) : undefined;
    }],
  ];
  for (const [expected, args, end] of endings) {
    await using folder = await RecordFolder.make("a.jsonl");
    const { code, err, text } = await ended(folder.path, args.split(" ").filter((word) => word !== ""), end);
    assertEquals(code, expected, err);
    const entries = await entriesOf(text);
    // The write is in the recording when its response has come, which a second signal does not wait for.
    if ([0, 7].includes(expected)) assertEquals(chainOf(entries), wholeChain);
    else assert(entries.some(({ kind }) => kind === "reconcile-start"), `${expected}`);
    const leases = entries.flatMap((entry) => entry.kind === "lease" ? [entry.state] : []);
    if (expected === 7) assertEquals([leases.includes("leading"), leases.includes("lost")], [true, true], `${leases}`);
  }
});

/** What the debug endpoint of a run has recorded, beside the file. */
async function shownBy(folder: RecordFolder, args: readonly string[]): Promise<readonly Entry[]> {
  const cluster = clusterWith();
  const debug = ["--debug-bind-address", "127.0.0.1:0", "--debug-token-file", join(folder.root, "token")];
  const process = createProcess(["run", "--all", "--record", folder.path, ...debug, ...args], {
    transport: cluster.transport,
  });
  const ending = startCommandLine(operator(exposer), process, cluster.transport);
  while (cluster.get("/api/v1/namespaces/shop/services/a") === undefined) await process.clock.advance(5);
  const port = /serving the debug endpoint.*port=(\d+)/.exec(process.err)?.[1];
  const token = (await readFile(join(folder.root, "token"), "utf8")).trim();
  const headers = { authorization: `Bearer ${token}`, connection: "close" };
  const response = await fetch(`http://127.0.0.1:${port}/debug/recording`, { headers });
  const { entries } = await response.json();
  process.signal("SIGTERM");
  assertEquals(await endOf(ending, process, 5), 0, process.err);
  return entries;
}

test("[131] the file and the debug endpoint show one recording, and --recording-bytes 0 keeps none in memory", async () => {
  await using folder = await RecordFolder.make("a.jsonl");
  const shown = await shownBy(folder, []);
  const written = new Map((await entriesIn(folder)).map((entry) => [entry.id, entry.kind]));
  assert(shown.length > 0);
  for (const { id, kind } of shown) assertEquals(written.get(id), kind);
  assertEquals(await shownBy(folder, ["--recording-bytes", "0"]), []);
  assert((await entriesIn(folder)).length > 0);
});

test("[131] dev --record writes what happened to the samples", async () => {
  await using folder = await RecordFolder.make("a.jsonl");
  const sample = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sample" } };
  const args = ["dev", "--all", "--samples", "--until-settled", "--record", folder.path];
  const environment = { XDG_RUNTIME_DIR: folder.root };
  const { code, err } = await run(withSamples(exposer, [sample]), args, { environment });
  assertEquals(code, 0, err);
  const entries = await entriesIn(folder);
  assert(entries.some((entry) => entry.kind === "write" && entry.object.key === "default/sample"));
  assertEquals(await readdir(folder.root), ["a.jsonl"]);
});

/** Copies a Secret, and puts credentials where users put them. */
const copier = controller("copier").for(builtin.Secret).owns(builtin.ConfigMap).uses(builtin.Secret, ["patch"])
  .reconcile(async (ctx) => {
    const { object } = ctx;
    const { namespace, name } = object.metadata;
    if (name !== "a") return done;
    await ctx.apply(manifest(builtin.Secret, { metadata: { namespace, name: "b" }, data: object.data }));
    const text = `Authorization: Bearer ${token}`;
    ctx.event("Warning", "Copied", `sent ${text}`);
    const settings = { "settings.json": JSON.stringify({ password: plain }), header: text, token };
    await ctx.apply(manifest(builtin.ConfigMap, { metadata: { namespace, name: "c" }, data: settings }));
    throw new Error(`Cannot log in with ${token} and password=${plain}`);
  });

test("[security 32] no Secret's data, no token and no masked value is in the file", async () => {
  await using folder = await RecordFolder.make("a.jsonl");
  const cluster = clusterWith();
  const args = ["run", "--all", "--once", "--record", folder.path, "--token", token];
  const { code, err } = await run(copier, args, { transport: cluster.transport });
  assertEquals(code, 1, err);
  assertEquals(cluster.writes.filter(({ path }) => /(secrets\/b|configmaps\/c)$/.test(path)).length > 1, true, err);
  const entries = await entriesIn(folder);
  const kinds = new Set(entries.map(({ kind }) => kind));
  for (const kind of ["write", "event", "reconcile-end", "change"] as const) assert(kinds.has(kind), kind);
  const text = await readFile(folder.path, "utf8");
  for (const secret of [token, plain, data.greeting, "battery-staple-8", btoa(token)]) {
    assert(!text.includes(secret), secret);
  }
  assert(text.includes("[masked]"));
});
