/** Tests of UnreadBytes: what waits, and for how long. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { UnreadBytes } from "./unread_bytes.ts";

const bytes = (count: number) => new Uint8Array(count);

/** Runs what waits for nothing but promises that are settled. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

/** Says whether a promise is settled. */
function watched(promise: Promise<unknown>): { isSettled: boolean } {
  const state = { isSettled: false };
  promise.then(() => state.isSettled = true);
  return state;
}

test("UnreadBytes: a push waits while more than the limit is unread", async () => {
  const unread = new UnreadBytes(4);
  await unread.push(bytes(4));
  const push = watched(unread.push(bytes(2)));
  await turns();
  assertEquals(push.isSettled, false);
  assertEquals((await unread.read())?.length, 4);
  await turns();
  assertEquals(push.isSettled, true);
});

test("UnreadBytes: read() waits for bytes, and returns undefined after the end", async () => {
  const unread = new UnreadBytes(4);
  const first = unread.read();
  await unread.push(bytes(1));
  assertEquals((await first)?.length, 1);
  await unread.push(bytes(2));
  unread.end();
  assertEquals(unread.hasEnded, true);
  assertEquals((await unread.read())?.length, 2);
  assertEquals(await unread.read(), undefined);
});

test("UnreadBytes: end() ends a read that waits", async () => {
  const unread = new UnreadBytes(4);
  const read = unread.read();
  unread.end();
  assertEquals(await read, undefined);
});

test("UnreadBytes: lift() ends a push that waits, and later ones do not wait", async () => {
  const unread = new UnreadBytes(4);
  const push = watched(unread.push(bytes(5)));
  await turns();
  assertEquals(push.isSettled, false);
  unread.lift();
  await turns();
  assertEquals(push.isSettled, true);
  await unread.push(bytes(100));
  assertEquals([(await unread.read())?.length, (await unread.read())?.length], [5, 100]);
});
