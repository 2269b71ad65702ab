import { assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type ObjectKey, objectKey } from "../api/mod.ts";
import { VirtualClock } from "../async/mod.ts";
import { logger } from "../observe/mod.ts";
import { LoopDetector } from "./_loop_detector.ts";
import type { EventNote } from "./request.ts";

const key = objectKey({ namespace: "shop", name: "web" });

function deployment(name: string, uid?: string): KubeObject {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "shop", name, uid } };
}

function createDetector() {
  const clock = new VirtualClock();
  const parked = new Map<ObjectKey, string>();
  const events: EventNote[] = [];
  const detector = new LoopDetector({
    queue: { park: (one, reason) => void parked.set(one, reason), unpark: (one) => parked.delete(one) },
    events: { record: (note) => void events.push(note) },
    findPrimary: () => deployment("web"),
    clock,
    log: logger("test"),
  });
  const repair = (times: number, field = "spec.replicas", of = key, desiredAt = (_time: number) => "3") => {
    for (let time = 0; time < times; time++) {
      detector.record(of, { resource: builtin.Deployment, object: deployment("web"), field, desired: desiredAt(time) });
    }
  };
  return { clock, parked, events, detector, repair };
}

test("the tenth repair of one field in five minutes parks the key, and an Event names the field", () => {
  const b = createDetector();
  b.repair(9);
  assertEquals(b.parked.size, 0);
  b.repair(1);
  assertMatch(b.parked.get(key) ?? "", /^spec\.replicas of Deployment "shop\/web" was repaired 10 times/);
  assertEquals(b.events.map((event) => [event.type, event.reason]), [["Warning", "WriteLoop"]]);
});

test("a field whose desired value changes each time parks the key at the hundredth repair only", () => {
  const b = createDetector();
  b.repair(99, "status.replicas", key, (time) => `${time}`);
  assertEquals(b.parked.size, 0);
  b.repair(1, "status.replicas", key, () => "99");
  assertMatch(b.parked.get(key) ?? "", /repaired 100 times/);
});

test("a parked key is released after ten minutes, and counting starts over", async () => {
  const b = createDetector();
  b.repair(10);
  await b.clock.advance(10 * 60_000);
  assertEquals(b.parked.size, 0);
  b.repair(9);
  assertEquals(b.parked.size, 0);
});

test("repairs of different fields, of other keys, and slow repairs are counted separately", async () => {
  const b = createDetector();
  for (let field = 0; field < 20; field++) b.repair(1, `data.f${field}`);
  b.repair(9, "spec.replicas", objectKey({ namespace: "shop", name: "other" }));
  for (let time = 0; time < 20; time++) {
    b.repair(1, "spec.paused");
    await b.clock.advance(60_000);
  }
  assertEquals(b.parked.size, 0);
});

test("an object that was deleted and created again is counted from the start", () => {
  const b = createDetector();
  for (let time = 0; time < 20; time++) {
    const object = deployment("web", `uid-${time >> 2}`);
    b.detector.record(key, { resource: builtin.Deployment, object, field: "spec.replicas", desired: "3" });
  }
  assertEquals(b.parked.size, 0);
});

test("a disposed detector has no timer left", () => {
  const b = createDetector();
  b.repair(10);
  b.detector[Symbol.dispose]();
  assertEquals(b.clock.pendingTimers, 0);
});
