/** Tests of the time that refused clients should wait. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { DroppedRequests } from "./dropped_requests.ts";

test("record() begins with a second, doubles it under many refusals, and lowers it under few", () => {
  const dropped = new DroppedRequests();
  assertEquals([dropped.record(1_000_000), dropped.record(1_000_100), dropped.record(1_000_200)], [1, 1, 1]);
  assertEquals(dropped.record(1_001_000), 2);
  for (let count = 0; count < 10; count++) dropped.record(1_002_000 + count);
  assertEquals(dropped.record(1_003_000), 4);
  for (let count = 0; count < 100_000; count++) dropped.record(1_004_000 + count);
  assertEquals(dropped.record(1_104_000), 32);
  assertEquals(dropped.record(1_140_000), 31);
});
