import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { refusal, type Sent, type ToolboxBench, toolboxBench } from "../../tests/fakes/toolbox.ts";
import { builtin, type KubeObject, resourceVersion } from "../api/mod.ts";
import { isConflict } from "../client/mod.ts";
import { LostChildren } from "./_lost_children.ts";
import { ownerChangeIn } from "./_owner_changed_error.ts";
import { type Desired, manifest } from "./desired.ts";
import { NotControlledError } from "./not_controlled_error.ts";

const { ConfigMap, Namespace } = builtin;

const owner = {
  resource: Namespace,
  object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", uid: "u-shop" } },
};

const ownerReferences = [{
  apiVersion: "v1",
  kind: "Namespace",
  name: "shop",
  uid: "u-shop",
  controller: true,
  blockOwnerDeletion: true,
}];

function configMap(data: Readonly<Record<string, string>>, metadata: KubeObject["metadata"] = {}) {
  return {
    apiVersion: "v1",
    kind: "ConfigMap" as const,
    metadata: { name: "a", namespace: "shop", uid: "u-a", resourceVersion: resourceVersion("5"), ...metadata },
    data,
  };
}

const wanted: Desired<typeof ConfigMap> = manifest(ConfigMap, {
  metadata: { name: "a", namespace: "shop" },
  data: { color: "blue" },
});

/** A bench with `cached` in its cache, in front of a server that gives these answers, in order. */
function bench(cached: KubeObject | undefined, ...answers: readonly Response[]): ToolboxBench {
  return toolboxBench({ cached: cached === undefined ? [] : [cached], answers });
}

function metadataOf(sent: Sent | undefined): KubeObject["metadata"] {
  return (sent?.body as KubeObject).metadata;
}

test("a child that is not there is created by an apply that says so, with its owner", async () => {
  const b = bench(undefined, Response.json(configMap({ color: "blue" })));
  await b.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals(b.sent.map((one) => one.method), ["PATCH"]);
  assertEquals(b.sent[0]?.url.searchParams.get("fieldManager"), "greeter");
  assertEquals(metadataOf(b.sent[0]), { ...wanted.metadata, ownerReferences, resourceVersion: resourceVersion("1") });
  assertEquals(b.wrote.length, 1);
});

test("a create that was a dry run, and so stored nothing, is not waited for", async () => {
  const b = bench(undefined, Response.json(configMap({ color: "blue" }, { resourceVersion: resourceVersion("1") })));
  await b.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals([b.sent.length, b.wrote], [1, []]);
});

test("[65] a child that is as it should be is not written", async () => {
  const held = configMap({ color: "blue" }, { ownerReferences });
  const b = bench(held);
  assertEquals(await b.toolbox.apply(ConfigMap, wanted, owner), held);
  assertEquals(b.sent, []);
});

test("a child that differs is applied with force, and only if it still has the UID that was looked at", async () => {
  const b = bench(configMap({ color: "red" }, { ownerReferences }), Response.json(configMap({ color: "blue" })));
  await b.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals(b.sent.map((one) => one.method), ["PATCH"]);
  assertEquals(b.sent[0]?.url.searchParams.get("force"), "true");
  assertEquals(metadataOf(b.sent[0]).uid, "u-a");
});

test("a field that we applied and do not want any more is taken away", async () => {
  const managedFields = [{
    manager: "greeter",
    operation: "Apply" as const,
    fieldsV1: { "f:data": { "f:color": {}, "f:old": {} } },
  }];
  const held = configMap({ color: "blue", old: "x" }, { ownerReferences, managedFields });
  const b = bench(held, Response.json(configMap({ color: "blue" })));
  await b.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals(b.sent.map((one) => one.method), ["PATCH"]);
});

/** What our manager owns by Apply. */
function applied(fieldsV1: Readonly<Record<string, unknown>>): KubeObject["metadata"] {
  return { ownerReferences, managedFields: [{ manager: "greeter", operation: "Apply", fieldsV1 }] };
}

test("[65] what the server makes of a field is learned from its answer, and not written again", async () => {
  const answer = configMap({ color: "BLUE" }, { ownerReferences });
  const b = bench(answer, Response.json(answer));
  await b.toolbox.apply(ConfigMap, wanted, owner);
  await b.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals(b.sent.length, 1);
});

test("[65] defaults inside a map that is owned as a whole are told from leftovers by one apply", async () => {
  const fields = applied({ "f:data": {} });
  const held = configMap({ color: "blue", added: "x" }, fields);
  const filled = bench(held, Response.json(held));
  await filled.toolbox.apply(ConfigMap, wanted, owner);
  await filled.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals(filled.sent.length, 1, "the server fills it in");
  const cleaned = bench(held, Response.json(configMap({ color: "blue" }, fields)), Response.json(held));
  await cleaned.toolbox.apply(ConfigMap, wanted, owner);
  await cleaned.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals(cleaned.sent.length, 2, "it was left over, and whoever put it back is not the server");
});

test("[75] somebody else's object of that name is left alone", async () => {
  const b = bench(configMap({ color: "red" }));
  const error = await assertRejects(() => b.toolbox.apply(ConfigMap, wanted, owner), /it is controlled by nobody/);
  assert(error instanceof NotControlledError);
  assertEquals(b.sent, []);
});

test("[75] a create that meets an object the cache has not seen looks at the server: ours is success", async () => {
  const live = configMap({ color: "blue" }, { ownerReferences });
  const b = bench(undefined, refusal(409, "Conflict"), Response.json(live));
  await b.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals(b.sent.map((one) => one.method), ["PATCH", "GET"]);
});

test("a create that is refused where there is nothing says why", async () => {
  const b = bench(undefined, refusal(409, "Conflict"), refusal(404, "NotFound"));
  const error = await assertRejects(() => b.toolbox.apply(ConfigMap, wanted, owner));
  assert(isConflict(error));
});

test("[75] a create that meets an object the cache has not seen looks at the server: another owner's is an error", async () => {
  const reborn = ownerReferences.map((reference) => ({ ...reference, uid: "u-somebody-else" }));
  const live = configMap({ color: "blue" }, { ownerReferences: reborn });
  const b = bench(undefined, refusal(409, "Conflict"), Response.json(live));
  const error = await assertRejects(() => b.toolbox.apply(ConfigMap, wanted, owner));
  assert(error instanceof NotControlledError);
});

test("[65] a status that is there already is not written", async () => {
  const namespace = { ...owner.object, kind: "Namespace" as const, spec: {}, status: { phase: "Active" } };
  const b = bench(undefined);
  await b.toolbox.patchStatus(Namespace, namespace, { phase: "Active" });
  assertEquals(b.sent, []);
});

test("a status that differs is patched on the status subresource, and only the named fields", async () => {
  const namespace = { ...owner.object, kind: "Namespace" as const, spec: {}, status: { phase: "Active" } };
  const b = bench(undefined, Response.json(namespace));
  await b.toolbox.patchStatus(Namespace, namespace, { phase: "Terminating" });
  assertEquals([b.sent[0]?.method, b.sent[0]?.url.pathname], ["PATCH", "/api/v1/namespaces/shop/status"]);
  assertEquals(b.sent[0]?.body, { status: { phase: "Terminating" } });
});

test("[52] a child is deleted by UID and version, after a live look at its owner", async () => {
  const child = configMap({}, { ownerReferences });
  const b = bench(child, Response.json(owner.object), Response.json({ kind: "Status", status: "Success" }));
  assertEquals(await b.toolbox.delete(ConfigMap, child, owner), true);
  assertEquals(b.sent.map((one) => one.method), ["GET", "DELETE"]);
  assertEquals((b.sent[1]?.body as { preconditions: unknown }).preconditions, { uid: "u-a", resourceVersion: "5" });
});

test("nothing is deleted in the name of an owner that is not there any more, or is another one", async () => {
  const child = configMap({}, { ownerReferences });
  const reborn = { ...owner.object, metadata: { name: "shop", uid: "u-reborn" } };
  for (const answer of [refusal(404, "NotFound"), Response.json(reborn)]) {
    const b = bench(child, answer);
    assertEquals(await b.toolbox.delete(ConfigMap, child, owner), false);
    assertEquals(b.sent.map((one) => one.method), ["GET"]);
  }
});

test("nothing is deleted when the owner, read live, does not want that any more", async () => {
  const child = configMap({}, { ownerReferences });
  const live = { ...owner.object, metadata: { ...owner.object.metadata, labels: { keep: "yes" } } };
  const seen: unknown[] = [];
  const stillDue = (object: unknown) => {
    seen.push(object);
    return false;
  };
  const b = bench(child, Response.json(live));
  assertEquals(await b.toolbox.delete(ConfigMap, child, { ...owner, stillDue }), false);
  assertEquals([seen, b.sent.map((one) => one.method)], [[live], ["GET"]]);
});

test("somebody else's object is not deleted", async () => {
  const child = configMap({});
  const b = bench(child);
  const error = await assertRejects(() => b.toolbox.delete(ConfigMap, child, owner));
  assert(error instanceof NotControlledError);
  assertEquals(b.sent, []);
});

test("fields held on somebody else's object: only ours are named, and it is never created", async () => {
  const b = bench(configMap({ color: "red", other: "x" }), Response.json(configMap({ color: "blue", other: "x" })));
  await b.toolbox.applyFields(ConfigMap, wanted);
  assertEquals(b.sent.map((one) => one.method), ["PATCH"]);
  assertEquals(metadataOf(b.sent[0]), { name: "a", namespace: "shop", uid: "u-a" });
  const none = bench(undefined);
  assertEquals(await none.toolbox.applyFields(ConfigMap, wanted), undefined);
  assertEquals(none.sent, []);
});

test("[65] a merge patch that changes nothing is not sent, one that takes something away is", async () => {
  const held = configMap({ color: "red", other: "x" });
  const patch = (data: Readonly<Record<string, string | null>>) => ({ kind: "merge", value: { data } }) as const;
  const idle = bench(undefined);
  assertEquals(await idle.toolbox.change(ConfigMap, held, patch({ color: "red", missing: null })), held);
  assertEquals(idle.sent, []);
  const b = bench(undefined, Response.json(configMap({ color: "red" })));
  await b.toolbox.change(ConfigMap, held, patch({ other: null }));
  assertEquals(b.sent.map(({ method, body }) => [method, body]), [["PATCH", { data: { other: null } }]]);
  assertEquals(b.sent[0]?.url.searchParams.get("fieldManager"), "greeter");
  assertEquals(b.wrote.length, 1);
});

test("a key of a status map that shall go is named with null", async () => {
  const namespace = { ...owner.object, kind: "Namespace" as const, spec: {}, status: { phase: "Active" } };
  const b = bench(undefined, Response.json(namespace));
  await b.toolbox.patchStatus(Namespace, namespace, { phase: null });
  assertEquals(b.sent[0]?.body, { status: { phase: null } });
});

/** The bench of a child that was there and is gone, with these answers. */
function lostBench(...answers: readonly Response[]): ToolboxBench {
  const lost = new LostChildren(Namespace, () => owner.object);
  lost.note(ConfigMap, configMap({}, { ownerReferences }));
  return toolboxBench({ answers, lost });
}

test("a lost child is made again after a live look at its owner, once", async () => {
  const b = lostBench(Response.json(owner.object), Response.json(configMap({ color: "blue" }, { ownerReferences })));
  await b.toolbox.apply(ConfigMap, wanted, owner);
  assertEquals(b.sent.map((one) => one.method), ["GET", "PATCH"]);
  assertEquals(b.sent[0]?.url.pathname, "/api/v1/namespaces/shop");
});

test("a lost child is not made again for an owner that is gone, going, or another one", async () => {
  const as = (metadata: KubeObject["metadata"]) => Response.json({ ...owner.object, metadata });
  const going = { ...owner.object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  for (const answer of [refusal(404, "NotFound"), as({ name: "shop", uid: "u-reborn" }), as(going)]) {
    const b = lostBench(answer);
    const error = await assertRejects(() => b.toolbox.apply(ConfigMap, wanted, owner), /"shop" is gone on the/);
    assertEquals(ownerChangeIn(error)?.state, "gone");
    assertEquals([b.sent.map((one) => one.method), b.wrote], [["GET"], []]);
  }
});

test("a lost child is not made again before the cache has its owner as the server has it", async () => {
  const at = (version: string) => ({
    ...owner,
    object: { ...owner.object, metadata: { ...owner.object.metadata, resourceVersion: resourceVersion(version) } },
  });
  const live = at("12").object;
  const b = lostBench(Response.json(live));
  const error = await assertRejects(() => b.toolbox.apply(ConfigMap, wanted, at("9")), /"shop" is newer on the/);
  assertEquals(ownerChangeIn(error)?.state, "newer");
  assertEquals([b.sent.map((one) => one.method), b.wrote], [["GET"], [live]], "the key waits for that version");
});
