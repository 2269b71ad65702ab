/**
 * The peak memory of the released binary while an API server answers without an end: lists of small objects, one object,
 * watch lines, lists that go on with the same token. The largest peak of the four counts.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MeasuredProcess } from "../measured_process.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

/** What a list or a watch gets: a beginning, and what follows for ever. */
interface Endless {
  readonly name: string;
  readonly list?: readonly [start: string, part: string];
  readonly watch?: readonly [start: string, part: string];
}

const listStart = '{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":"1"},"items":[';
const small = '{"metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"1"},"spec":{"a":[1,2,3]}},';
const kinds: readonly Endless[] = [
  { name: "lists", list: [listStart, small.repeat(500)] },
  { name: "objects", list: [`${listStart}{"metadata":{"name":"`, "x".repeat(64 * 1024)] },
  { name: "watch lines", watch: ['{"type":"ADDED","object":{"metadata":{"name":"', "x".repeat(64 * 1024)] },
  { name: "tokens" },
];

/** Runs against a hostile API server. */
export const hostileServerCase: Case = {
  name: "hostile-server",
  title: () => "the released binary and an API server whose answers do not end",
  subjects: [{ name: ours, program: "controller", args: ["run", "foo"] }],
  makesOwnLoad: true,
  run: async (setting: Setting): Promise<Outcome> => ({
    samples: await interleaved(setting, (subject) => measureAll(subject, 2 * setting.scale.webhookMs)),
    facts: {},
  }),
};

async function measureAll(subject: Subject, ms: number): Promise<Sample["values"]> {
  let maxRssBytes = 0, cpuMs = 0;
  for (const kind of kinds) {
    const usage = await measure(subject, kind, ms);
    maxRssBytes = Math.max(maxRssBytes, usage.maxRssBytes);
    cpuMs += usage.cpuMs;
  }
  return { maxRssBytes, cpuMs };
}

/** The last usage that was seen: the program may end before, with an error. */
async function measure(subject: Subject, kind: Endless, ms: number) {
  const folder = mkdtempSync(join(tmpdir(), "pintle-bench-hostile-"));
  const server = createServer((request, response) => answer(kind, request.url ?? "", response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const path = join(folder, "kubeconfig");
    writeFileSync(path, kubeconfigFor(server));
    const args = [...subject.args, `--kubeconfig=${path}`];
    await using program = new MeasuredProcess({ command: commandOf(subject.program, args, subject.checkout), env: {} });
    let usage = program.usage();
    for (const endsAt = performance.now() + ms; performance.now() < endsAt; await sleep(20)) {
      const next = usageNow(program);
      if (next === undefined) break;
      usage = next;
    }
    return usage;
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  }
}

function usageNow(program: MeasuredProcess) {
  try {
    return program.usage();
  } catch {
    return undefined;
  }
}

function kubeconfigFor(server: Server): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const cluster = { name: "a", cluster: { server: `http://127.0.0.1:${port}` } };
  const context = { name: "a", context: { cluster: "a", user: "a" } };
  const users = [{ name: "a", user: {} }];
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "a" },
    ...{ clusters: [cluster], contexts: [context], users },
  });
}

function answer(kind: Endless, url: string, response: ServerResponse): void {
  response.setHeader("content-type", "application/json");
  const { pathname, searchParams } = new URL(url, "http://a");
  if (pathname.endsWith("accessreviews")) {
    return void response.writeHead(201).end('{"status":{"allowed":true}}');
  }
  if (pathname === "/version") return void response.end('{"major":"1","minor":"36","gitVersion":"v1.36.3"}');
  if (/^\/api(s\/[^/]+)?\/[^/]+$/.test(pathname)) {
    const names = ["foos", "deployments", "configmaps", "events", "secrets", "pods"];
    return void response.end(JSON.stringify({ resources: names.map((name) => ({ name, namespaced: true })) }));
  }
  // A program that reads anything else, such as a webhook configuration, would end before it lists.
  if (!/\/(foos|deployments)$/.test(pathname)) {
    return void response.writeHead(404).end('{"kind":"Status","code":404,"reason":"NotFound"}');
  }
  const isWatch = searchParams.has("watch");
  const endless = isWatch ? kind.watch : kind.list;
  if (endless !== undefined) return void pour(endless, response);
  if (isWatch) return;
  const token = kind.name === "tokens" ? ',"continue":"again"' : "";
  const items = kind.name === "tokens" ? small.repeat(500).slice(0, -1) : "";
  response.end(`{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":"1"${token}},"items":[${items}]}`);
}

function pour([start, part]: readonly [string, string], response: ServerResponse): void {
  response.on("error", () => {});
  response.write(start);
  const more = () => {
    while (!response.destroyed && response.write(part));
  };
  response.on("drain", more);
  more();
}
