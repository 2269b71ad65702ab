/** Tests which writes of replicas are violations. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { ProgramLeader } from "./program_leader.ts";

const api = "http://api";

/** Plays writes of processes at times in seconds. @returns the messages */
function played(...writes: readonly (readonly [seconds: number, process: number, path: string])[]): readonly string[] {
  let now = 0;
  const processes = [1, 2].map((id) => ({ id, hasEnded: false }));
  const leader = new ProgramLeader<(typeof processes)[number]>((request) => request.url.includes("/lock"), () => now);
  for (const [seconds, id, path] of writes) {
    now = seconds * 1_000;
    const process = processes[id - 1];
    if (process !== undefined) leader.noteWrite(process, new Request(`${api}${path}`, { method: "PUT" }));
  }
  return leader.violations().map(({ message }) => message);
}

const lease = "/apis/coordination.k8s.io/v1/namespaces/n/leases/l";
const lock = "/api/v1/namespaces/n/configmaps/lock";
const secret = "/api/v1/namespaces/n/secrets/a";

test("the replica with the lock writes, and another one does not", () => {
  assertEquals(played([0, 1, lease], [1, 1, secret], [2, 2, lease], [3, 2, secret]), []);
  assertEquals(played([0, 1, lock], [20, 1, secret]), []);
});

test("a process has some time to learn that it has lost the lock", () => {
  assertEquals(played([0, 1, lease], [5, 2, lease], [12, 1, secret]), []);
  assertEquals(played([0, 1, lease], [5, 2, lease], [25, 1, secret], [30, 1, secret]), [
    "a replica writes more than 10 s after another one has acquired the lock",
  ]);
});

test("two replicas without a lock are a violation, and Events are none of their writes", () => {
  assertEquals(played([0, 1, secret], [1, 2, "/api/v1/namespaces/n/events/e"]), []);
  assertEquals(played([0, 1, secret], [1, 2, secret]), [
    "two replicas write, and none of them has a lock",
  ]);
});
