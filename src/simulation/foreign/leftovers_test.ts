/** Tests which objects belong to a deleted one. */
import type { KubeObject } from "../../api/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { leftoversOf } from "./leftovers.ts";

function objectOf(kind: string, name: string, more: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return { apiVersion: "v1", kind, metadata: { namespace: "default", name, uid: `uid-${kind}-${name}`, ...more } };
}

const a = objectOf("Site", "a"), b = objectOf("Site", "b");

/** The names of what stays, with the name of what it stays of. */
function leftovers(
  created: readonly KubeObject[],
  { live, deleted }: { readonly live: readonly KubeObject[]; readonly deleted: readonly KubeObject[] },
): readonly string[] {
  const views = created.map((object) => ({ collection: `${object.kind.toLowerCase()}s`, object }));
  return leftoversOf({ created: views, live, deleted }).map(({ view, of }) =>
    `${view.object.metadata.name} of ${of.metadata.name}`
  );
}

test("an object stays of the deleted one that its name, a label or an annotation names", () => {
  const created = [
    objectOf("Secret", "a-token"),
    objectOf("ClusterRole", "site-a", { namespace: undefined }),
    objectOf("ConfigMap", "settings", { labels: { "example.dev/site": "a" } }),
    objectOf("ConfigMap", "index", { annotations: { "example.dev/site": "default/a" } }),
    objectOf("Secret", "ab"),
    objectOf("Secret", "a-token", { namespace: "other" }),
  ];
  assertEquals(leftovers(created, { live: [b], deleted: [a] }), [
    ...["a-token of a", "site-a of a", "settings of a", "index of a"],
  ]);
});

test("without a living object of a user, everything that the program has created stays", () => {
  assertEquals(leftovers([objectOf("Secret", "x")], { live: [], deleted: [a, b] }), ["x of b"]);
  assertEquals(leftovers([objectOf("Secret", "x")], { live: [b], deleted: [a] }), []);
});

test("an object of a living one with the same name does not stay, unless its owner is the deleted one", () => {
  const again = objectOf("Site", "a", { uid: "new" });
  const owned = (uid: string | undefined) =>
    objectOf("Secret", "a", { ownerReferences: [{ apiVersion: "v1", kind: "Site", name: "a", uid: uid ?? "" }] });
  const where = { live: [again], deleted: [a] };
  assertEquals(leftovers([objectOf("Secret", "a"), owned("new")], where), []);
  assertEquals(leftovers([owned(a.metadata.uid)], where), ["a of a"]);
});

test("an object that a living one needs, too, does not stay of a deleted one", () => {
  const secret = objectOf("Secret", "a");
  assertEquals(leftovers([objectOf("ConfigMap", "a-config")], { live: [a], deleted: [secret] }), []);
});
