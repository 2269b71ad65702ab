/**
 * The cases of EcsBinding without its controller: every verb of the typed client, and the informers and listers for your own
 * programs.
 */
import type { WatchEvent } from "../../src/api/mod.ts";
import { EcsBinding } from "../../src/controllers/ecsbinding/mod.ts";
import { informersOf } from "../../src/cache.ts";
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from "../../src/mod.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "../testing.ts";
import { eventually, gone, removed } from "./waits.ts";
import type { Case, CaseEnvironment } from "./environment.ts";

/** Creates an EcsBinding with a label of the case. It is deleted after the case. */
async function create(env: CaseEnvironment, name: string, nodename?: string, labels = {}): Promise<EcsBinding> {
  env.after(() => removed(env, EcsBinding, nameOf(env, name)));
  const metadata = { name: nameOf(env, name), labels: { case: env.suffix, ...labels } };
  return await env.client.create(EcsBinding, { metadata, spec: { id: `i-${name}`, nodename } });
}

function nameOf(env: CaseEnvironment, name: string): string {
  return `${name}-${env.suffix}`;
}

function ownLabel(env: CaseEnvironment, labels = {}) {
  return { matchLabels: { case: env.suffix, ...labels } };
}

function namesOf(items: readonly EcsBinding[]): readonly (string | undefined)[] {
  return items.map(({ metadata }) => metadata.name).sort();
}

const writing: Case = {
  name: "create, get, update and delete are typed and have specific errors",
  run: async (env) => {
    const { client } = env;
    const made = await create(env, "a", "n1");
    assertEquals([made.kind, made.apiVersion, made.spec], ["EcsBinding", "hopegi.com/v1", {
      id: "i-a",
      nodename: "n1",
    }]);
    assert(isAlreadyExists(await assertRejects(() => create(env, "a"))));
    const name = nameOf(env, "a");
    assertEquals((await client.get(EcsBinding, name)).metadata.uid, made.metadata.uid);
    const updated = await client.update(EcsBinding, { ...made, spec: { ...made.spec, innerip: "10.0.0.1" } });
    assertEquals([updated.spec?.innerip, updated.metadata.generation], ["10.0.0.1", 2]);
    assert(isConflict(await assertRejects(() => client.update(EcsBinding, made))));
    assert(isInvalid(await assertRejects(() => client.update(EcsBinding, { ...updated, spec: { id: 1 } } as never))));
    const wrong = { preconditions: { uid: "another" } };
    assert(isConflict(await assertRejects(() => client.delete(EcsBinding, name, wrong))));
    await client.delete(EcsBinding, name, { preconditions: { uid: made.metadata.uid } });
    assert(isNotFound(await assertRejects(() => client.get(EcsBinding, name))));
    assertEquals(await client.find(EcsBinding, name), undefined);
    assert(isNotFound(await assertRejects(() => client.delete(EcsBinding, name))));
  },
};

const listing: Case = {
  name:
    "list selects by labels and fields and returns pages of one snapshot; deleteCollection deletes the selected objects",
  run: async (env) => {
    const { client } = env;
    for (let at = 0; at < 5; at++) {
      await create(env, `m${at}`, at % 2 === 0 ? "even" : "odd", { parity: String(at % 2) });
    }
    const odd = ["m1", "m3"].map((name) => nameOf(env, name));
    const byLabel = await client.list(EcsBinding, { labelSelector: ownLabel(env, { parity: "1" }) });
    assertEquals(namesOf(byLabel.items), odd);
    const among = { key: "parity", operator: "NotIn", values: ["0"] } as const;
    const byRequirement = await client.list(EcsBinding, {
      labelSelector: { ...ownLabel(env), matchExpressions: [among] },
    });
    assertEquals(namesOf(byRequirement.items), odd);
    const byField = await client.list(EcsBinding, { fieldSelector: { "metadata.name": nameOf(env, "m2") } });
    assertEquals(namesOf(byField.items), [nameOf(env, "m2")]);
    const selection = { labelSelector: ownLabel(env), fieldSelector: { "spec.nodename": "odd" } };
    assertEquals(namesOf((await client.list(EcsBinding, selection)).items), odd);
    const first = await client.list(EcsBinding, { labelSelector: ownLabel(env), limit: 2 });
    await create(env, "late");
    const rest = await client.list(EcsBinding, { labelSelector: ownLabel(env), limit: 10, continue: first.continue });
    assertEquals([first.items.length, rest.items.length, rest.continue], [2, 3, undefined]);
    assertEquals(first.resourceVersion, rest.resourceVersion);
    const sizes: number[] = [];
    for await (const page of client.pages(EcsBinding, { labelSelector: ownLabel(env), limit: 4 })) {
      sizes.push(page.items.length);
    }
    assertEquals(sizes, [4, 2]);
    await client.deleteCollection(EcsBinding, { labelSelector: ownLabel(env, { parity: "0" }) });
    await gone(env, EcsBinding, nameOf(env, "m4"));
    const left = await client.list(EcsBinding, { labelSelector: ownLabel(env) });
    assertEquals(namesOf(left.items), [nameOf(env, "late"), ...odd]);
  },
};

const watching: Case = {
  name: "watch returns the selected changes after a version, in order",
  run: async (env) => {
    const { client } = env;
    const { resourceVersion } = await client.list(EcsBinding, { labelSelector: ownLabel(env) });
    const stop = new AbortController();
    const options = { labelSelector: ownLabel(env), resourceVersion, signal: stop.signal };
    const watch = async () => {
      const events: WatchEvent<EcsBinding>[] = [];
      for await (const batch of client.watch(EcsBinding, options)) {
        events.push(...batch);
        if (events.length >= 3) break;
      }
      return events;
    };
    const watched = watch();
    await create(env, "a", "n1");
    const name = nameOf(env, "a");
    await client.patch(EcsBinding, name, { kind: "merge", value: { spec: { nodename: "n2" } } });
    await client.delete(EcsBinding, name);
    const events = await watched;
    assertEquals(events.map(({ type }) => type), ["ADDED", "MODIFIED", "DELETED"]);
    assertEquals(events.map((event) => event.type === "ADDED" && event.object.spec?.nodename), ["n1", false, false]);
  },
};

const patching: Case = {
  name: "patches are JSON, merge and apply, and the status is written separately",
  run: async (env) => {
    const { client } = env;
    const { metadata: { uid } } = await create(env, "a", "n1");
    const name = nameOf(env, "a");
    const operations = [
      { op: "test", path: "/metadata/uid", value: uid },
      { op: "replace", path: "/spec/nodename", value: "n2" },
    ] as const;
    const byJson = await client.patch(EcsBinding, name, { kind: "json", operations });
    assertEquals(byJson.spec?.nodename, "n2");
    const byMerge = await client.patch(EcsBinding, name, {
      kind: "merge",
      value: { spec: { nodename: null, name: "x" } },
    });
    assertEquals(byMerge.spec, { id: "i-a", name: "x" });
    const mine = { metadata: { name }, spec: { innerip: "10.0.0.1" } };
    assertEquals((await client.apply(EcsBinding, mine, { fieldManager: "mine" })).spec?.innerip, "10.0.0.1");
    const theirs = { metadata: { name }, spec: { innerip: "10.0.0.2" } };
    assert(isConflict(await assertRejects(() => client.apply(EcsBinding, theirs, { fieldManager: "theirs" }))));
    const forced = await client.apply(EcsBinding, theirs, { fieldManager: "theirs", force: true });
    assertEquals(forced.spec?.innerip, "10.0.0.2");
    const value = { status: { state: "running" }, spec: { name: "ignored" } };
    const status = await client.patch(EcsBinding, name, { kind: "merge", value }, { subresource: "status" });
    assertEquals([status.status, status.spec?.name], [{ state: "running" }, "x"]);
    const stopped = { ...status, status: { state: "stopped" }, spec: {} };
    const put = await client.update(EcsBinding, stopped, { subresource: "status" });
    assertEquals([put.status, put.spec?.name], [{ state: "stopped" }, "x"]);
    const applied = { metadata: { name }, status: { state: "gone" } };
    await client.apply(EcsBinding, applied, { fieldManager: "mine", force: true, subresource: "status" });
    const live = await client.get(EcsBinding, name, { subresource: "status" });
    assertEquals([live.status, live.spec?.name], [{ state: "gone" }, "x"]);
    const spec = await client.patch(EcsBinding, name, { kind: "merge", value: { status: { state: "ignored" } } });
    assertEquals(spec.status, { state: "gone" });
  },
};

const informing: Case = {
  name:
    "an informer factory shares one informer per kind, filters lists and waits for the sync; its lister throws NotFound",
  run: async (env) => {
    await create(env, "a", "n1", { tier: "front" });
    await create(env, "b", "n1", { tier: "back" });
    const informers = informersOf(env.client);
    const scope = { labelSelector: ownLabel(env) };
    const informer = informers.informer(EcsBinding, scope);
    assert(informer === informers.informer(EcsBinding, { labelSelector: ownLabel(env) }));
    assert(informer !== informers.informer(EcsBinding));
    const heard: string[] = [];
    informer.addHandler({
      onAdd: ({ metadata }) => heard.push(`added ${metadata.name}`),
      onUpdate: (_, { metadata }) => heard.push(`updated ${metadata.name}`),
      onDelete: ({ key }) => heard.push(`deleted ${key}`),
    });
    informer.addIndexers({ nodename: ({ spec }) => spec?.nodename === undefined ? [] : [spec?.nodename] });
    const stop = new AbortController();
    const running = informers.run(stop.signal);
    await informers.synced(stop.signal);
    const { lister } = informer;
    const [a, b, late] = ["a", "b", "late"].map((name) => nameOf(env, name));
    assertEquals([namesOf(lister.list()), informer.hasSynced], [[a, b], true]);
    assertEquals(namesOf(lister.list({ labelSelector: { matchLabels: { tier: "front" } } })), [a]);
    assertEquals(namesOf(lister.list({ index: { name: "nodename", value: "n1" } })), [a, b]);
    assertEquals(lister.findNamed(a ?? "")?.spec?.id, "i-a");
    const missing = assertThrows(() => lister.get("nowhere" as never), /Cannot get .*ecsbinding.* "nowhere"/);
    assert(isNotFound(missing));
    await create(env, "late");
    await env.until("see the late one", () => {
      const found = lister.findNamed(late ?? "");
      return found === undefined ? { kind: "pending", state: heard.join() } : { kind: "found", value: found };
    });
    await env.client.delete(EcsBinding, late ?? "");
    await env.until(
      "see its deletion",
      () =>
        heard.includes(`deleted ${late}`)
          ? { kind: "found", value: undefined }
          : { kind: "pending", state: heard.join() },
    );
    assertEquals(heard, [...heard.slice(0, 2), `added ${late}`, `deleted ${late}`]);
    assertEquals(heard.slice(0, 2).toSorted(), [`added ${a}`, `added ${b}`]);
    await eventually(env, EcsBinding, a ?? "");
    stop.abort();
    await running;
  },
};

export const ecsbindingClientCases: readonly Case[] = [writing, listing, watching, patching, informing];
