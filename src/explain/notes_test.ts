/** Tests of what the notes of a simulation add to the words of an explanation. */
import { assertEquals, test } from "../../tests/testing.ts";
import { explain } from "./chains.ts";
import { controllers, foo, start, Story, web } from "./testing/story.ts";
import { explanationLines } from "./text.ts";

const own = { controller: "foo", key: foo.key };

function linesOf(story: Story): readonly string[] {
  return explanationLines(explain(story.entries, foo, { controllers }), start);
}

test("[137] a fault at a write is told beside it, whatever its answer was", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  const what = "DELETE deployments.apps default/web";
  const fault = story.add({
    kind: "note",
    causes: [],
    actor: "fault",
    what,
    detail: "a user replaces the object of write 3",
    answers: what,
  });
  story.add({
    kind: "write",
    ...own,
    causes: [begin, fault],
    verb: "delete",
    object: web,
    answer: { kind: "removed" },
    durationMs: 0,
  });
  story.ends(begin);
  assertEquals(
    linesOf(story)[2],
    "          → reconciled in 12 ms: deleted Deployment default/web (fault: a user replaces the object of write 3)",
  );
});

test("[137] a process that was killed, the write that it sent last, and what was violated are told", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  const what = "PATCH deployments.apps default/web";
  const fault = story.add({ kind: "note", causes: [], actor: "fault", what, detail: "crash before write 2" });
  story.add({ kind: "note", causes: [begin], actor: "operator", what, detail: "write 1: 200", answers: what });
  story.add({ kind: "note", causes: [begin, fault], actor: "fault", what: "the process is killed" });
  story.add({ kind: "note", causes: [], actor: "violation", what: "end-state", detail: "deployments default/web" });
  const lines = linesOf(story);
  assertEquals(
    lines[2],
    "          → it did not end: the process is killed (fault: crash before write 2); before that: " +
      "sent PATCH deployments.apps default/web (write 1: 200), without seeing the answer",
  );
  assertEquals(lines[3], "(violated: end-state: deployments default/web)");
});

test("[137] a deletion is told with who made it, because managedFields cannot say it", () => {
  const story = new Story();
  const deleted = story.add({ kind: "note", causes: [], actor: "cluster", what: "DELETE /apis/apps/v1/x" });
  const change = story.add({ kind: "change", via: "watch", change: "deleted", object: web, causes: [deleted] });
  story.ends(story.reconciles(change));
  assertEquals(
    linesOf(story)[0]?.slice(10),
    "Deployment default/web was deleted by the cluster (DELETE /apis/apps/v1/x)",
  );
});
