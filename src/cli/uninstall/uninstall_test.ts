/** `uninstall` on an embedded API server with running controllers. */
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin, type KubeObject } from "../../api/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { controller, type ControllerDefinition, done, requeueAfter } from "../../controller/mod.ts";
import { withWebhooks } from "../../manager/mod.ts";
import { CrdResource } from "../../schema/mod.ts";
import { World } from "../../simulation/mod.ts";
import { allow, validating } from "../../webhook/mod.ts";
import { Website } from "../testing/test_kinds.ts";
import { type CommandResult, createProcess, endOf, runCommandLine, startCommandLine } from "../testing/run_command.ts";

/** A controller with a finalizer, whose cleanup can be held up, and with a webhook. */
function cleaner(state: { isHeld: boolean }): ControllerDefinition {
  const definition = controller("cleaner").for(Website)
    .finalize(() => Promise.resolve(state.isHeld ? requeueAfter(1_000) : done), "example.dev/cleaner")
    .reconcile(() => Promise.resolve(done));
  return withWebhooks(definition, [validating(Website, { create: () => allow() })]);
}

/** An installation in the namespace `op-system`, with objects and a running controller. */
class Installed implements AsyncDisposable {
  readonly state: { isHeld: boolean };
  readonly world: World;
  /** The writes of commands. */
  readonly writes: string[] = [];
  readonly #operator;
  #own: Transport = fetch;

  private constructor(world: World, definition: ControllerDefinition, state: { isHeld: boolean }) {
    this.world = world;
    this.state = state;
    this.#operator = { name: "op", version: "1.2.3", controllers: [definition] };
    world.client.withTransport((next) => this.#own = next);
  }

  static async start(state = { isHeld: false }): Promise<Installed> {
    const definition = cleaner(state);
    const world = await World.start({ controllers: [definition], cluster: false });
    const installed = new Installed(world, definition, state);
    for (const name of ["a", "b"]) await world.create(Website, { name, ...{ spec: { host: "x" } } });
    await world.settled();
    const { out } = await runCommandLine(installed.#operator, ["manifests", "-o", "json"]);
    const list = JSON.parse(out) as { readonly items: readonly KubeObject[] };
    for (const object of list.items) await installed.#create(object);
    return installed;
  }

  /** Runs a command line, whose writes are noted, while the controllers go on. */
  async run(line: string): Promise<CommandResult> {
    const transport: Transport = (request) => {
      if (request.method !== "GET") this.writes.push(`${request.method} ${new URL(request.url).pathname}`);
      return this.#own(request);
    };
    const process = createProcess(line.split(" "), { transport });
    const ending = startCommandLine(this.#operator, process, transport);
    let isOver = false;
    ending.finally(() => isOver = true).catch(() => {});
    while (!isOver) {
      await process.clock.advance(200);
      await this.world.clock.advance(200);
    }
    return { code: await endOf(ending, process), out: process.out, err: process.err };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }

  async #create(object: KubeObject): Promise<void> {
    const kind = Object.values(builtin).find((one) => typeof one === "object" && one.kind === object.kind);
    if (kind === undefined || typeof kind !== "object") {
      throw new Error(`Cannot create ${object.kind}: it is not built in`);
    }
    await this.world.client.create(kind as never, object as never);
  }
}

/** The kinds of what was deleted, in the order of the first deletion of each. */
function deletedKinds({ writes }: Installed): readonly (string | undefined)[] {
  return [...new Set(writes.filter((one) => one.startsWith("DELETE")).map((one) => one.split("/").at(-2)))];
}

test("uninstall deletes objects first, then webhooks, the workload and its permissions, and the definitions last", async () => {
  await using installed = await Installed.start();
  const { world } = installed;
  const { code, out, err } = await installed.run("uninstall --yes");
  assertEquals(code, 0, err);
  const kinds = deletedKinds(installed);
  assertEquals(kinds.slice(0, 2), ["websites", "validatingwebhookconfigurations"]);
  assertEquals(kinds.at(-1), "customresourcedefinitions");
  const [workload, account] = [kinds.indexOf("deployments"), kinds.indexOf("serviceaccounts")];
  assert(1 < workload && workload < account, kinds.join());
  assertMatch(
    out,
    /^2 objects of websites\.example\.dev deleted\nvalidatingwebhookconfigurations\.\S+ "op\.op-system" deleted/,
  );
  assertEquals(await world.client.find(builtin.Deployment, "op-system/op"), undefined);
  assertEquals(await world.client.find(CrdResource, "websites.example.dev"), undefined);
  assertMatch((await installed.run("uninstall --yes")).out, /^customresource\S+websites\.example\.dev not found\n$/);
});

test("uninstall deletes nothing more when a finalizer keeps objects, and says which one", async () => {
  await using installed = await Installed.start({ isHeld: true });
  const { code, err } = await installed.run("uninstall --yes --timeout 5s");
  assertEquals(code, 1);
  assertMatch(
    err,
    /after 5s 2 objects left, 2 objects have the finalizer example\.dev\/cleaner of the controller cleaner, for example default\/a; /,
  );
  assertMatch(err, /the definitions were not deleted\. Run op run cleaner, or see its log; then run it again/);
  assertEquals(deletedKinds(installed), ["websites"]);
  installed.state.isHeld = false;
  assertEquals((await installed.run("uninstall --yes")).code, 0);
  assertEquals(deletedKinds(installed).at(-1), "customresourcedefinitions");
});

test("uninstall --dry-run shows what it would delete, and deletes nothing", async () => {
  await using installed = await Installed.start();
  const { code, out } = await installed.run("uninstall --dry-run");
  assertEquals(code, 0);
  assertMatch(out, /^DEFINITION .*\nwebsites\.example\.dev +2 +1 +0\nINSTALLATION\nvalidatingwebhookconfigurations/);
  assertMatch(out, /\ndeployments\.apps "op-system\/op"\n/);
  assertEquals(installed.writes, []);
});

test("uninstall deletes the Leases and permissions when the Pods are gone, and leaves the Leases of others", async () => {
  await using installed = await Installed.start();
  const { client } = installed.world;
  const lease = (name: string, labels = {}) =>
    client.create(builtin.Lease, { metadata: { namespace: "op-system", name, labels }, spec: { holderIdentity: "a" } });
  await lease("op");
  await lease("op-1", { "pintle.dev/shard-group": "op" });
  await lease("other-1", { "pintle.dev/shard-group": "other" });
  const { metadata, spec } = (await client.get(builtin.Deployment, "op-system/op")).spec.template;
  await client.create(builtin.Pod, {
    metadata: { namespace: "op-system", name: "op-a", labels: metadata?.labels },
    spec: spec ?? { containers: [] },
  });
  const config = { namespace: "op-system", name: "op-config", labels: metadata?.labels };
  await client.create(builtin.ConfigMap, { metadata: config });

  const late = await installed.run("uninstall --yes --existing-namespace --timeout 5s");
  assertEquals(late.code, 1);
  assertMatch(late.err, /after 5s 1 Pod is left, for example "op-system\/op-a"; its permissions and the definitions/);
  assertEquals(deletedKinds(installed).at(-1), "deployments");
  await client.delete(builtin.Pod, "op-system/op-a");
  const { code, err, out } = await installed.run("uninstall --yes --existing-namespace");
  assertEquals(code, 0, err);
  assertMatch(out, /^leases\.\S+ "op-system\/op" deleted\nleases\.\S+ "op-system\/op-1" deleted\n/);
  assertEquals((await client.list(builtin.Lease)).items.map(({ metadata: { name } }) => name), ["other-1"]);
  assertEquals(await client.find(builtin.ServiceAccount, "op-system/op"), undefined);
  assertEquals(await client.find(builtin.ConfigMap, "op-system/op-config"), undefined, "that of --run-config");
});

test("uninstall leaves an object of the same name with other labels alone", async () => {
  await using installed = await Installed.start();
  const labels = { "app.kubernetes.io/instance": "other" };
  const patch = { kind: "merge", value: { metadata: { labels } } } as const;
  await installed.world.client.patch(builtin.Service, "op-system/op-webhook", patch);
  const { code, err } = await installed.run("uninstall --yes --existing-namespace");
  assertEquals(code, 0, err);
  assertMatch(err, /services "op-system\/op-webhook" has not the labels of this installation, and stays/);
  assert(await installed.world.client.find(builtin.Service, "op-system/op-webhook") !== undefined);
});
