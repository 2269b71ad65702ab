import { join } from "node:path";
import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { Folder } from "./_folder_test_data.ts";
import { KnownPods } from "./known_pods.ts";

/** What the source asks to be looked at, until its signal aborts. */
async function enqueued(known: KnownPods): Promise<readonly string[]> {
  const keys: string[] = [];
  const stop = new AbortController();
  const running = known.source.run((key) => keys.push(key), stop.signal);
  stop.abort();
  await running;
  return keys;
}

test("a file that is not there yet is an empty one, and is made at once", async () => {
  await using folder = await Folder.make();
  const known = await KnownPods.open(join(folder.path, "known"), []);
  assertEquals(await enqueued(known), []);
  assertEquals([await folder.read("known"), await folder.mode("known")], ["", 0o600]);
});

test("what was printed is known: Pods that are there are, those that have gone are not", async () => {
  await using folder = await Folder.make();
  const path = await folder.write("known", "a/old\nb/gone\n");
  const known = await KnownPods.open(path, []);
  known.note("a/z", true);
  known.note("a/__proto__", true);
  known.note("b/gone", false);
  known.note("b/never-seen", false);
  await known.save();
  assertEquals([await folder.read("known"), await folder.mode("known")], ["a/__proto__\na/old\na/z\n", 0o600]);
  assertEquals(await enqueued(await KnownPods.open(path, [])), ["a/__proto__", "a/old", "a/z"]);
});

test("Pods of other namespaces are not looked at, and not forgotten either", async () => {
  await using folder = await Folder.make();
  const path = await folder.write("known", "a/one\nb/two\nc/three\n");
  const known = await KnownPods.open(path, ["b", "c"]);
  assertEquals(await enqueued(known), ["b/two", "c/three"]);
  known.note("b/two", false);
  await known.save();
  assertEquals(await folder.read("known"), "a/one\nc/three\n");
});

test("it is saved when the others have ended", async () => {
  await using folder = await Folder.make();
  const known = await KnownPods.open(join(folder.path, "known"), []);
  const [stop, kill] = [new AbortController(), new AbortController()];
  const running = known.saver.run({ stop: stop.signal, kill: kill.signal });
  known.note("a/b", true);
  assertEquals(await folder.read("known"), "");
  stop.abort();
  await running;
  assertEquals(await folder.read("known"), "a/b\n");
});

test("a name that would break the file is not written to it", async () => {
  await using folder = await Folder.make();
  const known = await KnownPods.open(join(folder.path, "known"), []);
  for (const key of ["a/b\nc/d", "a/b c", "a/b/c", "a", "a/", "a/\u001b[31m"]) known.note(key, true);
  await known.save();
  assertEquals(await folder.read("known"), "");
});

test("a file that no earlier run wrote is refused, with the line; and so is one that cannot be written", async () => {
  await using folder = await Folder.make();
  for (const [text, line] of [["mypod\n", 1], ["a/b\n{}\n", 2], ["a/b\n\na/b/c", 3], ["a/\u0000\n", 1]] as const) {
    const path = await folder.write("known", text);
    await assertRejects(() => KnownPods.open(path, []), new RegExp(`Cannot read known Pods: line ${line} of`));
    assertEquals(await folder.read("known"), text);
  }
  await assertRejects(() => KnownPods.open(folder.path, []), /Cannot read known Pods: /);
  await assertRejects(() => KnownPods.open(join(folder.path, "no", "known"), []), /Cannot write known Pods: /);
});
