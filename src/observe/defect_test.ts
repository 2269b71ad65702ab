import { assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { stacksToShow } from "./defect.ts";

class ConflictError extends Error {
  override readonly name = "ConflictError";
}

/** The first lines of the stacks that are shown. */
function shown(error: unknown, isVerbose = false): readonly string[] {
  return stacksToShow(error, isVerbose).map((stack) => stack.split("\n")[0] ?? "");
}

test("the stack of a defect is shown, also when a plain error wraps it", () => {
  const defect = new TypeError("x is undefined");
  assertEquals(shown(defect), ["TypeError: x is undefined"]);
  assertEquals(shown(new Error("Cannot reconcile", { cause: defect })), ["TypeError: x is undefined"]);
  assertStringIncludes(stacksToShow(defect, false)[0] ?? "", "defect_test.ts");
});

test("an expected error shows no stack, not even with -v or because of its cause", () => {
  const cause = new TypeError("fetch failed");
  const refused = Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
  const expected = [new ConflictError("409", { cause }), refused, new DOMException("stopped", "AbortError"), "text"];
  for (const error of expected) {
    for (const isVerbose of [false, true]) {
      assertEquals(shown(error, isVerbose), []);
      assertEquals(shown(new Error("Cannot go on", { cause: error }), isVerbose).length, isVerbose ? 1 : 0);
    }
  }
});

test("a plain error shows its stack only with -v", () => {
  const error = new Error("boom");
  assertEquals([shown(error), shown(error, true)], [[], ["Error: boom"]]);
});

test("an error that is its own cause is shown a few times", () => {
  const error = new TypeError("loop");
  error.cause = error;
  assertEquals(shown(error).length, 8);
});
