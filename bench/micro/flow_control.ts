/**
 * Micro-benchmark of flow control: what it adds to a request of the embedded API server.
 *
 *   bun bench/micro/flow_control.ts [requests]
 *   deno run -A bench/micro/flow_control.ts [requests]
 *
 * It prints the nanoseconds of a seat that is free, and CPU microseconds of a GET of an exempt user and of one on a limited
 * level, in turn, fastest of eleven rounds. The difference includes the search for the flow schema.
 */
import process from "node:process";
import { VirtualClock } from "../../src/async/mod.ts";
import { kubernetesApi } from "../../src/apiserver/mod.ts";
import { FairQueues } from "../../src/apiserver/access/fair_queues.ts";

const requests = Number(process.argv[2] ?? 20_000);
const rounds = 11;

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const user = { uid: "", extra: new Map<string, readonly string[]>() };
const { server } = kubernetesApi({
  tokens: new Map([
    ["exempt", { ...user, name: "admin", groups: ["system:masters", "system:authenticated"] }],
    ["limited", { ...user, name: "jane", groups: ["system:authenticated"] }],
  ]),
});

async function round(token: string): Promise<number> {
  const startedAt = cpuMs();
  for (let count = 0; count < requests; count++) {
    const response = await server.fetch(
      new Request("http://in.memory/version", { headers: { authorization: `Bearer ${token}` } }),
    );
    await response.text();
  }
  return (cpuMs() - startedAt) * 1000 / requests;
}

const level = new FairQueues(new VirtualClock());
level.configure({ seats: 245, queuing: { queues: 128, handSize: 6, queueLengthLimit: 50 } });
const signal = () => new AbortController().signal;
let seatNs = Infinity;
for (let count = 0; count < rounds; count++) {
  const startedAt = cpuMs();
  for (let taken = 0; taken < 1_000_000; taken++) {
    const seat = level.take("jane", 15_000, signal);
    if (seat !== undefined && !(seat instanceof Promise)) seat.release();
  }
  seatNs = Math.min(seatNs, cpuMs() - startedAt);
}
console.log(`a free seat: ${seatNs.toFixed(1)} ns`);

const fastest = { exempt: Infinity, limited: Infinity };
for (let count = 0; count < rounds; count++) {
  for (const token of ["exempt", "limited"] as const) fastest[token] = Math.min(fastest[token], await round(token));
}
console.log(`GET /version: exempt ${fastest.exempt.toFixed(2)} µs, limited ${fastest.limited.toFixed(2)} µs`);
server[Symbol.dispose]();
