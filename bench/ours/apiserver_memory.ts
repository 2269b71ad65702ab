/**
 * apiserver-memory: the embedded API server without a socket, as in tests and simulations: creates per second with one
 * watcher, and the CPU of an operation beside few and beside many stored objects, in turn.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { type KubernetesApi, kubernetesApi } from "../../src/apiserver/mod.ts";
import { createFooKind } from "./_foo_kind.ts";
import { inputEnded, report } from "./_stdio.ts";

const url = "http://in.memory/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos";
/** Creates before the measurement: until the runtime has compiled the code, each takes twice as long. */
const warmUp = 20_000;
/** Operations per turn of one size. */
const roundObjects = 500;
const rounds = 24;

type Server = KubernetesApi["server"];

/** Measures, reports, and waits. */
export async function apiserverMemory(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { created: { type: "string", default: "50000" }, stored: { type: "string", default: "1000,50000" } },
  });
  const creates = await measureCreates(Number(values.created));
  const stored = await measureStored(values.stored.split(",").map(Number));
  report({ kind: "inMemory", ...creates, stored });
  await inputEnded();
}

/** Creates objects one after the other and reads each response, beside a watcher that reads each event. */
async function measureCreates(objects: number) {
  using server = await startedServer();
  const stop = new AbortController();
  const events = countEvents(server, stop.signal);
  for (let index = 0; index < warmUp; index++) await create(server, `warm-${index}`);
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  for (let index = 0; index < objects; index++) await create(server, nameOf(index));
  const ms = performance.now() - startedAt;
  const cpuUsPerCreate = cpuSince(cpu) / objects;
  stop.abort();
  const seen = await events;
  // The difference: the bookmark after the initial events, and events that the watcher had not read at the end.
  if (seen < (warmUp + objects) * 0.99) throw new Error(`Cannot use the creates: the watcher saw ${seen} events`);
  return { createsPerSecond: objects / ms * 1000, cpuUsPerCreate };
}

async function measureStored(sizes: readonly number[]) {
  const servers = await Promise.all(
    sizes.map(async (objects) => ({ objects, server: await filled(objects), cpuUs: 0 })),
  );
  for (let round = -4; round < rounds; round++) {
    for (const one of servers) {
      const cpuUs = await measureRound(one.server, round);
      // The first rounds warm up.
      if (round >= 0) one.cpuUs += cpuUs;
    }
  }
  for (const { server } of servers) server[Symbol.dispose]();
  const operations = rounds * roundObjects * 4;
  return servers.map(({ objects, cpuUs }) => ({ objects, cpuUsPerOperation: cpuUs / operations }));
}

async function filled(objects: number): Promise<Server> {
  const server = await startedServer();
  for (let index = 0; index < objects; index++) await create(server, nameOf(index));
  return server;
}

/** Creates, reads, changes and deletes objects. @returns microseconds of CPU */
async function measureRound(server: Server, round: number): Promise<number> {
  const cpu = process.cpuUsage();
  for (let index = 0; index < roundObjects; index++) {
    // Distributed over the existing names.
    const name = `${nameOf((index * 7919) % 50_000)}-${round + 4}`;
    await create(server, name);
    await send(server, "GET", `/${name}`);
    await send(server, "PATCH", `/${name}`, '{"spec":{"replicas":3}}', "application/merge-patch+json");
    await send(server, "DELETE", `/${name}`);
  }
  return cpuSince(cpu);
}

async function startedServer(): Promise<Server> {
  const { server } = kubernetesApi();
  await createFooKind(server.fetch);
  return server;
}

function nameOf(index: number): string {
  return `foo-${String(index).padStart(6, "0")}`;
}

/** The same object as the Go program's load. */
async function create(server: Server, name: string): Promise<void> {
  const labels = { "app.kubernetes.io/name": "web-1", "app.kubernetes.io/part-of": "shop-1", team: "team-1" };
  const annotations = {
    "example.dev/contact": "team-1@example.dev",
    "example.dev/description": "the web front of the shop",
  };
  const foo = {
    apiVersion: "samplecontroller.k8s.io/v1alpha1",
    kind: "Foo",
    metadata: { name, labels, annotations },
    spec: { deploymentName: name, replicas: 1 },
  };
  await send(server, "POST", "", JSON.stringify(foo));
}

async function send(server: Server, method: string, suffix: string, body?: string, type = "application/json") {
  const headers = { "user-agent": "bench/1", "content-type": type };
  const request = new Request(`${url}${suffix}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const response = await server.fetch(request);
  const answer = await response.arrayBuffer();
  if (response.status >= 300) throw new Error(`Cannot ${method} ${suffix}: ${new TextDecoder().decode(answer)}`);
}

async function countEvents(server: Server, signal: AbortSignal): Promise<number> {
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const response = await server.fetch(new Request(`${url}?${query}`, { signal }));
  let events = 0;
  try {
    for await (const chunk of response.body ?? []) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) events++;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return events;
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
