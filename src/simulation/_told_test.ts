/** That whoever listens at an informer notices when a life is not told as it was. */
import { builtin, type KubeObject, objectKey } from "../api/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { Listener } from "./_told.ts";

const key = objectKey({ namespace: "default", name: "hello" });

function object(uid: string): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "hello", uid } };
}

/** What a listener says of what it is told, and then of what the server has. */
function heard(tell: (listener: Listener) => void, stored: readonly KubeObject[]): readonly string[] {
  const said: string[] = [];
  const watched = { resource: builtin.ConfigMap, inside: undefined };
  const listener = new Listener({ id: 1, isDead: false }, watched, (message) => said.push(message));
  tell(listener);
  return [...said, ...listener.differences({ list: () => stored })].map((line) => line.replace(/^.*configmaps: /, ""));
}

test("a life that is told in order is believed", () => {
  const tell = (listener: Listener) => {
    listener.added(object("1"));
    listener.updated(object("1"), object("1"));
    listener.deleted({ key, lastKnown: object("1") });
    listener.added(object("2"));
  };
  assertEquals(heard(tell, [object("2")]), []);
});

const lies: readonly (readonly [name: string, tell: (listener: Listener) => void, stored: string[], said: string[]])[] =
  [
    [
      "an object that is added twice",
      (listener) => [object("1"), object("1")].forEach((one) => listener.added(one)),
      ["1"],
      ["default/hello was added twice, and not deleted in between"],
    ],
    [
      "an update from one UID to another",
      (listener) => {
        listener.added(object("1"));
        listener.updated(object("1"), object("2"));
      },
      ["2"],
      ["an update of default/hello led from one object to another of its name"],
    ],
    [
      "an update, or an end, of what was never added",
      (listener) => {
        listener.deleted({ key, lastKnown: object("1") });
        listener.updated(object("1"), object("1"));
      },
      ["1"],
      ["default/hello was deleted before it was added", "default/hello was updated before it was added"],
    ],
    [
      "the end of another object of the name",
      (listener) => {
        listener.added(object("1"));
        listener.deleted({ key, lastKnown: object("2") });
      },
      [],
      ["the deletion of default/hello was about another object of its name"],
    ],
    ["an end that nobody told of", (listener) => listener.added(object("1")), [], [
      "default/hello is gone, and nobody said so",
    ]],
    ["another one that nobody told of", (listener) => listener.added(object("1")), ["2"], [
      "default/hello is another one, and nobody said so",
    ]],
    ["a beginning that nobody told of", () => {}, ["1"], ["default/hello is there, and nobody said so"]],
  ];

for (const [name, tell, stored, said] of lies) {
  test(`${name} is noticed`, () => assertEquals(heard(tell, stored.map(object)), said));
}
