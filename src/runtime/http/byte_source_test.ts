import { Socket } from "node:net";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { ByteCollector, ByteSource } from "./byte_source.ts";

const events = { onHalfClose: () => {}, onClose: () => {} };

test("[security 13] a refused client is read for a bounded number of bytes, whose memory is freed at once", () => {
  const socket = new Socket();
  const source = new ByteSource(socket, events);
  const before = new Uint8Array(100_000);
  socket.emit("data", before);
  source.discard(150_000);
  assertEquals([before.length, source.bytes.length, socket.isPaused()], [0, 0, false]);
  const first = new Uint8Array(100_000), second = new Uint8Array(100_000);
  socket.emit("data", first);
  assertEquals([first.length, socket.isPaused()], [0, false]);
  socket.emit("data", second);
  assertEquals([second.length, source.bytes.length, socket.isPaused()], [0, 0, true]);
});

test("[security 13] the memory of a body is at most half larger than what was received, and never above its limit", () => {
  const maxBytes = 1_000_000;
  const body = new ByteCollector(maxBytes);
  let held = 0, received = 0;
  for (const part of [1, 5_000, 64_000, 200_000, 1, 100_000, 524_288, 106_710]) {
    held += body.growthBytes(part);
    body.add(new Uint8Array(part).fill(7));
    received += part;
    assertEquals(body.bytes().length, received);
    assert(held === body.bytes().buffer.byteLength, `${held} bytes are counted`);
    assert(held <= maxBytes && held <= Math.max(4096, received * 1.5), `${held} bytes for ${received}`);
  }
  body.release();
  assertEquals(body.bytes().length, 0);
});
