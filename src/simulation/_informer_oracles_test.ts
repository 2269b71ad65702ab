/** Tests that the handler oracle finds wrong notifications of informers. */
import { builtin, type KubeObject, objectKey } from "../api/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { HandlerRecorder } from "./_informer_oracles.ts";

const key = objectKey({ namespace: "default", name: "hello" });

function object(uid: string): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "hello", uid } };
}

/** The problems that a recorder reports for notifications, and for the objects of the server. */
function problemsOf(notify: (recorder: HandlerRecorder) => void, stored: readonly KubeObject[]): readonly string[] {
  const problems: string[] = [];
  const watched = { resource: builtin.ConfigMap, namespace: undefined };
  const onProblem = (message: string) => void problems.push(message);
  const recorder = new HandlerRecorder({ process: { id: 1, hasEnded: false }, watched, onProblem });
  notify(recorder);
  const all = [...problems, ...recorder.differences({ list: () => stored })];
  return all.map((line) => line.replace(/^.*configmaps: /, ""));
}

test("the oracle reports nothing for notifications in the right order", () => {
  const notify = (recorder: HandlerRecorder) => {
    recorder.onAdd(object("1"));
    recorder.onUpdate(object("1"), object("1"));
    recorder.onDelete({ key, lastKnown: object("1") });
    recorder.onAdd(object("2"));
  };
  assertEquals(problemsOf(notify, [object("2")]), []);
});

const cases: readonly (readonly [
  name: string,
  notify: (recorder: HandlerRecorder) => void,
  stored: string[],
  problems: string[],
])[] = [
  [
    "an object that is added twice",
    (recorder) => [object("1"), object("1")].forEach((one) => recorder.onAdd(one)),
    ["1"],
    ["default/hello was added twice without a deletion in between"],
  ],
  [
    "an update from one UID to another",
    (recorder) => {
      recorder.onAdd(object("1"));
      recorder.onUpdate(object("1"), object("2"));
    },
    ["2"],
    ["an update of default/hello changed the UID"],
  ],
  [
    "an update or a deletion of an object that was never added",
    (recorder) => {
      recorder.onDelete({ key, lastKnown: object("1") });
      recorder.onUpdate(object("1"), object("1"));
    },
    ["1"],
    ["default/hello was deleted before it was added", "default/hello was updated before it was added"],
  ],
  [
    "a deletion with the UID of another object",
    (recorder) => {
      recorder.onAdd(object("1"));
      recorder.onDelete({ key, lastKnown: object("2") });
    },
    [],
    ["the deletion of default/hello had the UID of another object"],
  ],
  ["a missing deletion", (recorder) => recorder.onAdd(object("1")), [], [
    "default/hello was deleted, and the handlers were not notified",
  ]],
  ["a missing replacement", (recorder) => recorder.onAdd(object("1")), ["2"], [
    "default/hello was replaced, and the handlers were not notified",
  ]],
  ["a missing addition", () => {}, ["1"], ["default/hello was created, and the handlers were not notified"]],
];

for (const [name, notify, stored, problems] of cases) {
  test(`the oracle reports ${name}`, () => assertEquals(problemsOf(notify, stored.map(object)), problems));
}

test("the oracle forgets what leaves the part of a replica, and compares only the part with the server", () => {
  const problems: string[] = [];
  const watched = { resource: builtin.ConfigMap, namespace: undefined };
  let uids: readonly string[] = ["1"];
  const part = { includes: ({ metadata: { uid = "" } }: KubeObject) => uids.includes(uid) };
  const onProblem = (message: string) => void problems.push(message);
  const recorder = new HandlerRecorder({ process: { id: 1, hasEnded: false }, watched, part, onProblem });
  const differences = (stored: readonly string[]) => recorder.differences({ list: () => stored.map(object) }).length;
  recorder.onAdd(object("1"));
  assertEquals([differences(["1"]), differences([]), differences(["2"])], [0, 1, 1]);
  uids = [];
  recorder.forgetOthers();
  recorder.onUpdate(object("1"), object("1"));
  assertEquals(differences(["1"]), 0);
  uids = ["1"];
  assertEquals(differences(["1"]), 1);
  recorder.onAdd(object("1"));
  assertEquals([differences(["1"]), problems], [0, []]);
});
