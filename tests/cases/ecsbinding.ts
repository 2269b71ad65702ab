/** The cases of the controller ecsbinding: one for each line of its description. */
import { Node } from "../../src/api/mod.ts";
import { EcsBinding } from "../../src/controllers/ecsbinding/mod.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { eventsOf, eventually, eventuallyEvent, removed } from "./looking.ts";
import type { Case, Program, RunOptions, Site } from "./site.ts";

const [bound, node] = ["hopegi.com/bound", "hopegi.com/node"];

/** Names of the case's own; what they name goes when it is over. */
function named(site: Site): { readonly machine: string; readonly worker: string } {
  const [machine, worker] = [`machine-${site.suffix}`, `worker-${site.suffix}`];
  site.after(() => removed(site, EcsBinding, machine));
  site.after(() => removed(site, Node, worker));
  return { machine, worker };
}

async function makeNode(site: Site, name: string): Promise<void> {
  await site.client.create(Node, { metadata: { name }, spec: {} });
}

async function makeBinding(site: Site, name: string, nodename?: string): Promise<EcsBinding> {
  return await site.client.create(EcsBinding, { metadata: { name }, spec: { id: "i-1", nodename } });
}

async function edit(
  site: Site,
  name: string,
  value: { readonly spec?: object; readonly metadata?: { readonly labels: Readonly<Record<string, string | null>> } },
): Promise<void> {
  await site.client.patch(EcsBinding, name, { kind: "merge", value });
}

/** Waits until the two labels are these. */
async function labelled(site: Site, name: string, wanted: string | undefined): Promise<EcsBinding> {
  return await eventually(
    site,
    EcsBinding,
    name,
    ({ metadata: { labels = {} } }) => labels[bound] === "true" && labels[node] === wanted,
  );
}

function run(site: Site, args: readonly string[] = [], options?: RunOptions): Program {
  return site.run(["ecsbinding", ...args], options);
}

const labelling: Case = {
  name: "each EcsBinding gets the label hopegi.com/bound, and hopegi.com/node while its Node is there",
  run: async (site) => {
    const { machine, worker } = named(site);
    await makeNode(site, worker);
    const made = await makeBinding(site, machine, worker);
    await using _program = run(site);
    await labelled(site, machine, worker);
    await site.client.delete(Node, worker);
    await labelled(site, machine, undefined);
    await makeNode(site, worker);
    await labelled(site, machine, worker);
    await edit(site, machine, { spec: { nodename: "somewhere-else" } });
    await labelled(site, machine, undefined);
    const event = await eventuallyEvent(site, made, "Labelled");
    assertEquals([event.type, event.reportingController], ["Normal", "ecsbinding-controller"]);
  },
};

const keeping: Case = {
  name: "the labels are kept in step: what somebody changes or takes off comes back, labels of others stay",
  run: async (site) => {
    const { machine, worker } = named(site);
    await makeNode(site, worker);
    await using _program = run(site);
    await makeBinding(site, machine, worker);
    await labelled(site, machine, worker);
    await edit(site, machine, { metadata: { labels: { [bound]: null, [node]: "wrong", own: "x" } } });
    const { metadata } = await labelled(site, machine, worker);
    assertEquals(metadata.labels, { [bound]: "true", [node]: worker, own: "x" });
    await edit(site, machine, { spec: { nodename: null } });
    assertEquals((await labelled(site, machine, undefined)).metadata.labels, { [bound]: "true", own: "x" });
  },
};

const logging: Case = {
  name: "adding, updating and deleting are logged with the name, updates between equal objects are dropped",
  run: async (site) => {
    const { machine } = named(site);
    await using program = run(site, ["--resync", "300ms"]);
    await makeBinding(site, machine);
    await program.logged(new RegExp(`controller\\.ecsbinding +EcsBinding added +key=${machine}\n`));
    const { metadata } = await labelled(site, machine, undefined);
    await program.logged(new RegExp(`EcsBinding updated +key=${machine}\n`)); // our own label
    const updates = () => program.stderr.match(new RegExp(`EcsBinding updated +key=${machine}`, "g"))?.length;
    const before = updates();
    const labels = { [bound]: "true" };
    const same = { metadata: { name: machine, labels } };
    const after = await site.client.apply(EcsBinding, same, { fieldManager: "somebody", force: true });
    assert(after.metadata.resourceVersion !== metadata.resourceVersion);
    await edit(site, machine, { metadata: { labels: { own: "x" } } });
    await site.until("see the update", () => {
      const count = updates();
      return count === before ? { kind: "pending", state: program.stderr } : { kind: "found", value: count };
    });
    assertEquals(updates(), (before ?? 0) + 1);
    await site.client.delete(EcsBinding, machine);
    await program.logged(new RegExp(`EcsBinding deleted +key=${machine}\n`));
  },
};

const delaying: Case = {
  name: "a write that fails comes back after a delay, until it succeeds",
  run: async (site) => {
    const { machine } = named(site);
    const wire = await site.wire();
    const isLabelling = ({ method, path }: { readonly method: string; readonly path: string }) =>
      method === "PATCH" && path.includes(`/ecsbinding/${machine}`);
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "InternalError", code: 500 };
    const failing = wire.answer(() => Response.json(status, { status: 500 }), isLabelling);
    await using program = run(site, [], { wire });
    await makeBinding(site, machine);
    await program.logged(/reconcile failed, retrying.* retries=3 /);
    failing[Symbol.dispose]();
    await labelled(site, machine, undefined);
    assert(wire.writes.filter(isLabelling).length >= 5);
  },
};

const tooLong: Case = {
  name: "a Node whose name no label can hold is told of",
  run: async (site) => {
    const { machine } = named(site);
    const worker = `${"n".repeat(60)}-${site.suffix}`;
    site.after(() => removed(site, Node, worker));
    await makeNode(site, worker);
    await using _program = run(site);
    const made = await makeBinding(site, machine, worker);
    assertEquals((await eventuallyEvent(site, made, "NodeNameTooLong")).type, "Warning");
    await labelled(site, machine, undefined);
  },
};

const silent: Case = {
  name: "[65] converged ecsbinding is silent: no write and no Event, in this process and the next",
  run: async (site) => {
    const { machine, worker } = named(site);
    await makeNode(site, worker);
    const made = await makeBinding(site, machine, worker);
    const wire = await site.wire();
    await using first = run(site, ["--resync", "500ms"], { wire });
    await labelled(site, machine, worker);
    await eventuallyEvent(site, made, "Labelled");
    await wire.quiet(2_000);
    const writes = wire.writes.length;
    first.signal("SIGTERM");
    assertEquals((await first.ended()).code, 0);
    await using second = run(site, ["--resync", "500ms"], { wire });
    await second.logged(/EcsBinding added/);
    await wire.quiet(3_000);
    assertEquals(wire.writes.slice(writes).filter(({ path }) => !path.includes("/events")), []);
    assertEquals((await eventsOf(site, made)).length, 1);
  },
};

const columns: Case = {
  name: "kubectl knows the kind by its short name, and shows Age, NodeName and InnerIp",
  run: async (site) => {
    const { machine } = named(site);
    const spec = { id: "i-1", name: "first", nodename: "n1", innerip: "10.0.0.1" };
    await site.client.create(EcsBinding, { metadata: { name: machine }, spec });
    const groupVersion = JSON.parse(await site.client.raw("/apis/hopegi.com/v1"));
    const [kind] = groupVersion.resources;
    const { name, singularName, namespaced, shortNames } = kind;
    assertEquals([name, singularName, namespaced, shortNames], ["ecsbinding", "ecsbinding", false, ["ecsb"]]);
    const accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
    const table = JSON.parse(await site.client.raw(`/apis/hopegi.com/v1/ecsbinding/${machine}`, { accept }));
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
  name: "the fields are those of the original's CRD: what its Go type calls node_name is pruned",
  run: async (site) => {
    const { machine } = named(site);
    const spec = { id: "i-1", nodename: "n1", node_name: "n2", inner_ip: "10.0.0.2" };
    const body = JSON.stringify({ apiVersion: "hopegi.com/v1", kind: "EcsBinding", metadata: { name: machine }, spec });
    await site.client.raw("/apis/hopegi.com/v1/ecsbinding", { method: "POST", body });
    assertEquals((await site.client.get(EcsBinding, machine)).spec, { id: "i-1", nodename: "n1" });
  },
};

export const ecsbindingCases: readonly Case[] = [
  columns,
  pruning,
  labelling,
  keeping,
  logging,
  delaying,
  tooLong,
  silent,
];
