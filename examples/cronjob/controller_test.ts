/** Tests of cronjob under a virtual clock: days pass at once. The clock of a World starts on 2026-01-01 at midnight UTC. */
import assert from "node:assert/strict";
import test from "node:test";
import { Job, MetricsRegistry } from "../../src/mod.ts";
import { assertRoundTrips, World } from "../../src/testing.ts";
import { cronJobController } from "./controller.ts";
import { cronJobConversion } from "./conversion.ts";
import { CronJob, CronJobV2 } from "./cronjob.ts";
import { dueRuns, scheduleProblem } from "./schedule.ts";
import { sample } from "./workloads.ts";

const hourMs = 3_600_000;
const { spec: { jobTemplate } } = sample;

async function start() {
  const metrics = new MetricsRegistry();
  return { metrics, world: await World.start({ controllers: [cronJobController(metrics)] }) };
}

/** The spec of a Job that never ends, because it is suspended. */
const endless = { spec: { suspend: true, template: jobTemplate.spec.template } };

test("a Job starts when it is due, once, and its end is noticed", async () => {
  const { world, metrics } = await start();
  await using _ = world;
  await world.create(CronJob, { name: "report", spec: { schedule: "0 * * * *", jobTemplate } });
  await world.settled();
  assert.equal(world.list(Job).length, 0);
  await world.clock.advance(hourMs);
  await world.settled();
  assert.deepEqual(world.list(Job).map(({ metadata }) => metadata.name), [
    `report-${Date.UTC(2026, 0, 1, 1) / 60_000}`,
  ]);
  const { status } = world.get(CronJob, "default/report");
  assert.deepEqual(status, { active: [], lastScheduleTime: "2026-01-01T01:00:00.000Z" });
  assert.match(await metrics.render(), /cronjob_runs_total\{result="started"\} 1/);
});

test("finished Jobs beyond the limit are deleted, the oldest first", async () => {
  const { world } = await start();
  await using _ = world;
  await world.create(CronJob, {
    name: "report",
    spec: { schedule: "@hourly", successfulJobsHistoryLimit: 2, jobTemplate },
  });
  for (let hour = 0; hour < 4; hour++) {
    await world.clock.advance(hourMs);
    await world.settled();
  }
  const minutes = [3, 4].map((hour) => `report-${Date.UTC(2026, 0, 1, hour) / 60_000}`);
  assert.deepEqual(world.list(Job).map(({ metadata }) => metadata.name), minutes);
});

for (const [policy, jobs] of [["Allow", 2], ["Forbid", 1], ["Replace", 1]] as const) {
  test(`with ${policy}, ${jobs} of two overlapping runs are active`, async () => {
    const { world } = await start();
    await using _ = world;
    const spec = { schedule: "@hourly", concurrencyPolicy: policy, jobTemplate: endless };
    await world.create(CronJob, { name: "report", spec });
    await world.clock.advance(hourMs);
    await world.settled();
    await world.clock.advance(hourMs);
    await world.settled();
    assert.equal(world.list(Job).length, jobs);
    assert.equal(world.get(CronJob, "default/report").status?.active?.length, jobs);
    const newest = policy === "Forbid" ? 1 : 2;
    assert.ok(world.find(Job, `default/report-${Date.UTC(2026, 0, 1, newest) / 60_000}`));
  });
}

test("a run that could not start before its deadline is missed, and only the newest of many runs starts", async () => {
  const { world, metrics } = await start();
  await using _ = world;
  const spec = { schedule: "@hourly", suspend: true, startingDeadlineSeconds: 60, jobTemplate };
  await world.create(CronJob, { name: "late", spec });
  await world.create(CronJob, { name: "patient", spec: { ...spec, startingDeadlineSeconds: undefined } });
  await world.clock.advance(5.5 * hourMs);
  for (const name of ["late", "patient"]) {
    await world.patch(CronJob, `default/${name}`, { kind: "merge", value: { spec: { suspend: false } } });
  }
  await world.settled();
  assert.deepEqual(world.list(Job).map(({ metadata }) => metadata.name), [
    `patient-${Date.UTC(2026, 0, 1, 5) / 60_000}`,
  ]);
  assert.match(await metrics.render(), /cronjob_runs_total\{result="missed"\} 1/);
});

test("an invalid schedule is denied with its field, and Replace gets a deadline", async () => {
  const { world } = await start();
  await using _ = world;
  const invalid = world.create(CronJob, { name: "a", spec: { schedule: "0 25 * * *", jobTemplate } });
  await assert.rejects(invalid, /spec\.schedule/);
  await world.create(CronJob, { name: "b", spec: { schedule: "@daily", concurrencyPolicy: "Replace", jobTemplate } });
  assert.equal(world.get(CronJob, "default/b").spec.startingDeadlineSeconds, 300);
});

test("v2 shows the fields of the schedule, and nothing is lost between the versions", async () => {
  assertRoundTrips(cronJobConversion);
  const { world } = await start();
  await using _ = world;
  await world.create(CronJob, { name: "a", spec: { schedule: "@daily", jobTemplate } });
  const { minute, hour, dayOfMonth } = world.get(CronJobV2, "default/a").spec.schedule;
  assert.deepEqual([minute, hour, dayOfMonth], ["0", "0", "*"]);
  await world.create(CronJobV2, { name: "b", spec: { schedule: { minute: "30" }, jobTemplate } });
  assert.equal(world.get(CronJob, "default/b").spec.schedule, "30 * * * *");
});

test("the due runs of a schedule", () => {
  const at = (text: string) => Date.parse(`${text}Z`);
  const now = at("2026-03-29T02:30:00");
  assert.deepEqual(dueRuns("0 2 * * *", at("2026-03-28T02:00:00"), now), {
    last: at("2026-03-29T02:00:00"),
    next: at("2026-03-30T02:00:00"),
  });
  assert.deepEqual(dueRuns("0 2 * * *", at("2026-03-29T02:00:00"), now).last, undefined);
  assert.equal(dueRuns("30 2 * * *", at("2026-03-28T03:00:00"), now).last, now);
  assert.equal(scheduleProblem("@daily"), undefined);
  assert.notEqual(scheduleProblem("* * * *"), undefined);
});
