import { assertEquals, test } from "../../../tests/testing.ts";
import { writeResponse } from "./response_writer.ts";

test("a response with an announced length is one write, so that no client waits for a delayed acknowledgement", async () => {
  for (const status of [200, 201, 422]) {
    const writes: Uint8Array[] = [];
    const sink = { write: (bytes: Uint8Array) => Promise.resolve(writes.push(bytes) > 0) };
    const response = new Response("body", { status, headers: { "content-length": "4" } });
    assertEquals(await writeResponse(sink, response, { method: "PATCH", keepsAlive: true }), true);
    assertEquals(writes.length, 1);
    assertEquals(new TextDecoder().decode(writes[0]).endsWith("content-length: 4\r\n\r\nbody"), true);
  }
});
