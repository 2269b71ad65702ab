/** The cases of foo: one for each guarantee in its description. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Deployment, Pod, type Resource } from "../../src/api/mod.ts";
import type { PatchValue } from "../../src/client/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { parseYaml } from "../../src/yaml/mod.ts";
import { assert, assertEquals, assertNotEquals } from "../testing.ts";
import { eventsIn, eventsOf, eventually, eventuallyEvent, gone, removed } from "./waits.ts";
import type { Case, CaseEnvironment, Program, RunOptions } from "./environment.ts";

/** The example that the README applies. */
const example = join(import.meta.dirname ?? ".", "..", "..", "examples", "foo.yaml");

async function createFoo(env: CaseEnvironment, name: string, deploymentName: string, replicas = 1): Promise<Foo> {
  return await createFooOf(env, name, { deploymentName, replicas });
}

async function createFooOf(env: CaseEnvironment, name: string, spec: Foo["spec"]): Promise<Foo> {
  return await env.client.create(Foo, { metadata: { name, namespace: env.namespace }, spec });
}

/** Changes the spec of a Foo; null removes a field. */
async function editFoo(env: CaseEnvironment, name: string, spec: PatchValue<Foo["spec"]>): Promise<void> {
  await env.client.patch(Foo, `${env.namespace}/${name}`, { kind: "merge", value: { spec } });
}

/** Scales a Deployment as `kubectl scale` and a HorizontalPodAutoscaler do. */
async function scale(env: CaseEnvironment, key: string, replicas: number): Promise<void> {
  await env.client.patch(Deployment, key, { kind: "merge", value: { spec: { replicas } } }, { subresource: "scale" });
}

/** Sets the image of the Deployment, as `kubectl set image` does, and waits until the controller has restored it. */
async function seeImageRestored(env: CaseEnvironment, key: string): Promise<Deployment> {
  const containers = [{ name: "nginx", image: "nginx:1" }];
  const value = { spec: { template: { spec: { containers } } } };
  const { metadata: { generation = 0 } } = await env.client.patch(Deployment, key, { kind: "strategic", value });
  return await eventually(
    env,
    Deployment,
    key,
    (live) => imageOf(live) === "nginx:latest" && (live.metadata.generation ?? 0) > generation,
  );
}

function imageOf({ spec }: Deployment): string | undefined {
  return spec.template.spec?.containers[0]?.image;
}

function run(env: CaseEnvironment, args: readonly string[] = [], options?: RunOptions): Program {
  return env.run(["foo", "-n", env.namespace, ...args], options);
}

const creating: Case = {
  name: "a Foo creates a Deployment that it owns, in any namespace",
  run: async (env) => {
    await using _program = env.run(["foo"]);
    const { metadata: { name }, spec } = Foo.parse(parseYaml(await readFile(example, "utf8")).value());
    const metadata = { name, namespace: env.namespace };
    const foo = await env.client.create(Foo, { metadata, spec });
    const deployment = await eventually(env, Deployment, `${env.namespace}/example-foo`);
    const owners = deployment.metadata.ownerReferences?.map(({ kind, uid, controller }) => ({ kind, uid, controller }));
    assertEquals(owners, [{ kind: "Foo", uid: foo.metadata.uid ?? "", controller: true }]);
    assertEquals(deployment.metadata.labels, { app: "nginx", controller: "example-foo" });
    assertEquals(deployment.spec.replicas, 1);
    assertEquals(deployment.spec.template.spec?.containers.map(({ image }) => image), ["nginx:latest"]);
    const event = await eventuallyEvent(env, foo, "Synced");
    assertEquals([event.type, event.note], ["Normal", "Foo synced successfully"]);
  },
};

const counting: Case = {
  name: "status.availableReplicas follows the Deployment",
  needs: "kube-controller-manager",
  run: async (env) => {
    const key = `${env.namespace}/a`;
    const isAvailable = (count: number) => ({ status }: Foo) => status?.availableReplicas === count;
    await using _program = run(env);
    await createFoo(env, "a", "web");
    await eventually(env, Foo, key, isAvailable(0));
    await makePodsReady(env);
    await eventually(env, Foo, key, isAvailable(1));
    await env.client.deleteCollection(Pod, { namespace: env.namespace, gracePeriodSeconds: 0 });
    await eventually(env, Foo, key, isAvailable(0));
  },
};

/** Reports the Pods as ready, as the kubelet would. */
async function makePodsReady(env: CaseEnvironment): Promise<void> {
  const { client, namespace } = env;
  const pods = await env.until("see a Pod", async () => {
    const { items } = await client.listAll(Pod, { namespace });
    return items.length > 0 ? { kind: "found", value: items } : { kind: "pending", state: "there is none" };
  });
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const status: Pod["status"] = {
    phase: "Running",
    conditions: [{ type: "Ready", status: "True", lastTransitionTime }],
  };
  for (const { metadata } of pods) {
    const value = { status };
    await client.patch(Pod, `${namespace}/${metadata.name}`, { kind: "merge", value }, { subresource: "status" });
  }
}

const rescaling: Case = {
  name: "a Deployment that kubectl scale changed is restored",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    await using _program = run(env);
    await createFoo(env, "a", "web", 2);
    const { metadata } = await eventually(env, Deployment, key, ({ spec }) => spec.replicas === 2);
    await scale(env, key, 5);
    await eventually(
      env,
      Deployment,
      key,
      (live) => live.spec.replicas === 2 && live.metadata.resourceVersion !== metadata.resourceVersion,
    );
  },
};

const restoring: Case = {
  name: "a deleted Deployment is created again",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    await using _program = run(env);
    await createFoo(env, "a", "web", 2);
    const first = await eventually(env, Deployment, key);
    await env.client.delete(Deployment, key);
    const second = await eventually(env, Deployment, key, ({ metadata }) => metadata.uid !== first.metadata.uid);
    assertEquals(second.spec.replicas, 2);
  },
};

const changing: Case = {
  name: "a change of spec.replicas reaches the Deployment",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    await using _program = run(env);
    await createFoo(env, "a", "web", 1);
    const first = await eventually(env, Deployment, key, ({ spec }) => spec.replicas === 1);
    await editFoo(env, "a", { replicas: 3 });
    const second = await eventually(env, Deployment, key, ({ spec }) => spec.replicas === 3);
    assertEquals(second.metadata.uid, first.metadata.uid);
  },
};

const leaving: Case = {
  name: "a Foo without replicas leaves the replicas of its Deployment to kubectl scale and to autoscalers",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    await using _program = run(env);
    await createFooOf(env, "a", { deploymentName: "web" });
    await eventually(env, Deployment, key, ({ spec }) => spec.replicas === 1); // the API server's default
    await scale(env, key, 5);
    assertEquals((await seeImageRestored(env, key)).spec.replicas, 5);
  },
};

const releasing: Case = {
  name: "when replicas are removed from a Foo, those of its Deployment stay and can be changed by others",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    await using _program = run(env);
    await createFoo(env, "a", "web", 3);
    await eventually(env, Deployment, key, ({ spec }) => spec.replicas === 3);
    await editFoo(env, "a", { replicas: null });
    const released = await eventually(env, Deployment, key, (live) => !ownsReplicas(live));
    assertEquals(released.spec.replicas, 3);
    await scale(env, key, 4);
    assertEquals((await seeImageRestored(env, key)).spec.replicas, 4);
    await editFoo(env, "a", { replicas: 2 });
    await eventually(env, Deployment, key, (live) => live.spec.replicas === 2 && ownsReplicas(live));
  },
};

/** True when the controller owns the replicas, as kubectl shows with --show-managed-fields. */
function ownsReplicas({ metadata: { managedFields = [] } }: Deployment): boolean {
  const own = managedFields.filter(({ manager }) => manager === "foo");
  return own.some(({ fieldsV1 }) => JSON.stringify(fieldsV1?.["f:spec"]).includes('"f:replicas"'));
}

const keeping: Case = {
  name: "of the template the image and the labels are restored, and what others have added stays",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    await using _program = run(env);
    await createFoo(env, "a", "web");
    await eventually(env, Deployment, key);
    const annotations = { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" };
    const containers = [{ name: "nginx", env: [{ name: "A", value: "1" }] }, { name: "proxy", image: "envoy:1" }];
    const value = { spec: { template: { metadata: { annotations }, spec: { containers } } } };
    await env.client.patch(Deployment, key, { kind: "strategic", value });
    const { spec: { template } } = await seeImageRestored(env, key);
    assertEquals([template.metadata?.annotations, template.metadata?.labels], [annotations, {
      app: "nginx",
      controller: "a",
    }]);
    const kept = template.spec?.containers.map(({ name, image, env = [] }) => [name, image, env.length]);
    assertEquals(kept, [["nginx", "nginx:latest", 1], ["proxy", "envoy:1", 0]]);
  },
};

const logging: Case = {
  name: "a synced and a vanished Foo are logged at the default level, once per change",
  run: async (env) => {
    const [proxy, key] = [await env.startProxy(), `${env.namespace}/a`];
    await using program = run(env, ["--resync", "500ms"], { proxy });
    const synced = () => program.stderr.match(new RegExp(`INFO .*Successfully synced +key=${key}\n`, "g"))?.length;
    await createFoo(env, "a", "web", 0);
    await program.logged(/Successfully synced/);
    await proxy.quiet(3_000);
    assertEquals(synced(), 1);
    await editFoo(env, "a", { replicas: 2 });
    await eventually(env, Deployment, `${env.namespace}/web`, ({ spec }) => spec.replicas === 2);
    await proxy.quiet(3_000);
    assertEquals(synced(), 2);
    await env.client.delete(Foo, key);
    await program.logged(new RegExp(`INFO .*foo '${key}' in work queue no longer exists`));
    // The deletion of the Deployment, as by the garbage collector, is another reason to reconcile the key.
    await removed(env, Deployment, `${env.namespace}/web`);
    await proxy.quiet(3_000);
    assertEquals(program.stderr.match(/in work queue no longer exists/g)?.length, 1);
  },
};

const foreign: Case = {
  name: "a foreign Deployment of the same name is not changed, and replaced after its deletion",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    const labels = { app: "theirs" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "someone/else:1" }] } };
    const theirs = await env.client.create(Deployment, {
      metadata: { name: "web", namespace: env.namespace },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
    await using program = run(env);
    const foo = await createFoo(env, "a", "web", 2);
    const event = await eventuallyEvent(env, foo, "ErrResourceExists");
    assertEquals([event.type, event.note], ["Warning", 'Resource "web" already exists and is not managed by Foo']);
    await program.logged(/reconcile failed, retrying .*expected Foo/);
    const untouched = await env.client.get(Deployment, key);
    assertEquals(untouched.metadata.uid, theirs.metadata.uid);
    assertEquals([untouched.spec, untouched.metadata.ownerReferences], [theirs.spec, undefined]);
    await env.client.delete(Deployment, key);
    const own = await env.until("see a Deployment that the Foo owns", async () => {
      const live = await env.client.find(Deployment, key);
      if (live?.spec.replicas === 2) return { kind: "found", value: live };
      return { kind: "pending", state: JSON.stringify(live) };
    }, 60_000);
    assertEquals(own.metadata.ownerReferences?.[0]?.kind, "Foo");
  },
};

const collecting: Case = {
  name: "the garbage collector removes the Deployment of a deleted Foo",
  needs: "kube-controller-manager",
  run: async (env) => {
    await using _program = run(env);
    await createFoo(env, "a", "web");
    await eventually(env, Deployment, `${env.namespace}/web`);
    await env.client.delete(Foo, `${env.namespace}/a`);
    await gone(env, Deployment, `${env.namespace}/web`); // the garbage collector reads discovery every 30 s
  },
};

const refusing: Case = {
  name: "an empty deploymentName is reported once and not retried",
  run: async (env) => {
    const proxy = await env.startProxy();
    await using program = run(env, [], { proxy });
    await createFoo(env, "a", "");
    await program.logged(/not retrying.*spec\.deploymentName is empty/);
    // A later Foo is reconciled, so that there is time for a retry of the first one.
    await createFoo(env, "b", "web");
    await eventually(env, Deployment, `${env.namespace}/web`);
    await proxy.quiet(2_000);
    assertEquals(program.stderr.match(/spec\.deploymentName is empty/g)?.length, 1);
    await editFoo(env, "a", { deploymentName: "web2" });
    await eventually(env, Deployment, `${env.namespace}/web2`);
  },
};

const silent: Case = {
  name: "[65] a converged Foo causes no write and no Event in further reconciles",
  run: async (env) => {
    const proxy = await env.startProxy();
    const args = ["--resync", "500ms", "-v"];
    await using first = run(env, args, { proxy });
    const foos = [await createFoo(env, "a", "web", 0), await createFoo(env, "b", "api", 0)];
    for (const foo of foos) await eventuallyEvent(env, foo, "Synced");
    await proxy.quiet(3_000);
    const [writes, noted, before] = [proxy.writes.length, eventsNoted(first), await stateOf(env)];
    assert(writes >= 4 && noted >= 2, `only ${writes} writes and ${noted} Events were seen`);
    await proxy.quiet(5_000);
    assertEquals(proxy.writes.slice(writes), []);
    assertEquals(eventsNoted(first), noted);
    first.signal("SIGTERM");
    await first.ended();
    // A second process, which does not know the Events of the first one, must not write them again.
    await using second = run(env, args, { proxy });
    await second.logged(/starting workers/);
    await proxy.quiet(4_000);
    assertEquals([proxy.writes.slice(writes), eventsNoted(second)], [[], 0]);
    assertEquals(await stateOf(env), before);
  },
};

/** The number of Events that a program recorded, including repeated ones, which are not written. */
function eventsNoted(program: Program): number {
  return program.stderr.match(/reason=Synced/g)?.length ?? 0;
}

/** The versions of the objects and the counts of their Events. */
async function stateOf(env: CaseEnvironment): Promise<readonly string[]> {
  const { client, namespace } = env;
  const kinds: readonly Resource<{ metadata: { name?: string; resourceVersion?: string } }>[] = [Foo, Deployment];
  const lists = await Promise.all(kinds.map((kind) => client.listAll(kind, { namespace })));
  const objects = lists.flatMap(({ items }) =>
    items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
  );
  const events = await eventsIn(env, namespace);
  return [...objects, ...events.map(({ metadata, series }) => `${metadata.name} ${series?.count}`)].sort();
}

const finishing: Case = {
  name: "[61] SIGTERM lets a running reconcile finish, and the exit code is 0",
  run: async (env) => {
    const proxy = await env.startProxy();
    const key = `${env.namespace}/web`;
    const hold = proxy.hold(({ method, path }) => method !== "GET" && path.includes("/deployments"));
    await using program = run(env, [], { proxy });
    const foo = await createFoo(env, "a", "web");
    await hold.arrived;
    program.signal("SIGTERM");
    await program.logged(/received a signal, finishing running reconciles/);
    await createFoo(env, "late", "late");
    assertEquals(await env.client.find(Deployment, key), undefined);
    hold.release();
    const { code, stdout, stderr } = await program.ended();
    assertEquals([code, stdout], [0, ""], stderr);
    assertEquals(stderr.match(/SIGTERM/g)?.length, 1);
    assertNotEquals(await env.client.find(Deployment, key), undefined);
    assertEquals((await env.client.get(Foo, `${env.namespace}/a`)).status?.availableReplicas, 0);
    assertEquals((await eventsOf(env, foo)).map(({ reason }) => reason), ["Synced"]);
    // A change after the signal is not reconciled; the next process does it.
    assertEquals(await env.client.find(Deployment, `${env.namespace}/late`), undefined);
    await using _next = run(env);
    await eventually(env, Deployment, `${env.namespace}/late`);
  },
};

export const fooCases: readonly Case[] = [
  creating,
  counting,
  rescaling,
  restoring,
  changing,
  leaving,
  releasing,
  keeping,
  logging,
  foreign,
  collecting,
  refusing,
  silent,
  finishing,
];
