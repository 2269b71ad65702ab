/** The cases of all controllers in one process: they share a cache and do not disturb each other. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Deployment, Ingress, Node, Pod, RuntimeClass, Service } from "../../src/api/mod.ts";
import { EcsBinding } from "../../src/controllers/ecsbinding/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { NodePool } from "../../src/controllers/nodepool/mod.ts";
import { assertEquals, assertMatch } from "../testing.ts";
import { eventually, linesOf, printed, removed } from "./waits.ts";
import type { Case, CaseEnvironment, Program, RecordedRequest } from "./environment.ts";

/** The kinds that the five controllers watch, each in one cache. */
const watched = [
  "deployments",
  "ecsbinding",
  "foos",
  "ingresses",
  "nodepools",
  "nodes",
  "pods",
  "runtimeclasses",
  "services",
];

/** Creates objects for every controller. @param round Makes the names unique */
async function createWork(env: CaseEnvironment, round: string): Promise<string> {
  const { client, namespace } = env;
  const name = `${round}-${env.suffix}`;
  for (const kind of [EcsBinding, NodePool, Node]) env.after(() => removed(env, kind, name));
  const metadata = { name, namespace };
  await client.create(Foo, { metadata, spec: { deploymentName: name, replicas: 0 } });
  await client.create(Pod, { metadata, spec: { containers: [{ name: "a", image: "example.invalid/a:1" }] } });
  const annotated = { ...metadata, annotations: { "ingress/http": `${name}.example.org` } };
  await client.create(Service, { metadata: annotated, spec: { ports: [{ port: 80 }] } });
  await client.create(EcsBinding, { metadata: { name }, spec: { nodename: name } });
  const spec = { labels: { "example.dev/round": round }, taints: [], handler: "runc" };
  await client.create(NodePool, { metadata: { name }, spec });
  const labels = { [`node-role.kubernetes.io/${name}`]: "" };
  await client.create(Node, { metadata: { name, labels }, spec: {} });
  return name;
}

/** Waits until every controller has reconciled them. */
async function seeWorkDone(env: CaseEnvironment, program: Program, name: string): Promise<void> {
  const key = `${env.namespace}/${name}`;
  await eventually(env, Deployment, key);
  await printed(env, program, `Sync/Add/Update for Pod ${name}`);
  await eventually(env, Ingress, key);
  await eventually(env, EcsBinding, name, ({ metadata }) => metadata.labels?.["hopegi.com/node"] === name);
  await eventually(env, Node, name, ({ metadata }) => metadata.labels?.["example.dev/round"] !== undefined);
  await eventually(env, RuntimeClass, `node-pool-${name}`);
}

/** Deletes the pools while their controller runs, which must remove their finalizers. */
async function clear(env: CaseEnvironment, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await removed(env, NodePool, name);
    await env.until(`see NodePool ${name} deleted`, async () => {
      const live = await env.client.find(NodePool, name);
      return live === undefined
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: JSON.stringify(live) };
    });
    await removed(env, RuntimeClass, `node-pool-${name}`);
  }
}

const together: Case = {
  name: "run --all runs five controllers over one cache: each kind is watched once, and a signal ends all of them",
  run: async (env) => {
    const proxy = await env.startProxy();
    const before = await createWork(env, "before");
    await using program = env.run(["--all", "-n", env.namespace], { proxy });
    await seeWorkDone(env, program, before);
    const after = await createWork(env, "after");
    await seeWorkDone(env, program, after);
    assertEquals(watches(proxy.requests), watched.map((plural) => `${plural} once`));
    await clear(env, before, after);
    program.signal("SIGTERM");
    const { code, stdout, stderr } = await program.ended();
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /^(Sync\/Add\/Update for Pod \S+\n)+$/);
  },
};

/** Returns how often each kind was watched. */
function watches(requests: readonly RecordedRequest[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of requests) {
    const [, plural = ""] = /\/([a-z]+)\?(?:.*&)?watch=true/.exec(path) ?? [];
    if (plural !== "") counts.set(plural, (counts.get(plural) ?? 0) + 1);
  }
  return [...counts].map(([plural, count]) => `${plural} ${count === 1 ? "once" : `${count} times`}`).sort();
}

const once: Case = {
  name: "run --all --once reconciles everything and ends",
  run: async (env) => {
    const [name, file] = [await createWork(env, "once"), join(env.folder, "known")];
    await using first = env.run(["--all", "--once", "-n", env.namespace, "--known", file]);
    const { code, stderr } = await first.ended();
    assertEquals(code, 0, stderr);
    await seeWorkDone(env, first, name);
    const proxy = await env.startProxy();
    await using second = env.run(["--all", "--once", "-n", env.namespace, "--known", file], { proxy });
    assertEquals((await second.ended()).code, 0);
    assertEquals([proxy.writes, linesOf(second)], [[], [`Sync/Add/Update for Pod ${name}`]]);
    assertEquals(await readFile(file, "utf8"), `${env.namespace}/${name}\n`);
    await using pools = env.run(["nodepool"]);
    await pools.logged(/starting workers/);
    await clear(env, name);
  },
};

const handingOver: Case = {
  name: "the second process of run --all takes over when the first one is killed",
  run: async (env) => {
    const election = ["--leader-elect", "--leader-election-id", `all-${env.suffix}`];
    const where = ["--leader-election-namespace", env.namespace, "-n", env.namespace];
    const times = ["lease-duration=3s", "renew-deadline=2s", "retry-period=500ms"];
    const args = ["--all", ...election, ...where, ...times.map((time) => `--leader-election-${time}`)];
    await using first = env.run(args);
    await first.logged(/starting workers/);
    await using second = env.run(args);
    const before = await createWork(env, "before");
    await seeWorkDone(env, first, before);
    first.signal("SIGKILL");
    await first.ended();
    const after = await createWork(env, "after");
    await seeWorkDone(env, second, after);
    await clear(env, before, after);
  },
};

export const allCases: readonly Case[] = [together, once, handingOver];
