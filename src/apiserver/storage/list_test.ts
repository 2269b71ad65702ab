import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { StatusError } from "../model/mod.ts";
import { decodeContinue, encodeContinue, listObjects, type ListQuery, type ListResult } from "./list.ts";
import type { StoredObject } from "./stored_object.ts";
import { ObjectStorage } from "./storage.ts";
import { toBase64 } from "../../runtime/mod.ts";

const everything: ListQuery = { namespace: "", resourceVersion: "", match: "", limit: 0, continue: "" };

/** Ten things, six of them in namespace a: revisions 1 to 10. */
function filled(): ObjectStorage {
  const storage = new ObjectStorage();
  for (let index = 0; index < 10; index++) {
    const namespace = index < 6 ? "a" : "b";
    storage.create("things", namespace, `t${index}`, { metadata: { name: `t${index}` }, index });
  }
  return storage;
}

function list(storage: ObjectStorage, query: Partial<ListQuery>): ListResult {
  return listObjects(storage, "things", { ...everything, ...query });
}

function names(result: ListResult): string {
  return result.items.map(({ name }) => name).join(" ");
}

function rejection(act: () => unknown): StatusError {
  const error = assertThrows(act);
  assert(error instanceof StatusError);
  return error;
}

test("all pages of a list have one revision, even after writes between them", () => {
  const storage = filled();
  const first = list(storage, { limit: 4 });
  const found = storage.find("things", "b", "t9");
  if (found !== undefined) storage.delete("things", found);
  storage.create("things", "a", "t00", { metadata: { name: "t00" } });
  const second = list(storage, { limit: 4, continue: first.continue });
  const third = list(storage, { limit: 4, continue: second.continue });
  assertEquals([names(first), names(second), names(third)], ["t0 t1 t2 t3", "t4 t5 t6 t7", "t8 t9"]);
  assertEquals([first.revision, second.revision, third.revision], [10, 10, 10]);
  assertEquals([first.remaining, second.remaining, third.remaining], [6, 2, undefined]);
  assertEquals(third.continue, "");
});

test("the last page of a namespace has no objects of other namespaces", () => {
  const storage = filled();
  const first = list(storage, { namespace: "a", limit: 4 });
  assertEquals([names(first), first.remaining], ["t0 t1 t2 t3", 2]);
  assertEquals(names(list(storage, { namespace: "a", limit: 4, continue: first.continue })), "t4 t5");
});

test("a token of another namespace does not lead out of the requested one", () => {
  const storage = filled();
  const first = list(storage, { namespace: "a", limit: 2 });
  assertEquals(names(list(storage, { namespace: "b", limit: 9, continue: first.continue })), "t6 t7 t8 t9");
});

test("a list with a selector fills its pages and has no remaining count", () => {
  const matches = ({ object }: StoredObject) => Number(object["index"]) % 2 === 0;
  const first = list(filled(), { limit: 2, matches });
  assertEquals([names(first), first.remaining], ["t0 t2", undefined]);
  const second = list(filled(), { limit: 5, matches, continue: first.continue });
  assertEquals([names(second), second.continue], ["t4 t6 t8", ""]);
});

const readings: readonly { readonly query: Partial<ListQuery>; readonly items: number; readonly revision: number }[] = [
  { query: {}, items: 10, revision: 10 },
  { query: { resourceVersion: "0" }, items: 10, revision: 10 },
  { query: { resourceVersion: "0", limit: 3 }, items: 10, revision: 10 },
  { query: { resourceVersion: "4" }, items: 10, revision: 10 },
  { query: { resourceVersion: "4", match: "NotOlderThan", limit: 3 }, items: 3, revision: 10 },
  { query: { resourceVersion: "4", match: "Exact" }, items: 4, revision: 4 },
  { query: { resourceVersion: "4", limit: 3 }, items: 3, revision: 4 },
  { query: { namespace: "a", name: "t3" }, items: 1, revision: 10 },
  { query: { namespace: "a", name: "t3", resourceVersion: "2", match: "Exact" }, items: 0, revision: 2 },
  { query: { namespace: "a", name: "t9" }, items: 0, revision: 10 },
];

for (const { query, items, revision } of readings) {
  test(`a list with ${JSON.stringify(query)} returns ${items} items of revision ${revision}`, () => {
    const result = list(filled(), query);
    assertEquals([result.items.length, result.revision], [items, revision]);
  });
}

test("a version that is not reached yet gets 504 with a cause and retryAfterSeconds", () => {
  for (const query of [{ resourceVersion: "11" }, { resourceVersion: "11", match: "Exact" as const }]) {
    const { status } = rejection(() => list(filled(), query));
    assertEquals([status.code, status.reason], [504, "Timeout"]);
    assertEquals(status.message, "Timeout: Too large resource version: 11, current: 10");
    assertEquals(status.details, {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    });
  }
});

test("a token with an expired revision gets 410 and a token that continues, inconsistently", () => {
  const storage = filled();
  const first = list(storage, { limit: 4 });
  storage.create("things", "a", "t45", { metadata: { name: "t45" } });
  storage.compact(11);
  const { status } = rejection(() => list(storage, { limit: 4, continue: first.continue }));
  assertEquals([status.code, status.reason], [410, "Expired"]);
  const token = status.metadata?.continue ?? "";
  const rest = list(storage, { limit: 4, continue: token });
  assertEquals([names(rest), rest.revision], ["t4 t45 t5 t6", 11]);
});

test("an expired exact version gets 410", () => {
  const storage = filled();
  storage.compact(5);
  assertEquals(list(storage, { resourceVersion: "5", match: "Exact" }).items.length, 5);
  const { status } = rejection(() => list(storage, { resourceVersion: "4", match: "Exact" }));
  assertEquals([status.code, status.message], [410, "The resourceVersion for the provided list is too old."]);
});

const badTokens: readonly { readonly token: string; readonly why: string }[] = [
  { token: "abc", why: "invalid character 'i' looking for beginning of value" },
  { token: "!", why: "illegal base64 data" },
  { token: encode({ v: "meta.k8s.io/v1", rv: 0, start: "a" }), why: "incorrect encoded start resourceVersion" },
  { token: encode({ v: "meta.k8s.io/v1", rv: 1, start: "" }), why: "encoded start key empty" },
  { token: encode({ v: "v9", rv: 1, start: "a" }), why: "server does not recognize this encoded version v9" },
  { token: encode({ v: "meta.k8s.io/v1", rv: 1, start: "../b" }), why: "continue key is not valid: ../b" },
  { token: encode({ v: "meta.k8s.io/v1", rv: 1.5, start: "a" }), why: "incorrect encoded start resourceVersion" },
];

function encode(token: object): string {
  return toBase64(JSON.stringify(token), "base64url");
}

for (const { token, why } of badTokens) {
  test(`decodeContinue() rejects a token: ${why}`, () => {
    const { status } = rejection(() => decodeContinue(token));
    assertEquals(status.code, 400);
    assert(status.message?.includes(why) === true, status.message);
  });
}

test("a token has the first key of the next page and the revision of the list", () => {
  assertEquals(decodeContinue(encodeContinue({ from: "a/x\0", revision: 7 })), { from: "a/x\0", revision: 7 });
  assertEquals(decodeContinue(encodeContinue({ from: "a/x\0", revision: undefined })).revision, undefined);
});
