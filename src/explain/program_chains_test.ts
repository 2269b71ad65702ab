/** Tests of what is told of a program that only its requests are known of. */
import { assertEquals, test } from "../../tests/testing.ts";
import { explain } from "./chains.ts";
import { start, Story } from "./testing/story.ts";
import { explanationLines } from "./text.ts";

const config = { resource: "configmaps", kind: "ConfigMap", key: "default/hello" };
const post = "POST configmaps default";

/** A process that is killed after its create, and the next one, whose create fails. */
function killedStory(): Story {
  const story = new Story();
  story.add({ kind: "note", causes: [], actor: "operator", what: "starts", process: 1 });
  const detail = "crash before the response to the first create";
  const fault = story.add({ kind: "note", causes: [], actor: "fault", what: post, process: 1, detail, answers: post });
  const changes = [{ change: "added", object: config, resourceVersion: "5" } as const];
  const write = { kind: "note", actor: "operator", what: post, answers: post } as const;
  story.add({ ...write, causes: [], process: 1, detail: "write 1: 201", changes });
  const killed = { kind: "note", actor: "fault", what: "the process is killed", process: 1 } as const;
  const end = story.add({ ...killed, causes: [fault] });
  story.add({ kind: "note", causes: [end], actor: "operator", what: "starts", process: 2 });
  const again = story.add({ ...write, causes: [], process: 2, detail: "write 2: 409" });
  const answer = { kind: "failed", code: 409, reason: "AlreadyExists", message: "it already exists" } as const;
  story.add({ kind: "write", causes: [again], process: 2, verb: "create", object: config, answer, durationMs: 1 });
  return story;
}

test("a change of a program is told with its process, the fault, and the end of the process", () => {
  const lines = explanationLines(explain(killedStory().entries, config, { controllers: [] }), start);
  assertEquals(lines.slice(0, -1).map((line) => line.slice(10)), [
    "process 2 sent create ConfigMap default/hello",
    "→ it failed: 409 AlreadyExists: it already exists",
    "ConfigMap default/hello was created by process 1 (POST configmaps default: write 1: 201) " +
    "(fault: crash before the response to the first create)",
    "→ process 1: the process is killed",
    "→ process 2 starts",
  ]);
});

test("a change of a user is told with the processes that got it", () => {
  const story = new Story();
  story.add({ kind: "note", causes: [], actor: "operator", what: "starts", process: 1 });
  const changes = [{ change: "deleted", object: config, resourceVersion: "7" } as const];
  const note = story.add({ kind: "note", causes: [], actor: "user", what: "DELETE configmaps default/hello", changes });
  const event = { kind: "change", via: "watch", change: "deleted", object: config, resourceVersion: "7" } as const;
  story.add({ ...event, causes: [note], process: 1 });
  const lines = explanationLines(explain(story.entries, config, { controllers: [] }), start);
  assertEquals(lines.slice(0, -1).map((line) => line.slice(10)), [
    "ConfigMap default/hello was deleted by the user (DELETE configmaps default/hello)",
    "→ process 1 got it",
  ]);
});
