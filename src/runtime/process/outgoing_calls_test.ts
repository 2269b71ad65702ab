import { connect } from "node:net";
import { assertRejects, assertStringIncludes, assertThrows, test } from "../../../tests/testing.ts";
import { refuseOutgoingCalls } from "./outgoing_calls.ts";

test("refuseOutgoingCalls() refuses fetch and sockets with the origin only, until it is disposed", async () => {
  const { fetch } = globalThis;
  {
    using _guard = refuseOutgoingCalls("a test calls nobody");
    const error = await assertRejects(() => globalThis.fetch("http://127.0.0.1:9/path?token=secret"));
    assertStringIncludes(error.message, "Cannot call http://127.0.0.1:9: a test calls nobody");
    assertThrows(() => connect(9, "127.0.0.1"), /^Cannot call another system: a test calls nobody$/);
  }
  if (globalThis.fetch !== fetch) throw new Error("fetch is not restored");
});
