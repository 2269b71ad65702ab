/** Tests of the order and the merging of watch events. */
import { runTurns } from "../async/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { WatchPipe } from "./_watch_pipe.ts";

function line(type: string, name: string, version: number): string {
  return `${JSON.stringify({ type, object: { metadata: { name, resourceVersion: String(version) } } })}\n`;
}

/** A pipe whose server has sent these lines. */
async function pipeWith(lines: readonly string[], hasInitialEvents = false): Promise<WatchPipe> {
  const upstream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(lines.join(""))),
  });
  const pipe = new WatchPipe("configmaps", upstream, { hasInitialEvents });
  for (let hops = 0; hops < 5; hops++) await runTurns();
  return pipe;
}

function textOf({ type, object }: ReturnType<WatchPipe["take"]>[number]): string {
  return `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`;
}

test("take() returns the lines in the order of the server", async () => {
  const pipe = await pipeWith([line("ADDED", "a", 1), line("MODIFIED", "a", 2), line("ADDED", "b", 3)]);
  assertEquals(pipe.take(0).map(textOf), ["ADDED a 1", "MODIFIED a 2", "ADDED b 3"]);
  assertEquals(pipe.isReady(0), false);
});

test("merged changes keep the last change of each object, with the type of all of them together", async () => {
  const pipe = await pipeWith([
    line("ADDED", "new", 1),
    line("MODIFIED", "new", 2),
    line("MODIFIED", "old", 3),
    line("DELETED", "old", 4),
    line("ADDED", "short", 5),
    line("DELETED", "short", 6),
    line("DELETED", "replaced", 7),
    line("ADDED", "replaced", 8),
  ]);
  pipe.merges = true;
  assertEquals(pipe.take(0).map(textOf), ["ADDED new 2", "DELETED old 4", "MODIFIED replaced 8"]);
});

test("a stalled pipe is not ready before its time, and a stale one delivers only the initial events", async () => {
  const bookmark = JSON.stringify({
    type: "BOOKMARK",
    object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
  });
  const pipe = await pipeWith([line("ADDED", "a", 1), `${bookmark}\n`, line("MODIFIED", "a", 2)], true);
  pipe.stalledUntil = 10;
  assertEquals([pipe.isReady(9), pipe.isHolding(9), pipe.isReady(10)], [false, true, true]);
  pipe.staleUntil = 100;
  assertEquals(pipe.take(50).map(({ type }) => type), ["ADDED", "BOOKMARK"]);
  assertEquals([pipe.isReady(50), pipe.isReady(100)], [false, true]);
  assertEquals(pipe.take(100).map(textOf), ["MODIFIED a 2"]);
});
