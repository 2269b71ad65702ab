import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { assertEquals, assertRejects, assertStringIncludes, assertThrows, test } from "../../../tests/testing.ts";
import { refuseOutgoingCalls } from "./outgoing_calls.ts";

test("refuseOutgoingCalls() refuses fetch, WebSockets and sockets with the origin only, until it is disposed", async () => {
  const { fetch, WebSocket } = globalThis;
  const datagrams = createSocket("udp4");
  {
    using _guard = refuseOutgoingCalls("a test calls nobody");
    const error = await assertRejects(() => globalThis.fetch("http://127.0.0.1:9/path?token=secret"));
    assertStringIncludes(error.message, "Cannot call http://127.0.0.1:9: a test calls nobody");
    assertThrows(() => connect(9, "127.0.0.1"), /^Cannot call another system: a test calls nobody$/);
    assertThrows(
      () => new globalThis.WebSocket("ws://127.0.0.1:9/path?token=secret"),
      /^Cannot call ws:\/\/127.0.0.1:9: a test calls nobody$/,
    );
    assertThrows(() => datagrams.send("a", 9, "127.0.0.1"), /^Cannot call another system: a test calls nobody$/);
  }
  datagrams.close();
  assertEquals([globalThis.fetch === fetch, globalThis.WebSocket === WebSocket], [true, true]);
});
