/**
 * Micro-benchmark of the two formats in which a client can read built-in kinds: a list of Pods from its bytes to objects,
 * in JSON as the client decodes it, and in protobuf with the decoder of the embedded API server.
 *
 *   bun bench/micro/decoding.ts [objects]
 *   deno run -A bench/micro/decoding.ts [objects]
 *
 * The third row is a lower bound for any protobuf decoder in JavaScript: it decodes the texts of the Pods, whose places it
 * knows before, and does nothing else. It prints the median CPU per Pod; the cases run in turn.
 */
import process from "node:process";
import { kubernetesApi } from "../../src/apiserver/mod.ts";
import { decodeProtobuf } from "../../src/apiserver/protobuf/mod.ts";
import { parseJson } from "../../src/client/decoder.ts";
import { podText } from "./bench_pod.ts";

const objects = Number(process.argv[2] ?? 2_000);
const rounds = 41;
const pods = "http://in.memory/api/v1/namespaces/default/pods";
const { server } = kubernetesApi({ disabledPlugins: ["ServiceAccount"] });

async function create(index: number): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await server.fetch(new Request(pods, { method: "POST", headers, body: podText(index) }));
  await response.body?.cancel();
  if (!response.ok) throw new Error(`Cannot create Pod ${index}: ${response.status}`);
}

async function listAs(accept: string): Promise<Uint8Array> {
  const response = await server.fetch(new Request(pods, { headers: { accept } }));
  return new Uint8Array(await response.arrayBuffer());
}

/** The bytes of each text that is a value in `value`. */
function textsOf(value: unknown, found: Uint8Array[] = []): readonly Uint8Array[] {
  if (typeof value === "string") found.push(new TextEncoder().encode(value));
  else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) textsOf(inner, found);
  }
  return found;
}

for (let index = 0; index < objects; index++) await create(index);
const json = await listAs("application/json");
const protobuf = await listAs("application/vnd.kubernetes.protobuf");
const texts = textsOf(JSON.parse(new TextDecoder().decode(json)));
const decoder = new TextDecoder("utf-8", { fatal: true });

interface Case {
  readonly name: string;
  readonly bytes: number;
  readonly decode: () => unknown;
  readonly microseconds: number[];
}

const cases: readonly Case[] = [
  { name: "JSON", bytes: json.length, decode: () => parseJson(new TextDecoder().decode(json)), microseconds: [] },
  { name: "protobuf", bytes: protobuf.length, decode: () => decodeProtobuf(protobuf), microseconds: [] },
  {
    name: "protobuf, its texts alone",
    bytes: texts.reduce((sum, text) => sum + text.length, 0),
    decode: () => texts.map((text) => decoder.decode(text)),
    microseconds: [],
  },
];

for (let round = 0; round < rounds; round++) {
  for (const { decode, microseconds } of cases) {
    const before = process.cpuUsage();
    decode();
    const { user, system } = process.cpuUsage(before);
    microseconds.push((user + system) / objects);
  }
}

console.log("| format | bytes per Pod | CPU per Pod | to JSON |");
console.log("| --- | --- | --- | --- |");
const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const base = median(cases[0]?.microseconds ?? []);
for (const { name, bytes, microseconds } of cases) {
  const middle = median(microseconds);
  console.log(
    `| ${name} | ${Math.round(bytes / objects)} | ${middle.toFixed(1)} µs | ${(middle / base).toFixed(2)} |`,
  );
}
