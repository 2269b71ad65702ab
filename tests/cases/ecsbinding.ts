/** The cases of the controller ecsbinding: one for each guarantee in its description. */
import { Node } from "../../src/api/mod.ts";
import { EcsBinding } from "../../src/controllers/ecsbinding/mod.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { eventsOf, eventually, eventuallyEvent, removed } from "./waits.ts";
import type { Case, CaseEnvironment, Program, RunOptions } from "./environment.ts";

const [bound, node] = ["hopegi.com/bound", "hopegi.com/node"];

/** Returns unique names. Their objects are deleted after the case. */
function named(env: CaseEnvironment): { readonly machine: string; readonly worker: string } {
  const [machine, worker] = [`machine-${env.suffix}`, `worker-${env.suffix}`];
  env.after(() => removed(env, EcsBinding, machine));
  env.after(() => removed(env, Node, worker));
  return { machine, worker };
}

async function createNode(env: CaseEnvironment, name: string): Promise<void> {
  await env.client.create(Node, { metadata: { name }, spec: {} });
}

async function createBinding(env: CaseEnvironment, name: string, nodename?: string): Promise<EcsBinding> {
  return await env.client.create(EcsBinding, { metadata: { name }, spec: { id: "i-1", nodename } });
}

async function edit(
  env: CaseEnvironment,
  name: string,
  value: {
    readonly spec?: object | null;
    readonly metadata?: { readonly labels: Readonly<Record<string, string | null>> };
  },
): Promise<void> {
  await env.client.patch(EcsBinding, name, { kind: "merge", value });
}

/** Waits until the two labels have these values. */
async function labelled(env: CaseEnvironment, name: string, expected: string | undefined): Promise<EcsBinding> {
  return await eventually(
    env,
    EcsBinding,
    name,
    ({ metadata: { labels = {} } }) => labels[bound] === "true" && labels[node] === expected,
  );
}

function run(env: CaseEnvironment, args: readonly string[] = [], options?: RunOptions): Program {
  return env.run(["ecsbinding", ...args], options);
}

const labelling: Case = {
  name: "each EcsBinding gets the label hopegi.com/bound, and hopegi.com/node while its Node exists",
  run: async (env) => {
    const { machine, worker } = named(env);
    await createNode(env, worker);
    const made = await createBinding(env, machine, worker);
    await using _program = run(env);
    await labelled(env, machine, worker);
    await env.client.delete(Node, worker);
    await labelled(env, machine, undefined);
    await createNode(env, worker);
    await labelled(env, machine, worker);
    await edit(env, machine, { spec: { nodename: "somewhere-else" } });
    await labelled(env, machine, undefined);
    const event = await eventuallyEvent(env, made, "Labelled");
    assertEquals([event.type, event.reportingController], ["Normal", "ecsbinding-controller"]);
  },
};

const bare: Case = {
  name: "an EcsBinding with metadata only is accepted and labelled, and a spec can be added later",
  run: async (env) => {
    const { machine, worker } = named(env);
    await createNode(env, worker);
    await using _program = run(env);
    const body = JSON.stringify({ apiVersion: "hopegi.com/v1", kind: "EcsBinding", metadata: { name: machine } });
    const made = JSON.parse(await env.client.raw("/apis/hopegi.com/v1/ecsbinding", { method: "POST", body }));
    assertEquals(Object.keys(made).sort(), ["apiVersion", "kind", "metadata"]);
    assertEquals((await labelled(env, machine, undefined)).spec, undefined);
    await edit(env, machine, { spec: { nodename: worker } });
    await labelled(env, machine, worker);
    await edit(env, machine, { spec: null });
    await labelled(env, machine, undefined);
  },
};

const keeping: Case = {
  name: "changed or removed labels are restored, and other labels stay",
  run: async (env) => {
    const { machine, worker } = named(env);
    await createNode(env, worker);
    await using _program = run(env);
    await createBinding(env, machine, worker);
    await labelled(env, machine, worker);
    await edit(env, machine, { metadata: { labels: { [bound]: null, [node]: "wrong", own: "x" } } });
    const { metadata } = await labelled(env, machine, worker);
    assertEquals(metadata.labels, { [bound]: "true", [node]: worker, own: "x" });
    await edit(env, machine, { spec: { nodename: null } });
    assertEquals((await labelled(env, machine, undefined)).metadata.labels, { [bound]: "true", own: "x" });
  },
};

const logging: Case = {
  name: "adding, updating and deleting are logged with the name, updates between equal objects are dropped",
  run: async (env) => {
    const { machine } = named(env);
    await using program = run(env, ["--resync", "300ms"]);
    await createBinding(env, machine);
    await program.logged(new RegExp(`controller\\.ecsbinding +EcsBinding added +key=${machine}\n`));
    const { metadata } = await labelled(env, machine, undefined);
    await program.logged(new RegExp(`EcsBinding updated +key=${machine}\n`)); // the write of the controller itself
    const updates = () => program.stderr.match(new RegExp(`EcsBinding updated +key=${machine}`, "g"))?.length;
    const before = updates();
    const labels = { [bound]: "true" };
    const same = { metadata: { name: machine, labels } };
    const after = await env.client.apply(EcsBinding, same, { fieldManager: "other", force: true });
    assert(after.metadata.resourceVersion !== metadata.resourceVersion);
    await edit(env, machine, { metadata: { labels: { own: "x" } } });
    await env.until("see the update", () => {
      const count = updates();
      return count === before ? { kind: "pending", state: program.stderr } : { kind: "found", value: count };
    });
    assertEquals(updates(), (before ?? 0) + 1);
    await env.client.delete(EcsBinding, machine);
    await program.logged(new RegExp(`EcsBinding deleted +key=${machine}\n`));
  },
};

const delaying: Case = {
  name: "a failed write is retried after a delay, until it succeeds",
  run: async (env) => {
    const { machine } = named(env);
    const proxy = await env.startProxy();
    const isLabelling = ({ method, path }: { readonly method: string; readonly path: string }) =>
      method === "PATCH" && path.includes(`/ecsbinding/${machine}`);
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "InternalError", code: 500 };
    const failing = proxy.respond(() => Response.json(status, { status: 500 }), isLabelling);
    // With -v each retry is in the log, not only the first one.
    await using program = run(env, ["-v"], { proxy });
    await createBinding(env, machine);
    await program.logged(/reconcile failed, retrying.* retries=3 /);
    failing[Symbol.dispose]();
    await labelled(env, machine, undefined);
    assert(proxy.writes.filter(isLabelling).length >= 5);
  },
};

const tooLong: Case = {
  name: "a Node whose name is too long for a label causes a Warning Event",
  run: async (env) => {
    const { machine } = named(env);
    const worker = `${"n".repeat(60)}-${env.suffix}`;
    env.after(() => removed(env, Node, worker));
    await createNode(env, worker);
    await using _program = run(env);
    const made = await createBinding(env, machine, worker);
    assertEquals((await eventuallyEvent(env, made, "NodeNameTooLong")).type, "Warning");
    await labelled(env, machine, undefined);
  },
};

const silent: Case = {
  name: "[65] a converged EcsBinding causes no write and no Event, in this process and the next one",
  run: async (env) => {
    const { machine, worker } = named(env);
    await createNode(env, worker);
    const made = await createBinding(env, machine, worker);
    const proxy = await env.startProxy();
    await using first = run(env, ["--resync", "500ms"], { proxy });
    await labelled(env, machine, worker);
    await eventuallyEvent(env, made, "Labelled");
    await proxy.quiet(2_000);
    const writes = proxy.writes.length;
    first.signal("SIGTERM");
    assertEquals((await first.ended()).code, 0);
    await using second = run(env, ["--resync", "500ms"], { proxy });
    await second.logged(/EcsBinding added/);
    await proxy.quiet(3_000);
    assertEquals(proxy.writes.slice(writes).filter(({ path }) => !path.includes("/events")), []);
    assertEquals((await eventsOf(env, made)).length, 1);
  },
};

const columns: Case = {
  name: "kubectl accepts the short name of the kind, and shows Age, NodeName and InnerIp",
  run: async (env) => {
    const { machine } = named(env);
    const spec = { id: "i-1", name: "first", nodename: "n1", innerip: "10.0.0.1" };
    await env.client.create(EcsBinding, { metadata: { name: machine }, spec });
    const groupVersion = JSON.parse(await env.client.raw("/apis/hopegi.com/v1"));
    const [kind] = groupVersion.resources;
    const { name, singularName, namespaced, shortNames } = kind;
    assertEquals([name, singularName, namespaced, shortNames], ["ecsbinding", "ecsbinding", false, ["ecsb"]]);
    const accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
    const table = JSON.parse(await env.client.raw(`/apis/hopegi.com/v1/ecsbinding/${machine}`, { accept }));
    assertEquals(table.columnDefinitions.map((column: { readonly name: string }) => column.name), [
      "Name",
      "Age",
      "NodeName",
      "InnerIp",
    ]);
    const [{ cells }] = table.rows;
    assertMatch(cells[1], /^\d+s$/);
    assertEquals([cells[0], cells[2], cells[3]], [machine, "n1", "10.0.0.1"]);
  },
};

const pruning: Case = {
  name: "the fields are those of the original CRD: the field node_name of its Go type is pruned",
  run: async (env) => {
    const { machine } = named(env);
    const spec = { id: "i-1", nodename: "n1", node_name: "n2", inner_ip: "10.0.0.2" };
    const body = JSON.stringify({ apiVersion: "hopegi.com/v1", kind: "EcsBinding", metadata: { name: machine }, spec });
    await env.client.raw("/apis/hopegi.com/v1/ecsbinding", { method: "POST", body });
    assertEquals((await env.client.get(EcsBinding, machine)).spec, { id: "i-1", nodename: "n1" });
  },
};

export const ecsbindingCases: readonly Case[] = [
  columns,
  pruning,
  labelling,
  bare,
  keeping,
  logging,
  delaying,
  tooLong,
  silent,
];
