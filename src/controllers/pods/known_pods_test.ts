import { join } from "node:path";
import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";

import { VirtualClock } from "../../testing.ts";
import { KnownPods } from "./known_pods.ts";
import { files, TestFolder } from "./testing/test_folder.ts";

function open(path: string, namespaces: readonly string[]): Promise<KnownPods> {
  return KnownPods.open(path, { namespaces, files });
}

/** Returns the keys that the source enqueues. */
async function enqueued(known: KnownPods): Promise<readonly string[]> {
  const keys: string[] = [];
  const stop = new AbortController();
  const caches = { find: () => undefined, list: () => [] };
  const context = { clock: new VirtualClock(), caches, keys: () => [] };
  const running = known.source.run((key) => keys.push(key), stop.signal, context);
  stop.abort();
  await running;
  return keys;
}

test("a missing file counts as empty and is created at once", async () => {
  await using folder = await TestFolder.create();
  const known = await open(join(folder.path, "known"), []);
  assertEquals(await enqueued(known), []);
  assertEquals([await folder.read("known"), await folder.mode("known")], ["", 0o600]);
});

test("the file contains the printed Pods that exist, without those that were deleted", async () => {
  await using folder = await TestFolder.create();
  const path = await folder.write("known", "a/old\nb/gone\n");
  const known = await open(path, []);
  known.record("a/z", true);
  known.record("a/__proto__", true);
  known.record("b/gone", false);
  known.record("b/never-seen", false);
  await known.save();
  assertEquals([await folder.read("known"), await folder.mode("known")], ["a/__proto__\na/old\na/z\n", 0o600]);
  assertEquals(await enqueued(await open(path, [])), ["a/__proto__", "a/old", "a/z"]);
});

test("Pods of other namespaces are not enqueued and stay in the file", async () => {
  await using folder = await TestFolder.create();
  const path = await folder.write("known", "a/one\nb/two\nc/three\n");
  const known = await open(path, ["b", "c"]);
  assertEquals(await enqueued(known), ["b/two", "c/three"]);
  known.record("b/two", false);
  await known.save();
  assertEquals(await folder.read("known"), "a/one\nc/three\n");
});

test("the file is saved after the controllers have stopped", async () => {
  await using folder = await TestFolder.create();
  const known = await open(join(folder.path, "known"), []);
  const [stop, kill] = [new AbortController(), new AbortController()];
  const running = known.saver.run({ stop: stop.signal, kill: kill.signal });
  known.record("a/b", true);
  assertEquals(await folder.read("known"), "");
  stop.abort();
  await running;
  assertEquals(await folder.read("known"), "a/b\n");
});

test("an invalid key is not written to the file", async () => {
  await using folder = await TestFolder.create();
  const known = await open(join(folder.path, "known"), []);
  for (const key of ["a/b\nc/d", "a/b c", "a/b/c", "a", "a/", "a/\u001b[31m"]) known.record(key, true);
  await known.save();
  assertEquals(await folder.read("known"), "");
});

test("a file of another format is an error with the line, and so is a file that cannot be written", async () => {
  await using folder = await TestFolder.create();
  for (const [text, line] of [["mypod\n", 1], ["a/b\n{}\n", 2], ["a/b\n\na/b/c", 3], ["a/\u0000\n", 1]] as const) {
    const path = await folder.write("known", text);
    await assertRejects(() => open(path, []), new RegExp(`Cannot read known Pods: line ${line} of`));
    assertEquals(await folder.read("known"), text);
  }
  await assertRejects(() => open(folder.path, []), /Cannot read known Pods: /);
  await assertRejects(() => open(join(folder.path, "no", "known"), []), /Cannot write known Pods: /);
});
