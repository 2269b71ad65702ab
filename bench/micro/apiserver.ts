/**
 * Micro-benchmark of the embedded API server, in memory: the cost of a request in a scenario test or a simulation.
 *
 *   bun bench/micro/apiserver.ts [objects]
 *   deno run -A bench/micro/apiserver.ts [objects]
 *
 * One watcher reads all events, beginning with a streaming list. Each case sends its requests one after the other, and
 * reads each response to the end, as a client does; it creates `objects` (default 50,000) of about 1 KB. It prints
 * requests per second, CPU microseconds per request, and finally the memory of the process.
 */
import process from "node:process";
import { families as testFamilies, foo } from "../../src/apiserver/testing/test_kinds.ts";
import { ApiServer, kubernetesApi } from "../../src/apiserver/mod.ts";

const objects = Number(process.argv[2] ?? 50_000);
const warmUp = 20_000;
const rounds = 11;
const configMaps = "/api/v1/namespaces/default/configmaps";
const foos = `/apis/${foo.group}/${foo.version}/namespaces/default/foos`;

/** A kind and its example object. */
interface Subject {
  readonly name: string;
  readonly server: ApiServer;
  readonly path: string;
  readonly body: (name: string) => string;
  readonly patch: (value: number) => string;
}

const subjects: readonly (() => Subject)[] = [
  () => ({
    name: "ConfigMap (built in)",
    server: kubernetesApi().server,
    path: configMaps,
    body: (name) => JSON.stringify({ metadata: metadata(name), data: { color: "blue", text: "a".repeat(150) } }),
    patch: (value) => JSON.stringify({ data: { value: String(value) } }),
  }),
  () => ({
    name: "Foo (as of a CRD)",
    server: new ApiServer({ families: testFamilies }),
    path: foos,
    body: (name) => {
      const spec = { replicas: 1, color: "blue", selector: "a".repeat(150) };
      return JSON.stringify({ apiVersion: "example.com/v1", kind: "Foo", metadata: metadata(name), spec });
    },
    patch: (value) => JSON.stringify({ spec: { replicas: value % 10 } }),
  }),
];

function metadata(name: string) {
  const shard = name.slice(-2);
  return { name, labels: { app: "bench", shard }, annotations: { "example.com/note": "x".repeat(300) } };
}

function nameOf(index: number): string {
  return `object-${String(index).padStart(7, "0")}`;
}

async function send(
  subject: Subject,
  method: string,
  suffix: string,
  body?: string,
  contentType?: string,
): Promise<void> {
  const response = await subject.server.fetch(
    new Request(`http://in.memory${subject.path}${suffix}`, {
      method,
      headers: { "user-agent": "bench/1", "content-type": contentType ?? "application/json" },
      ...(body === undefined ? {} : { body }),
    }),
  );
  const answer = await response.arrayBuffer();
  if (response.status >= 300) throw new Error(`${method} ${suffix}: ${new TextDecoder().decode(answer)}`);
}

/** Reads a watch to its end. @returns the number of its events */
async function count(subject: Subject, signal: AbortSignal): Promise<number> {
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const response = await subject.server.fetch(new Request(`http://in.memory${subject.path}?${query}`, { signal }));
  let events = 0;
  try {
    for await (const chunk of response.body ?? []) events += linesIn(chunk);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return events;
}

function linesIn(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
  return lines;
}

/** Prints requests a second over all rounds, and the CPU of the median round: the first ones include compilation. */
async function measure(name: string, times: number, run: (index: number) => Promise<void>): Promise<void> {
  const perRound = Math.ceil(times / rounds);
  const cpuUs: number[] = [];
  const startedAt = performance.now();
  for (let start = 0; start < times; start += perRound) {
    const end = Math.min(start + perRound, times);
    const cpu = process.cpuUsage();
    for (let index = start; index < end; index++) await run(index);
    const { user, system } = process.cpuUsage(cpu);
    cpuUs.push((user + system) / (end - start));
  }
  const rate = Math.round(times / (performance.now() - startedAt) * 1000).toLocaleString("en");
  const median = cpuUs.toSorted((left, right) => left - right)[cpuUs.length >> 1] ?? NaN;
  console.log(`  ${name.padEnd(8)} ${rate.padStart(9)}/s  ${median.toFixed(1).padStart(6)} us CPU`);
}

async function run(subject: Subject): Promise<void> {
  console.log(subject.name);
  const stop = new AbortController();
  const watching = count(subject, stop.signal);
  for (let index = 0; index < warmUp; index++) {
    await send(subject, "POST", "", subject.body(`warm-${nameOf(index)}`));
  }
  await measure("create", objects, (index) => send(subject, "POST", "", subject.body(nameOf(index))));
  await measure("get", 20_000, (index) => send(subject, "GET", `/${nameOf(index % objects)}`));
  await measure("patch", 20_000, (index) => {
    const patch = subject.patch(2 + Math.floor(index / objects));
    return send(subject, "PATCH", `/${nameOf(index % objects)}`, patch, "application/merge-patch+json");
  });
  await measure("list", 1, () => send(subject, "GET", ""));
  await measure("delete", Math.min(10_000, objects), (index) => send(subject, "DELETE", `/${nameOf(index)}`));
  stop.abort();
  const events = await watching;
  console.log(
    `  the watcher saw ${events.toLocaleString("en")} events; ${Math.round(process.memoryUsage().rss / 1e6)} MB`,
  );
  subject.server[Symbol.dispose]();
}

for (const subject of subjects) await run(subject());
