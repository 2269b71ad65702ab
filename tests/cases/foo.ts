/** The cases of foo: one for each line of its description. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { builtin, Deployment, Pod, type Resource } from "../../src/api/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { assert, assertEquals, assertNotEquals } from "../testing.ts";
import { eventsOf, eventually, eventuallyEvent, gone } from "./looking.ts";
import type { Case, Program, RunOptions, Site } from "./site.ts";

/** The example that the README applies. */
const example = join(import.meta.dirname ?? ".", "..", "..", "examples", "foo.yaml");

async function makeFoo(site: Site, name: string, deploymentName: string, replicas = 1): Promise<Foo> {
  const metadata = { name, namespace: site.namespace };
  return await site.client.create(Foo, { metadata, spec: { deploymentName, replicas } });
}

async function editFoo(site: Site, name: string, spec: Partial<Foo["spec"]>): Promise<void> {
  await site.client.patch(Foo, `${site.namespace}/${name}`, { kind: "merge", value: { spec } });
}

function run(site: Site, args: readonly string[] = [], options?: RunOptions): Program {
  return site.run(["foo", "-n", site.namespace, ...args], options);
}

const creating: Case = {
  name: "a Foo becomes a Deployment that it owns, in whatever namespace",
  run: async (site) => {
    await using _program = site.run(["foo"]);
    const { metadata: { name }, spec } = Foo.parse(parse(await readFile(example, "utf8")));
    const metadata = { name, namespace: site.namespace };
    const foo = await site.client.create(Foo, { metadata, spec });
    const deployment = await eventually(site, Deployment, `${site.namespace}/example-foo`);
    const owners = deployment.metadata.ownerReferences?.map(({ kind, uid, controller }) => ({ kind, uid, controller }));
    assertEquals(owners, [{ kind: "Foo", uid: foo.metadata.uid ?? "", controller: true }]);
    assertEquals(deployment.metadata.labels, { app: "nginx", controller: "example-foo" });
    assertEquals(deployment.spec.replicas, 1);
    assertEquals(deployment.spec.template.spec?.containers.map(({ image }) => image), ["nginx:latest"]);
    const event = await eventuallyEvent(site, foo, "Synced");
    assertEquals([event.type, event.note], ["Normal", "Foo synced successfully"]);
  },
};

const counting: Case = {
  name: "status.availableReplicas follows the Deployment",
  needs: "kube-controller-manager",
  run: async (site) => {
    const key = `${site.namespace}/a`;
    const isAvailable = (count: number) => ({ status }: Foo) => status?.availableReplicas === count;
    await using _program = run(site);
    await makeFoo(site, "a", "web");
    await eventually(site, Foo, key, isAvailable(0));
    await makePodsReady(site);
    await eventually(site, Foo, key, isAvailable(1));
    await site.client.deleteCollection(Pod, { namespace: site.namespace, gracePeriodSeconds: 0 });
    await eventually(site, Foo, key, isAvailable(0));
  },
};

/** Plays the kubelet: says that the Pods run. */
async function makePodsReady(site: Site): Promise<void> {
  const { client, namespace } = site;
  const pods = await site.until("see a Pod", async () => {
    const { items } = await client.listAll(Pod, { namespace });
    return items.length > 0 ? { kind: "found", value: items } : { kind: "pending", state: "there is none" };
  });
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True", lastTransitionTime }] };
  for (const { metadata } of pods) {
    const value = { status };
    await client.patch(Pod, `${namespace}/${metadata.name}`, { kind: "merge", value }, { subresource: "status" });
  }
}

const rescaling: Case = {
  name: "what kubectl scale does to the Deployment is undone",
  run: async (site) => {
    const key = `${site.namespace}/web`;
    await using _program = run(site);
    await makeFoo(site, "a", "web", 2);
    const { metadata } = await eventually(site, Deployment, key, ({ spec }) => spec.replicas === 2);
    const value = { spec: { replicas: 5 } };
    await site.client.patch(Deployment, key, { kind: "merge", value }, { subresource: "scale" });
    await eventually(
      site,
      Deployment,
      key,
      (live) => live.spec.replicas === 2 && live.metadata.resourceVersion !== metadata.resourceVersion,
    );
  },
};

const restoring: Case = {
  name: "a Deployment that somebody deletes comes back",
  run: async (site) => {
    const key = `${site.namespace}/web`;
    await using _program = run(site);
    await makeFoo(site, "a", "web", 2);
    const first = await eventually(site, Deployment, key);
    await site.client.delete(Deployment, key);
    const second = await eventually(site, Deployment, key, ({ metadata }) => metadata.uid !== first.metadata.uid);
    assertEquals(second.spec.replicas, 2);
  },
};

const changing: Case = {
  name: "a change of spec.replicas reaches the Deployment",
  run: async (site) => {
    const key = `${site.namespace}/web`;
    await using _program = run(site);
    await makeFoo(site, "a", "web", 1);
    const first = await eventually(site, Deployment, key, ({ spec }) => spec.replicas === 1);
    await editFoo(site, "a", { replicas: 3 });
    const second = await eventually(site, Deployment, key, ({ spec }) => spec.replicas === 3);
    assertEquals(second.metadata.uid, first.metadata.uid);
  },
};

const foreign: Case = {
  name: "somebody else's Deployment of that name is left alone, until it is gone",
  run: async (site) => {
    const key = `${site.namespace}/web`;
    const labels = { app: "theirs" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "someone/else:1" }] } };
    const theirs = await site.client.create(Deployment, {
      metadata: { name: "web", namespace: site.namespace },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
    await using program = run(site);
    const foo = await makeFoo(site, "a", "web", 2);
    const event = await eventuallyEvent(site, foo, "ErrResourceExists");
    assertEquals([event.type, event.note], ["Warning", 'Resource "web" already exists and is not managed by Foo']);
    await program.logged(/reconcile failed, retrying .*expected Foo/);
    const untouched = await site.client.get(Deployment, key);
    assertEquals(untouched.metadata.uid, theirs.metadata.uid);
    assertEquals([untouched.spec, untouched.metadata.ownerReferences], [theirs.spec, undefined]);
    await site.client.delete(Deployment, key);
    const own = await site.until("see a Deployment of our own", async () => {
      const live = await site.client.find(Deployment, key);
      if (live?.spec.replicas === 2) return { kind: "found", value: live };
      return { kind: "pending", state: JSON.stringify(live) };
    }, 60_000);
    assertEquals(own.metadata.ownerReferences?.[0]?.kind, "Foo");
  },
};

const collecting: Case = {
  name: "the garbage collector removes the Deployment of a deleted Foo",
  needs: "kube-controller-manager",
  run: async (site) => {
    await using _program = run(site);
    await makeFoo(site, "a", "web");
    await eventually(site, Deployment, `${site.namespace}/web`);
    await site.client.delete(Foo, `${site.namespace}/a`);
    await gone(site, Deployment, `${site.namespace}/web`, 90_000); // it looks for new kinds every 30 s
  },
};

const refusing: Case = {
  name: "an empty deploymentName is reported once and not retried",
  run: async (site) => {
    const wire = await site.wire();
    await using program = run(site, [], { wire });
    await makeFoo(site, "a", "");
    await program.logged(/not retrying.*spec\.deploymentName is empty/);
    // A Foo that comes later is served meanwhile, which gives a retry of the first one time to be seen.
    await makeFoo(site, "b", "web");
    await eventually(site, Deployment, `${site.namespace}/web`);
    await wire.quiet(2_000);
    assertEquals(program.stderr.match(/spec\.deploymentName is empty/g)?.length, 1);
    await editFoo(site, "a", { deploymentName: "web2" });
    await eventually(site, Deployment, `${site.namespace}/web2`);
  },
};

const silent: Case = {
  name: "[65] converged is silent: no write and no Event, however often everything is looked at",
  run: async (site) => {
    const wire = await site.wire();
    const args = ["--resync", "500ms", "-v"];
    await using first = run(site, args, { wire });
    const foos = [await makeFoo(site, "a", "web", 0), await makeFoo(site, "b", "api", 0)];
    for (const foo of foos) await eventuallyEvent(site, foo, "Synced");
    await wire.quiet(3_000);
    const [writes, noted, before] = [wire.writes.length, eventsNoted(first), await stateOf(site)];
    assert(writes >= 4 && noted >= 2, `only ${writes} writes and ${noted} Events were seen`);
    await wire.quiet(5_000);
    assertEquals(wire.writes.slice(writes), []);
    assertEquals(eventsNoted(first), noted);
    first.signal("SIGTERM");
    await first.ended();
    // A process that knows nothing of the first one's Events would write them anew.
    await using second = run(site, args, { wire });
    await second.logged(/starting workers/);
    await wire.quiet(4_000);
    assertEquals([wire.writes.slice(writes), eventsNoted(second)], [[], 0]);
    assertEquals(await stateOf(site), before);
  },
};

/** How many Events a program wanted to record, those included that are not written because they repeat others. */
function eventsNoted(program: Program): number {
  return program.stderr.match(/reason=Synced/g)?.length ?? 0;
}

/** What a converged controller must not change: the versions of objects, and Events. */
async function stateOf({ client, namespace }: Site): Promise<readonly string[]> {
  const kinds: readonly Resource<{ metadata: { name?: string; resourceVersion?: string } }>[] = [Foo, Deployment];
  const lists = await Promise.all(kinds.map((kind) => client.listAll(kind, { namespace })));
  const objects = lists.flatMap(({ items }) =>
    items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
  );
  const { items } = await client.listAll(builtin.Event, { namespace });
  return [...objects, ...items.map(({ metadata, series }) => `${metadata.name} ${series?.count}`)].sort();
}

const finishing: Case = {
  name: "[61] SIGTERM lets a running reconcile finish: exit code 0, nothing lost",
  run: async (site) => {
    const wire = await site.wire();
    const key = `${site.namespace}/web`;
    const hold = wire.hold(({ method, path }) => method !== "GET" && path.includes("/deployments"));
    await using program = run(site, [], { wire });
    const foo = await makeFoo(site, "a", "web");
    await hold.arrived;
    program.signal("SIGTERM");
    await program.logged(/signal: finishing what runs/);
    await makeFoo(site, "late", "late");
    assertEquals(await site.client.find(Deployment, key), undefined);
    hold.release();
    const { code, stdout, stderr } = await program.ended();
    assertEquals([code, stdout], [0, ""], stderr);
    assertEquals(stderr.match(/SIGTERM/g)?.length, 1);
    assertNotEquals(await site.client.find(Deployment, key), undefined);
    assertEquals((await site.client.get(Foo, `${site.namespace}/a`)).status?.availableReplicas, 0);
    assertEquals((await eventsOf(site, foo)).map(({ reason }) => reason), ["Synced"]);
    // What came after the signal was not taken on, and the next process does it.
    assertEquals(await site.client.find(Deployment, `${site.namespace}/late`), undefined);
    await using _next = run(site);
    await eventually(site, Deployment, `${site.namespace}/late`);
  },
};

export const fooCases: readonly Case[] = [
  creating,
  counting,
  rescaling,
  restoring,
  changing,
  foreign,
  collecting,
  refusing,
  silent,
  finishing,
];
