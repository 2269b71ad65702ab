import { assert, assertEquals, test } from "../../tests/testing.ts";
import { builtin, type Infer } from "../api/mod.ts";
import { templateOf, TestCluster, type TestClusterOptions } from "./testing/test_cluster.ts";

const { CronJob, Event, Job, Pod } = builtin;
const key = "default/report";
const hour = 3_600_000;

async function start(spec: object, options?: TestClusterOptions): Promise<TestCluster> {
  const cluster = await TestCluster.start(options);
  const template = templateOf("report", "app:1", { restartPolicy: "OnFailure" });
  const jobTemplate = { metadata: { labels: { app: "report" } }, spec: { template } };
  await cluster.create(CronJob, "report", { spec: { schedule: "*/5 * * * *", jobTemplate, ...spec } });
  await cluster.settled();
  return cluster;
}

const slow: TestClusterOptions = { pace: { runMs: 7 * 60_000 } };

/** Lets minutes pass. */
async function minutes(cluster: TestCluster, count: number): Promise<void> {
  await cluster.pass(count * 60_000, undefined, 5_000);
}

/** The minutes, since the start of the clock, of the Jobs. */
function started(cluster: TestCluster): readonly number[] {
  return cluster.names(Job).map((name) => Number(name.replace("report-", "")) - Date.UTC(2026, 0, 1) / 60_000);
}

function reasons(cluster: TestCluster): ReadonlySet<string | undefined> {
  const events = cluster.list(Event).filter(({ regarding }) => regarding?.kind === "CronJob");
  return new Set(events.map(({ reason }) => reason));
}

const active = (cluster: TestCluster): readonly (string | undefined)[] | undefined =>
  cluster.get(CronJob, key).status?.active?.map(({ name }: Infer<typeof Event>["regarding"] & object) => name);

test("a CronJob creates a Job at each time, named after its minute, and counts its success", async () => {
  await using cluster = await start({});
  await minutes(cluster, 11);
  assertEquals(started(cluster), [5, 10]);
  const job = cluster.list(Job)[0];
  assertEquals(job?.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"], "2026-01-01T00:05:00Z");
  assertEquals([job?.metadata.labels?.["app"], job?.metadata.ownerReferences?.[0]?.kind], ["report", "CronJob"]);
  const { status } = cluster.get(CronJob, key);
  assertEquals([status?.active, status?.lastScheduleTime], [undefined, "2026-01-01T00:10:00Z"]);
  assertEquals(status?.lastSuccessfulTime, cluster.list(Job)[1]?.status?.completionTime);
  assertEquals(reasons(cluster), new Set(["SuccessfulCreate", "SawCompletedJob"]));
});

test("the history limits keep the newest Jobs, and the CronJob takes all of them with it", async () => {
  await using cluster = await start({ successfulJobsHistoryLimit: 2 });
  await minutes(cluster, 26);
  assertEquals(started(cluster), [20, 25]);
  assert(reasons(cluster).has("SuccessfulDelete"));
  await cluster.delete(CronJob, key, { propagationPolicy: "Background" });
  await cluster.settled();
  assertEquals([cluster.names(Job), cluster.names(Pod)], [[], []]);
});

for (
  const [policy, jobs, running, reason] of [
    ["Allow", [5, 10], ["report-29453765", "report-29453770"], "SuccessfulCreate"],
    ["Forbid", [5], ["report-29453765"], "JobAlreadyActive"],
    ["Replace", [10], ["report-29453770"], "SuccessfulDelete"],
  ] as const
) {
  test(`a Job that still runs at the next time, with the concurrency policy ${policy}: ${reason}`, async () => {
    await using cluster = await start({ concurrencyPolicy: policy }, slow);
    await minutes(cluster, 11);
    assertEquals([started(cluster), active(cluster)], [jobs, running]);
    assert(reasons(cluster).has(reason));
  });
}

test("Forbid starts the Job of a time that has passed as soon as the one before has ended", async () => {
  await using cluster = await start({ concurrencyPolicy: "Forbid" }, slow);
  await minutes(cluster, 14);
  assertEquals([started(cluster), cluster.get(CronJob, key).status?.lastScheduleTime], [
    [5, 10],
    "2026-01-01T00:10:00Z",
  ]);
});

test("a suspended CronJob starts nothing; resumed, it starts the most recent of the missed times", async () => {
  await using cluster = await start({ suspend: true });
  await minutes(cluster, 17);
  assertEquals(started(cluster), []);
  await cluster.patch(CronJob, key, { spec: { suspend: false } });
  await cluster.settled();
  assertEquals(started(cluster), [15]);
});

test("a time that is missed by more than startingDeadlineSeconds starts nothing", async () => {
  await using cluster = await start({ suspend: true, startingDeadlineSeconds: 60 });
  await minutes(cluster, 17);
  await cluster.patch(CronJob, key, { spec: { suspend: false } });
  await cluster.settled();
  assertEquals(started(cluster), []);
  await minutes(cluster, 4);
  assertEquals(started(cluster), [20]);
});

test("more than 100 missed times are an Event, and the most recent one starts", async () => {
  await using cluster = await start({ suspend: true, schedule: "* * * * *" });
  await cluster.pass(2 * hour + 30_000, undefined, 60_000);
  await cluster.patch(CronJob, key, { spec: { suspend: false } });
  await cluster.settled();
  assertEquals(started(cluster), [121]);
  assert(reasons(cluster).has("TooManyMissedTimes"));
});

test("a changed schedule starts nothing for a time before the change", async () => {
  await using cluster = await start({ schedule: "0 12 * * *" });
  await minutes(cluster, 7);
  await cluster.patch(CronJob, key, { spec: { schedule: "*/2 * * * *" } });
  await cluster.settled();
  assertEquals(started(cluster), []);
  await minutes(cluster, 1);
  assertEquals(started(cluster), [8]);
});

test("the time zone decides when, and a schedule without a time says so", async () => {
  await using cluster = await start({ schedule: "30 9 * * *", timeZone: "Asia/Tokyo" });
  await cluster.pass(hour, undefined, 60_000);
  assertEquals(started(cluster), [30]);
  const { annotations } = cluster.list(Job)[0]?.metadata ?? {};
  assertEquals(annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"], "2026-01-01T09:30:00+09:00");
  await cluster.patch(CronJob, key, { spec: { schedule: "0 0 31 2 *" } });
  await minutes(cluster, 2);
  await cluster.patch(CronJob, key, { metadata: { labels: { a: "b" } } });
  await cluster.settled();
  assert(reasons(cluster).has("InvalidSchedule"));
});

test("a Job that a user deletes while it runs is reported, and is active no more", async () => {
  await using cluster = await start({}, slow);
  await minutes(cluster, 6);
  const [name] = active(cluster) ?? [];
  await cluster.delete(Job, `default/${name}`, { propagationPolicy: "Background" });
  await cluster.settled();
  assertEquals([active(cluster), started(cluster)], [undefined, []]);
  assert(reasons(cluster).has("MissingJob"));
});
