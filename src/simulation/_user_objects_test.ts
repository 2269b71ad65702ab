/** Tests that the operator may not delete what a user has created, unless it controls the object. */
import { builtin, type KubeObject } from "../api/mod.ts";
import { controller, done } from "../controller/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { dependentKinds, UserObjects, writesForeignFields } from "./_user_objects.ts";

const { ConfigMap, Secret } = builtin;
const keeper = controller("keeper").for(Secret).owns(ConfigMap).reconcile(() => Promise.resolve(done));
const ownerReferences = [{ apiVersion: "v1", kind: "Secret", name: "a", uid: "u0", controller: true }];

/** The messages after the operator has deleted an object. */
function messagesAfter(collection: string, metadata: KubeObject["metadata"], path: string, isDeleted = true) {
  const object = { apiVersion: "v1", kind: "Any", metadata: { name: "notes", uid: "u1", ...metadata } };
  const present = [{ collection, path: `/api/v1/namespaces/default/${collection}/notes`, object }];
  let objects = present;
  const server = { createdBySteps: new Set(["u1"]), objects: () => objects };
  const users = new UserObjects(server, (collection) => dependentKinds([keeper]).has(collection));
  users.noteDelete(path);
  if (isDeleted) objects = [];
  return users.violations().map(({ message }) => message);
}

const maps = "/api/v1/namespaces/default/configmaps";
const expected = [`${maps}/notes was deleted, which a user had created and the operator did not control`];

test("the deletion of an object that a user has created is reported, also with its collection", () => {
  assertEquals(messagesAfter("configmaps", {}, `${maps}/notes`), expected);
  assertEquals(messagesAfter("configmaps", {}, maps), expected);
});

test("the deletion of an adopted, another or a primary object, and a rejected one, are not reported", () => {
  assertEquals(messagesAfter("configmaps", { ownerReferences }, `${maps}/notes`), []);
  assertEquals(messagesAfter("configmaps", {}, `${maps}/other`), []);
  assertEquals(messagesAfter("secrets", {}, "/api/v1/namespaces/default/secrets/notes"), []);
  assertEquals(messagesAfter("configmaps", {}, `${maps}/notes`, false), []);
});

test("writesForeignFields() is true for the managers and kinds of watches with `writes`", () => {
  const labels = controller("labels").for(Secret).watches(ConfigMap, { to: () => [], writes: true })
    .reconcile(() => Promise.resolve(done));
  const mayWrite = writesForeignFields([keeper, labels]);
  const asked = [["labels", "configmaps"], ["labels", "secrets"], ["keeper", "configmaps"]] as const;
  assertEquals(asked.map(([manager, collection]) => mayWrite(manager, collection)), [true, false, false]);
});
