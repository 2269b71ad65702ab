/** Tests of the checks of failover_test.ts: they must find each way in which two processes can write at the wrong time. */
import { assertEquals, assertThrows, test } from "../testing.ts";
import { assertOneWriterAtATime, claimsOf, createdBy, releasesOf, type Sender } from "./_election_record.ts";
import type { SeenRequest } from "./_proxy.ts";

const renewDeadlineMs = 1_000;

function lease(at: number, holder: string, acquireTime = "", status = 200): SeenRequest {
  const body = JSON.stringify({ spec: { holderIdentity: holder, acquireTime } });
  const path = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/operator";
  return { method: "PUT", path, at, body, response: { status, at: at + 5 } };
}

function work(at: number, status = 201): SeenRequest {
  const path = "/apis/apps/v1/namespaces/shop/deployments?fieldManager=foo";
  return { method: "POST", path, at, body: "{}", response: { status, at: at + 5 } };
}

function judge(a: readonly SeenRequest[], b: readonly SeenRequest[]): void {
  assertOneWriterAtATime([{ name: "a", requests: a }, { name: "b", requests: b }], renewDeadlineMs);
}

test("a hand-over, a crash and a return are accepted", () => {
  judge([lease(0, "a", "1"), work(10), lease(20, "")], [lease(30, "b", "2"), work(40)]);
  judge([lease(0, "a", "1"), work(900)], [lease(2_000, "b", "2"), work(2_010)]);
  judge([lease(0, "a", "1"), work(10), lease(3_000, "a", "3"), work(3_010)], [lease(2_000, "b", "2"), work(2_500)]);
});

const offences = [
  ["who never held the Lease", [work(10)], [], /a sent POST .* without ever having held/],
  ["who was refused the Lease", [lease(0, "a", "1", 409), work(10)], [], /without ever having held/],
  ["whose renewal is too old", [lease(0, "a", "1"), work(1_300)], [], /1300 ms after its last renewal/],
  ["who gave the Lease up", [lease(0, "a", "1"), lease(5, ""), work(10)], [], /after it had given the Lease up/],
  ["whose Lease another has", [lease(0, "a", "1"), work(50)], [lease(20, "b", "2")], /when b held the Lease/],
] as const;

for (const [who, a, b, pattern] of offences) {
  test(`a write of one ${who} is found`, () => {
    assertThrows(() => judge(a, b), pattern);
  });
}

test("two processes that write in turns are found, even if each of them claims the Lease", () => {
  const a = [lease(0, "a", "1"), work(100), lease(104, "a", "1"), work(120)];
  assertThrows(() => judge(a, [lease(90, "b", "2"), work(110)]), /held the Lease|wrote in turns/);
});

test("claims, releases and creations are distinguished, and counted when the server accepted them", () => {
  const requests = [
    lease(0, "a", "1"),
    lease(10, "a", "1"),
    lease(20, ""),
    lease(30, "a", "2"),
    lease(40, "", "", 409),
  ];
  const a: Sender = { name: "a", requests: [...requests, work(35), work(36, 409)] };
  assertEquals(claimsOf(a).map(({ at, isRenewal }) => [at, isRenewal]), [[0, false], [10, true], [30, false]]);
  assertEquals(releasesOf(a), [{ at: 20 }]);
  assertEquals(createdBy([a], "deployments"), 1);
});
