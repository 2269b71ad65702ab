/**
 * Micro-benchmark of the formats of the embedded API server, in memory: a list of Pods in JSON and in protobuf, taken in turns.
 *
 *   deno run -A bench/micro/wire_formats.ts [objects]
 *
 * It prints the median milliseconds and the bytes of a list of `objects` (default 2,000): when each object was changed since
 * the last list (first), and when it was not (again). The response is read to its end, and not parsed.
 */
import process from "node:process";
import { kubernetesApi } from "../../src/apiserver/mod.ts";
import { podText } from "./bench_pod.ts";

const objects = Number(process.argv[2] ?? 2_000);
const rounds = 31;
const pods = "http://in.memory/api/v1/namespaces/default/pods";
const formats = ["application/json", "application/vnd.kubernetes.protobuf"];

const { server } = kubernetesApi({ disabledPlugins: ["ServiceAccount"] });

async function send(url: string, method: string, type: string, body?: string, accept = type): Promise<number> {
  const init = { method, headers: { accept, "content-type": type } };
  const response = await server.fetch(new Request(url, body === undefined ? init : { ...init, body }));
  const { byteLength } = await response.arrayBuffer();
  if (!response.ok) throw new Error(`Cannot ${method} ${url}: ${response.status}`);
  return byteLength;
}

/** Milliseconds of a list in each format, in turns. */
async function measure(times: readonly number[][]): Promise<readonly number[]> {
  const sizes: number[] = [];
  for (const [index, accept] of formats.entries()) {
    const startedAt = performance.now();
    sizes.push(await send(pods, "GET", "application/json", undefined, accept));
    times[index]?.push(performance.now() - startedAt);
  }
  return sizes;
}

function median(values: readonly number[]): string {
  return ([...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0).toFixed(2);
}

for (let index = 0; index < objects; index++) await send(pods, "POST", "application/json", podText(index));
const first: number[][] = formats.map(() => []);
const again: number[][] = formats.map(() => []);
let sizes: readonly number[] = [];
for (let round = 0; round < rounds; round++) {
  if (round % 5 === 0) {
    const merge = "application/merge-patch+json";
    const body = JSON.stringify({ metadata: { labels: { round: String(round) } } });
    for (let index = 0; index < objects; index++) {
      await send(`${pods}/pod-${index}`, "PATCH", merge, body, "application/json");
    }
    sizes = await measure(first);
  } else await measure(again);
}
console.log(`| list of ${objects} Pods | first ms | again ms | bytes |`);
console.log("| --- | --- | --- | --- |");
for (const [index, format] of formats.entries()) {
  console.log(`| ${format} | ${median(first[index] ?? [])} | ${median(again[index] ?? [])} | ${sizes[index]} |`);
}
