/** Tests of boundedText(). */
import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { boundedText } from "./bounded_text.ts";

/** A response of chunks, and whether its body was cancelled. */
function responseOf(
  chunks: readonly Uint8Array[],
): { readonly response: Response; readonly state: { isCancelled: boolean } } {
  const [state, rest] = [{ isCancelled: false }, [...chunks]];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = rest.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel() {
      state.isCancelled = true;
    },
  }, { highWaterMark: 0 });
  return { response: new Response(body), state };
}

test("boundedText() joins a character that two chunks share", async () => {
  const bytes = new TextEncoder().encode("aé");
  const { response } = responseOf([bytes.subarray(0, 2), bytes.subarray(2)]);
  assertEquals(await boundedText(response, { maxBytes: 3, what: "answer" }), "aé");
});

test("boundedText() refuses a larger body and cancels the rest", async () => {
  const { response, state } = responseOf([new Uint8Array(3), new Uint8Array(1), new Uint8Array(1)]);
  await assertRejects(
    () => boundedText(response, { maxBytes: 3, what: "answer" }),
    /the answer has more than 3 bytes/,
  );
  assertEquals(state.isCancelled, true);
});

test("boundedText() of a response without a body is empty", async () => {
  assertEquals(await boundedText(new Response(null), { maxBytes: 3, what: "answer" }), "");
});
