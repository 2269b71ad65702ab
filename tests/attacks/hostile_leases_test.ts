/**
 * Attacks with Leases: whoever may write the Lease of a leader election writes odd holders, durations, times and counts
 * into it. A generator combines them; other Leases have fields of other types, as a hostile server sends them.
 *
 * The rules: a standby never leads before the lease duration has passed since the Lease changed, and leads when that and
 * the duration in the Lease have passed; a Lease that no client of Go could read is never taken; no process ends, and
 * what is logged about a Lease is short and on one line.
 */
import { seededRandom } from "../../src/async/mod.ts";
import type { Logger } from "../../src/observe/mod.ts";
import { LeaseLostError } from "../../src/manager/mod.ts";
import { ElectionCluster } from "../../src/manager/testing/election_cluster.ts";
import { assert, assertEquals, test } from "../testing.ts";

const leaseDurationMs = 15_000;
const retryPeriodMs = 2_000;
const random = seededRandom(14);
const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random.next() * list.length)];

const holders = [
  "x",
  "x".repeat(1_000_000),
  "\x1b]0;owned\x07",
  "a\nERROR forged",
  "__proto__",
  " ",
  "\u202eevil",
  "b ",
];
const times = [
  undefined,
  null,
  "",
  "garbage",
  "9999-12-31T23:59:59.999999Z",
  "-000001-01-01T00:00:00Z",
  "1970-01-01T00:00:00Z",
  "2026-01-01T00:00:00.000000Z",
];
const durations = [undefined, null, 0, -1, -(2 ** 31), 1, 15, 40];
const transitions = [undefined, null, 0, -5, 2 ** 31 - 1, 7];
/** No int32: a client of Go cannot read them. */
const unreadable = [1e300, 2 ** 31, 1.5, "15", {}, [], true];

function recording(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const shown = (_: string, value: unknown) => value instanceof Error ? value.message : value;
  const add = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields, shown)}`);
  const log: Logger = { debug: add, info: add, warn: add, error: add, with: () => log };
  return { log, lines };
}

function assertShort(lines: readonly string[]): void {
  for (const line of lines) {
    assert(line.length < 2_000, `${line.length} characters`);
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x1f\u202e]|\\n|\\u001b/.test(line), line);
  }
}

test("[47] a standby takes a Lease with an odd record when it is due, neither earlier nor never", async () => {
  for (let round = 0; round < 120; round++) {
    const cluster = new ElectionCluster();
    const { log, lines } = recording();
    const leaseDurationSeconds = pick(durations);
    const leaseTransitions = pick(transitions);
    const holderIdentity = pick(holders);
    const spec = {
      holderIdentity,
      leaseDurationSeconds,
      leaseTransitions,
      acquireTime: pick(times),
      renewTime: pick(times),
    };
    cluster.server.put({ metadata: { namespace: "shop", name: "operator" }, spec });
    const { elector, stop } = cluster.replica("b", { log });
    const acquiring = elector.acquire(stop.signal);
    const label = JSON.stringify(spec).slice(0, 300);
    const dueMs = Math.max(leaseDurationMs, (leaseDurationSeconds ?? 0) * 1_000);
    await cluster.pass(leaseDurationMs - 1);
    assertEquals(elector.state.kind, "standby", label);
    const leadership = await cluster.within(dueMs - leaseDurationMs + 2 * retryPeriodMs, acquiring);
    const written = cluster.spec["leaseTransitions"];
    assertEquals(written, Math.min(Math.max(0, leaseTransitions ?? 0) + 1, 2 ** 31 - 1), label);
    assertEquals(cluster.spec["holderIdentity"], "b");
    await cluster.within(100, leadership.release());
    assertShort(lines);
  }
});

test("[47] a Lease that no client could read is never taken, and is taken when it is mended", async () => {
  for (const field of ["leaseDurationSeconds", "leaseTransitions", "holderIdentity", "renewTime", "acquireTime"]) {
    for (const value of unreadable) {
      const isText = field === "holderIdentity" || field.endsWith("Time");
      if (isText && typeof value === "string") continue;
      const cluster = new ElectionCluster();
      const { log, lines } = recording();
      const metadata = { namespace: "shop", name: "operator" };
      const good = { holderIdentity: "x", leaseDurationSeconds: 15, leaseTransitions: 1 };
      cluster.server.put({ metadata, spec: { ...good, [field]: value } });
      const { elector, stop } = cluster.replica("b", { log });
      const acquiring = elector.acquire(stop.signal);
      await cluster.pass(60_000);
      assertEquals(elector.state.kind, "standby", `${field} ${JSON.stringify(value)}`);
      cluster.server.put({ metadata, spec: good });
      await cluster.within(leaseDurationMs + 2 * retryPeriodMs, acquiring).then((term) =>
        cluster.within(100, term.release())
      );
      assertShort(lines);
    }
  }
});

test("[50] a leader whose Lease is overwritten by an odd holder stops, and says so in a short line", async () => {
  for (const holderIdentity of holders) {
    const cluster = new ElectionCluster();
    const { log, lines } = recording();
    const { leadership } = await cluster.leader("a", { log });
    cluster.server.edit({ holderIdentity, leaseDurationSeconds: pick(durations), renewTime: pick(times) });
    await cluster.pass(12_000);
    assertEquals(leadership.mayWrite(), false);
    assert(leadership.lost instanceof LeaseLostError && leadership.lost.message.length < 1_000);
    assertShort([...lines, leadership.lost.message]);
  }
});
