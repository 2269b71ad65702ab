import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import type { Entry } from "../observe/mod.ts";
import { answerWhy, type ObjectQuestion } from "./answer.ts";
import { entriesIn, membersIn } from "./clusters.ts";
import { explanationLines, whyNotLines } from "./text.ts";

const resource = "configmaps";
const controllers = [{
  name: "copier",
  primary: { resource: "secrets", kind: "Secret" },
  watched: [{ resource, kind: "ConfigMap" }],
}];

/** A change of an object, the reconcile that it leads to, and its write. */
function story(first: number, cluster: string | undefined, cause: number[], name: string): readonly Entry[] {
  const place = cluster === undefined ? {} : { cluster };
  const object = { resource: "secrets", kind: "Secret", key: `default/${name}` };
  const written = { resource, kind: "ConfigMap", key: "default/copy" };
  const of = { controller: "copier", key: `default/${name}` };
  const entries = [
    { kind: "enqueue", causes: cause, ...of, object, role: "watches", decision: "queued" },
    { kind: "reconcile-start", causes: [first], ...of, waitMs: 0, retries: 0 },
    {
      ...{ kind: "write", causes: [first + 1], ...of, verb: "apply", object: written },
      answer: { kind: "stored", resourceVersion: "7", uid: "u" },
    },
    { kind: "reconcile-end", causes: [first + 1], ...of, outcome: "done", durationMs: 1 },
  ];
  // The parts of an entry that nothing here reads are missing.
  return entries.map((entry, index) => ({
    ...entry,
    ...place,
    id: first + index,
    at: 1_000 + first,
  })) as unknown as Entry[];
}

const settings = {
  ...{ id: 1, at: 1_000, kind: "change", causes: [], change: "updated", resourceVersion: "5", uid: "s", via: "watch" },
  object: { resource, kind: "ConfigMap", key: "default/settings" },
} as unknown as Entry;
const entries = [
  settings,
  ...story(2, "east", [1], "team"),
  ...story(10, "west", [1], "team"),
  ...story(20, "west", [], "only"),
];

function ask(question: Partial<ObjectQuestion>, name = "default/team") {
  return answerWhy({ kind: "secret", name, isNot: false, ...question }, {
    entries,
    controllers,
    now: 2_000,
    limit: 10,
  });
}

test("a member has its own entries, and of the hub only what led to them, under other kinds", () => {
  assertEquals(membersIn(entries), ["east", "west"]);
  assertEquals(entriesIn(entries, "east").map(({ id }) => id), [1, 2, 3, 4, 5]);
  const [cause] = entriesIn(entries, "east");
  assertEquals(cause?.kind === "change" ? cause.object : undefined, {
    ...{ resource: "hub:configmaps", kind: "ConfigMap (hub)", key: "default/settings" },
  });
  assertEquals(entriesIn(entries, undefined), [settings]);
});

test("why asks for the member when several clusters have the object", () => {
  const answer = ask({});
  assert(answer.kind === "unknown");
  assertEquals(answer.problem, "it is in east and west");
  assertMatch(answer.advice, /--member east/);
});

test("why answers about the member that the question names, and about the only one that has the object", () => {
  const inWest = ask({ cluster: "west" });
  const only = ask({}, "default/only");
  assert(inWest.kind === "answered" && only.kind === "answered");
  assertEquals([inWest.cluster, only.cluster], ["west", "west"]);
  assert("chains" in inWest.answer && "chains" in only.answer);
  assertEquals(
    inWest.answer.chains.map(({ steps }) =>
      steps.flatMap(({ entries }) => entries).every((id) => id === 1 || id >= 10)
    ),
    [true],
  );
  assertMatch(explanationLines(inWest.answer, 2_000).map(String).join(), /./);
});

test("why --not reads the facts of the member", () => {
  const asked: (string | undefined)[] = [];
  const factsOf = (_: unknown, cluster: string | undefined) => {
    asked.push(cluster);
    return { cacheProblems: ["secrets: connection refused"] };
  };
  const question = { kind: "secret", name: "default/team", isNot: true, cluster: "east" };
  const answer = answerWhy(question, { entries, controllers, now: 2_000, limit: 10, factsOf });
  assertEquals(asked, ["east"]);
  assert(answer.kind === "answered" && "reasons" in answer.answer);
  assert(whyNotLines(answer.answer).length > 0);
});
