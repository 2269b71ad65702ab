import { createTestToolbox, type Sent, statusResponse, type TestToolbox } from "../../tests/fakes/toolbox.ts";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, resourceVersion } from "../api/mod.ts";
import { isConflict } from "../client/mod.ts";
import { DeletedDependents } from "./_deleted_dependents.ts";
import { type Desired, manifest } from "./desired.ts";
import { findOwnerChange, NotControlledError } from "./owner_errors.ts";

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

const desired: Desired<typeof ConfigMap> = manifest(ConfigMap, {
  metadata: { name: "a", namespace: "shop" },
  data: { color: "blue" },
});

/** A Toolbox with `cached` in its cache, in front of a server that sends these responses, in order. */
function toolboxWith(cached: KubeObject | undefined, ...responses: readonly Response[]): TestToolbox {
  return createTestToolbox({ cached: cached === undefined ? [] : [cached], responses });
}

function metadataOf(sent: Sent | undefined): KubeObject["metadata"] {
  return (sent?.body as KubeObject).metadata;
}

test("apply() creates a missing dependent by an apply that must not find an object, with its owner", async () => {
  const b = toolboxWith(undefined, Response.json(configMap({ color: "blue" })));
  await b.toolbox.apply(ConfigMap, desired, owner);
  assertEquals(b.sent.map((one) => one.method), ["PATCH"]);
  assertEquals(b.sent[0]?.url.searchParams.get("fieldManager"), "greeter");
  assertEquals(metadataOf(b.sent[0]), { ...desired.metadata, ownerReferences, resourceVersion: resourceVersion("1") });
  assertEquals(b.written.length, 1);
});

test("[65] apply() does not write a dependent that has the desired values", async () => {
  const cached = configMap({ color: "blue" }, { ownerReferences });
  const b = toolboxWith(cached);
  assertEquals(await b.toolbox.apply(ConfigMap, desired, owner), cached);
  assertEquals(b.sent, []);
});

test("apply() changes a dependent with force, and only if it still has the UID that was read", async () => {
  const b = toolboxWith(configMap({ color: "red" }, { ownerReferences }), Response.json(configMap({ color: "blue" })));
  await b.toolbox.apply(ConfigMap, desired, owner);
  assertEquals(b.sent.map((one) => one.method), ["PATCH"]);
  assertEquals(b.sent[0]?.url.searchParams.get("force"), "true");
  assertEquals(metadataOf(b.sent[0]).uid, "u-a");
});

test("apply() removes a field that was applied and is no longer desired", async () => {
  const managedFields = [{
    manager: "greeter",
    operation: "Apply" as const,
    fieldsV1: { "f:data": { "f:color": {}, "f:old": {} } },
  }];
  const cached = configMap({ color: "blue", old: "x" }, { ownerReferences, managedFields });
  const b = toolboxWith(cached, Response.json(configMap({ color: "blue" })));
  await b.toolbox.apply(ConfigMap, desired, owner);
  assertEquals(b.sent.map((one) => one.method), ["PATCH"]);
});

/** What our manager owns by Apply. */
function applied(fieldsV1: Readonly<Record<string, unknown>>): KubeObject["metadata"] {
  return { ownerReferences, managedFields: [{ manager: "greeter", operation: "Apply", fieldsV1 }] };
}

test("[65] apply() learns from the response how the server normalizes a field, and does not write it again", async () => {
  const response = configMap({ color: "BLUE" }, { ownerReferences });
  const b = toolboxWith(response, Response.json(response));
  await b.toolbox.apply(ConfigMap, desired, owner);
  await b.toolbox.apply(ConfigMap, desired, owner);
  assertEquals(b.sent.length, 1);
});

test("[65] one apply finds out whether an extra key in a map owned as a whole is a default or left over", async () => {
  const fields = applied({ "f:data": {} });
  const cached = configMap({ color: "blue", added: "x" }, fields);
  const filled = toolboxWith(cached, Response.json(cached));
  await filled.toolbox.apply(ConfigMap, desired, owner);
  await filled.toolbox.apply(ConfigMap, desired, owner);
  assertEquals(filled.sent.length, 1, "the server adds it");
  const cleaned = toolboxWith(cached, Response.json(configMap({ color: "blue" }, fields)), Response.json(cached));
  await cleaned.toolbox.apply(ConfigMap, desired, owner);
  await cleaned.toolbox.apply(ConfigMap, desired, owner);
  assertEquals(cleaned.sent.length, 2, "it was left over, and another client added it again");
});

test("[75] apply() does not change a foreign object with the name of the dependent", async () => {
  const b = toolboxWith(configMap({ color: "red" }));
  const error = await assertRejects(
    () => b.toolbox.apply(ConfigMap, desired, owner),
    /it has no controller, expected Namespace "shop"/,
  );
  assert(error instanceof NotControlledError);
  assertEquals(b.sent, []);
});

test("[75] a create that conflicts with an object missing in the cache reads it live: our own object is a success", async () => {
  const live = configMap({ color: "blue" }, { ownerReferences });
  const b = toolboxWith(undefined, statusResponse(409, "Conflict"), Response.json(live));
  await b.toolbox.apply(ConfigMap, desired, owner);
  assertEquals(b.sent.map((one) => one.method), ["PATCH", "GET"]);
});

test("a create that conflicts although the server has no object fails with the conflict", async () => {
  const b = toolboxWith(undefined, statusResponse(409, "Conflict"), statusResponse(404, "NotFound"));
  const error = await assertRejects(() => b.toolbox.apply(ConfigMap, desired, owner));
  assert(isConflict(error));
});

test("[75] a create that conflicts with an object missing in the cache reads it live: a foreign object is an error", async () => {
  const foreignReferences = ownerReferences.map((reference) => ({ ...reference, uid: "u-other" }));
  const live = configMap({ color: "blue" }, { ownerReferences: foreignReferences });
  const b = toolboxWith(undefined, statusResponse(409, "Conflict"), Response.json(live));
  const error = await assertRejects(() => b.toolbox.apply(ConfigMap, desired, owner));
  assert(error instanceof NotControlledError);
});

/** The condition of a write of the status. */
const exactly = { op: "test", path: "/metadata/uid", value: "u-shop" };

test("[65] patchStatus() does not write a status that the object already has", async () => {
  const namespace = { ...owner.object, kind: "Namespace" as const, spec: {}, status: { phase: "Active" as const } };
  const b = toolboxWith(undefined);
  await b.toolbox.patchStatus(Namespace, namespace, { phase: "Active" });
  assertEquals(b.sent, []);
});

test("patchStatus() patches only the given fields, on the status subresource", async () => {
  const namespace = { ...owner.object, kind: "Namespace" as const, spec: {}, status: { phase: "Active" as const } };
  const b = toolboxWith(undefined, Response.json(namespace));
  await b.toolbox.patchStatus(Namespace, namespace, { phase: "Terminating" });
  assertEquals([b.sent[0]?.method, b.sent[0]?.url.pathname], ["PATCH", "/api/v1/namespaces/shop/status"]);
  assertEquals(b.sent[0]?.body, [exactly, { op: "add", path: "/status/phase", value: "Terminating" }]);
});

test("[52] delete() deletes a dependent by UID and version, after a live read of its owner", async () => {
  const dependent = configMap({}, { ownerReferences });
  const b = toolboxWith(dependent, Response.json(owner.object), Response.json({ kind: "Status", status: "Success" }));
  assertEquals(await b.toolbox.delete(ConfigMap, dependent, owner), true);
  assertEquals(b.sent.map((one) => one.method), ["GET", "DELETE"]);
  assertEquals((b.sent[1]?.body as { preconditions: unknown }).preconditions, { uid: "u-a", resourceVersion: "5" });
});

test("delete() deletes nothing if the live owner is deleted or has another UID", async () => {
  const dependent = configMap({}, { ownerReferences });
  const recreated = { ...owner.object, metadata: { name: "shop", uid: "u-recreated" } };
  for (const response of [statusResponse(404, "NotFound"), Response.json(recreated)]) {
    const b = toolboxWith(dependent, response);
    assertEquals(await b.toolbox.delete(ConfigMap, dependent, owner), false);
    assertEquals(b.sent.map((one) => one.method), ["GET"]);
  }
});

test("delete() deletes nothing if isStillDue() returns false for the live owner", async () => {
  const dependent = configMap({}, { ownerReferences });
  const live = { ...owner.object, metadata: { ...owner.object.metadata, labels: { keep: "yes" } } };
  const seen: unknown[] = [];
  const isStillDue = (object: unknown) => {
    seen.push(object);
    return false;
  };
  const b = toolboxWith(dependent, Response.json(live));
  assertEquals(await b.toolbox.delete(ConfigMap, dependent, { ...owner, isStillDue }), false);
  assertEquals([seen, b.sent.map((one) => one.method)], [[live], ["GET"]]);
});

test("delete() does not delete a foreign object", async () => {
  const dependent = configMap({});
  const b = toolboxWith(dependent);
  const error = await assertRejects(() => b.toolbox.delete(ConfigMap, dependent, owner));
  assert(error instanceof NotControlledError);
  assertEquals(b.sent, []);
});

test("applyFields() sends only its own fields, and never creates the object", async () => {
  const b = toolboxWith(
    configMap({ color: "red", other: "x" }),
    Response.json(configMap({ color: "blue", other: "x" })),
  );
  await b.toolbox.applyFields(ConfigMap, desired);
  assertEquals(b.sent.map((one) => one.method), ["PATCH"]);
  assertEquals(metadataOf(b.sent[0]), { name: "a", namespace: "shop", uid: "u-a" });
  const none = toolboxWith(undefined);
  assertEquals(await none.toolbox.applyFields(ConfigMap, desired), undefined);
  assertEquals(none.sent, []);
});

test("[65] change() does not send a merge patch that changes nothing, and sends one that removes a key", async () => {
  const cached = configMap({ color: "red", other: "x" });
  const patch = (data: Readonly<Record<string, string | null>>) => ({ kind: "merge", value: { data } }) as const;
  const unchanged = toolboxWith(undefined);
  assertEquals(await unchanged.toolbox.change(ConfigMap, cached, patch({ color: "red", missing: null })), cached);
  assertEquals(unchanged.sent, []);
  const b = toolboxWith(undefined, Response.json(configMap({ color: "red" })));
  await b.toolbox.change(ConfigMap, cached, patch({ other: null }));
  assertEquals(b.sent.map(({ method, body }) => [method, body]), [["PATCH", { data: { other: null } }]]);
  assertEquals(b.sent[0]?.url.searchParams.get("fieldManager"), "greeter");
  assertEquals(b.written.length, 1);
});

test("patchStatus() removes a key of a status map with null", async () => {
  const namespace = { ...owner.object, kind: "Namespace" as const, spec: {}, status: { phase: "Active" as const } };
  const b = toolboxWith(undefined, Response.json(namespace));
  await b.toolbox.patchStatus(Namespace, namespace, { phase: null });
  assertEquals(b.sent[0]?.body, [exactly, { op: "remove", path: "/status/phase" }]);
});

/** A Toolbox that knows a deleted dependent, in front of a server that sends these responses. */
function toolboxWithDeletedDependent(...responses: readonly Response[]): TestToolbox {
  const deletedDependents = new DeletedDependents(Namespace, () => owner.object);
  deletedDependents.record(ConfigMap, configMap({}, { ownerReferences }));
  return createTestToolbox({ responses, deletedDependents });
}

test("apply() creates a deleted dependent again after one live read of its owner", async () => {
  const b = toolboxWithDeletedDependent(
    Response.json(owner.object),
    Response.json(configMap({ color: "blue" }, { ownerReferences })),
  );
  await b.toolbox.apply(ConfigMap, desired, owner);
  assertEquals(b.sent.map((one) => one.method), ["GET", "PATCH"]);
  assertEquals(b.sent[0]?.url.pathname, "/api/v1/namespaces/shop");
});

test("apply() does not create a deleted dependent again if its live owner is deleted, being deleted, or another object", async () => {
  const as = (metadata: KubeObject["metadata"]) => Response.json({ ...owner.object, metadata });
  const deleting = { ...owner.object.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  for (const response of [statusResponse(404, "NotFound"), as({ name: "shop", uid: "u-recreated" }), as(deleting)]) {
    const b = toolboxWithDeletedDependent(response);
    const error = await assertRejects(() => b.toolbox.apply(ConfigMap, desired, owner), /"shop" is deleted on the/);
    assertEquals(findOwnerChange(error)?.state, "deleted");
    assertEquals([b.sent.map((one) => one.method), b.written], [["GET"], []]);
  }
});

test("apply() does not create a deleted dependent again before the cache has the live version of its owner", async () => {
  const at = (version: string) => ({
    ...owner,
    object: { ...owner.object, metadata: { ...owner.object.metadata, resourceVersion: resourceVersion(version) } },
  });
  const live = at("12").object;
  const b = toolboxWithDeletedDependent(Response.json(live));
  const error = await assertRejects(() => b.toolbox.apply(ConfigMap, desired, at("9")), /"shop" is newer on the/);
  assertEquals(findOwnerChange(error)?.state, "newer");
  assertEquals([b.sent.map((one) => one.method), b.observed], [["GET"], [live]], "the cache gets that version");
});
