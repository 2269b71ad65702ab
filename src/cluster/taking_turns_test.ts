/** Tests of the transport that leaves time for others. */
import { VirtualClock } from "../async/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { takingTurns } from "./_taking_turns.ts";

function setUp() {
  const clock = new VirtualClock();
  const passedOn: string[] = [];
  const transport = takingTurns((request) => {
    passedOn.push(new URL(request.url).pathname);
    return Promise.resolve(new Response());
  }, clock);
  return { clock, passedOn, send: (path: string) => transport(new Request(`http://in.memory${path}`)) };
}

/** Everything that promises alone can do. */
async function microtasks(): Promise<void> {
  for (let count = 0; count < 20; count++) await Promise.resolve();
}

test("a request that follows closely on others is passed on without a turn of the event loop", async () => {
  const { clock, passedOn, send } = setUp();
  await clock.advance(3);
  const answer = send("/a");
  await microtasks();
  assertEquals(passedOn, ["/a"]);
  await answer;
});

test("after 4 ms of work the next requests wait for a turn of the event loop, in their order", async () => {
  const { clock, passedOn, send } = setUp();
  await clock.advance(4);
  const answers = [send("/a"), send("/b")];
  await microtasks();
  assertEquals(passedOn, []);
  await Promise.all(answers);
  assertEquals(passedOn, ["/a", "/b"]);
  const next = send("/c");
  await microtasks();
  assertEquals(passedOn, ["/a", "/b", "/c"], "the turn was taken");
  await next;
});
