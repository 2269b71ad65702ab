/** The cases of all controllers in one process: they share a cache, and none is in another's way. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Deployment, Ingress, Node, Pod, RuntimeClass, Service } from "../../src/api/mod.ts";
import { EcsBinding } from "../../src/controllers/ecsbinding/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { NodePool } from "../../src/controllers/nodepool/mod.ts";
import { assertEquals, assertMatch } from "../testing.ts";
import { eventually, linesOf, printed, removed } from "./looking.ts";
import type { Case, Program, Site, WireRequest } from "./site.ts";

/** Kinds of which one cache is enough for all five. */
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

/** Gives every controller something to do. @param round tells one time from the next */
async function makeWork(site: Site, round: string): Promise<string> {
  const { client, namespace } = site;
  const name = `${round}-${site.suffix}`;
  for (const kind of [EcsBinding, NodePool, Node]) site.after(() => removed(site, kind, name));
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

/** Waits until every controller has done it. */
async function seeWorkDone(site: Site, program: Program, name: string): Promise<void> {
  const key = `${site.namespace}/${name}`;
  await eventually(site, Deployment, key);
  await printed(site, program, `Sync/Add/Update for Pod ${name}`);
  await eventually(site, Ingress, key);
  await eventually(site, EcsBinding, name, ({ metadata }) => metadata.labels?.["hopegi.com/node"] === name);
  await eventually(site, Node, name, ({ metadata }) => metadata.labels?.["example.dev/round"] !== undefined);
  await eventually(site, RuntimeClass, `node-pool-${name}`);
}

/** The pool waits for its controller when it goes. */
async function clear(site: Site, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await removed(site, NodePool, name);
    await site.until(`see NodePool ${name} gone`, async () => {
      const live = await site.client.find(NodePool, name);
      return live === undefined
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: JSON.stringify(live) };
    });
    await removed(site, RuntimeClass, `node-pool-${name}`);
  }
}

const together: Case = {
  name: "run --all runs the five over one cache: each kind is watched once, and a signal ends them all",
  run: async (site) => {
    const wire = await site.wire();
    const before = await makeWork(site, "before");
    await using program = site.run(["--all", "-n", site.namespace], { wire });
    await seeWorkDone(site, program, before);
    const after = await makeWork(site, "after");
    await seeWorkDone(site, program, after);
    assertEquals(watches(wire.requests), watched.map((plural) => `${plural} once`));
    await clear(site, before, after);
    program.signal("SIGTERM");
    const { code, stdout, stderr } = await program.ended();
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /^(Sync\/Add\/Update for Pod \S+\n)+$/);
  },
};

/** How often each kind was watched by the end. */
function watches(requests: readonly WireRequest[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of requests) {
    const [, plural = ""] = /\/([a-z]+)\?(?:.*&)?watch=true/.exec(path) ?? [];
    if (plural !== "") counts.set(plural, (counts.get(plural) ?? 0) + 1);
  }
  return [...counts].map(([plural, count]) => `${plural} ${count === 1 ? "once" : `${count} times`}`).sort();
}

const once: Case = {
  name: "run --all --once brings everything to what it should be, and ends",
  run: async (site) => {
    const [name, file] = [await makeWork(site, "once"), join(site.folder, "known")];
    await using first = site.run(["--all", "--once", "-n", site.namespace, "--known", file]);
    const { code, stderr } = await first.ended();
    assertEquals(code, 0, stderr);
    await seeWorkDone(site, first, name);
    const wire = await site.wire();
    await using second = site.run(["--all", "--once", "-n", site.namespace, "--known", file], { wire });
    assertEquals((await second.ended()).code, 0);
    assertEquals([wire.writes, linesOf(second)], [[], [`Sync/Add/Update for Pod ${name}`]]);
    assertEquals(await readFile(file, "utf8"), `${site.namespace}/${name}\n`);
    await using pools = site.run(["nodepool"]);
    await pools.logged(/starting workers/);
    await clear(site, name);
  },
};

const handingOver: Case = {
  name: "of two processes of run --all the second goes on when the first is killed",
  run: async (site) => {
    const election = ["--leader-elect", "--leader-election-id", `all-${site.suffix}`];
    const where = ["--leader-election-namespace", site.namespace, "-n", site.namespace];
    const times = ["lease-duration=3s", "renew-deadline=2s", "retry-period=500ms"];
    const args = ["--all", ...election, ...where, ...times.map((time) => `--leader-election-${time}`)];
    await using first = site.run(args);
    await first.logged(/starting workers/);
    await using second = site.run(args);
    const before = await makeWork(site, "before");
    await seeWorkDone(site, first, before);
    first.signal("SIGKILL");
    await first.ended();
    const after = await makeWork(site, "after");
    await seeWorkDone(site, second, after);
    await clear(site, before, after);
  },
};

export const allCases: readonly Case[] = [together, once, handingOver];
