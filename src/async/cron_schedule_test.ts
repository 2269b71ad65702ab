import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { CronSchedule, zonedTimeText } from "./cron_schedule.ts";

/** The next times after one, in the zone. */
function times(schedule: string, after: string, count: number, zone?: string): readonly string[] {
  const parsed = CronSchedule.parse(schedule, zone);
  const found: string[] = [];
  for (let at = parsed.next(Date.parse(after)); at !== undefined && found.length < count; at = parsed.next(at)) {
    found.push(zonedTimeText(at, zone));
  }
  return found;
}

// Each list was compared with robfig/cron v3.0.1.
for (
  const [schedule, after, expected] of [
    ["*/20 * * * *", "2026-01-01T00:00:30Z", ["2026-01-01T00:20:00Z", "2026-01-01T00:40:00Z", "2026-01-01T01:00:00Z"]],
    ["5/20 1 * * *", "2026-01-01T00:00:00Z", ["2026-01-01T01:05:00Z", "2026-01-01T01:25:00Z", "2026-01-01T01:45:00Z"]],
    ["0 0 13 * fri", "2026-02-01T00:00:00Z", ["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"]],
    ["0 0 */10 * 1", "2026-02-01T00:00:00Z", ["2026-02-02T00:00:00Z", "2026-02-09T00:00:00Z", "2026-02-11T00:00:00Z"]],
    ["0 0 29 2 ?", "2026-02-01T00:00:00Z", ["2028-02-29T00:00:00Z"]],
    ["30 6-16/4 * * 1-5", "2026-01-02T15:00:00Z", ["2026-01-05T06:30:00Z", "2026-01-05T10:30:00Z"]],
    ["@weekly", "2026-01-01T00:00:00Z", ["2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"]],
    ["@every 1h30m", "2026-01-01T00:00:10Z", ["2026-01-01T01:30:10Z", "2026-01-01T03:00:10Z"]],
    ["@every 10ms", "2026-01-01T00:00:00Z", ["2026-01-01T00:00:01Z"]],
    ["59 23 31 2 *", "2026-01-01T00:00:00Z", []],
  ] as const
) {
  test(`the times of "${schedule}" are those of robfig/cron`, () => {
    assertEquals(times(schedule, after, expected.length || 1), expected);
  });
}

test("a time that the clock skips is skipped, and one that it shows twice comes twice", () => {
  assertEquals(times("30 2 * * *", "2026-03-28T02:00:00Z", 2, "Europe/Berlin"), [
    "2026-03-30T02:30:00+02:00",
    "2026-03-31T02:30:00+02:00",
  ]);
  assertEquals(times("30 2 * * *", "2026-10-24T12:00:00Z", 3, "Europe/Berlin"), [
    "2026-10-25T02:30:00+02:00",
    "2026-10-25T02:30:00+01:00",
    "2026-10-26T02:30:00+01:00",
  ]);
});

test("a zone with an offset of minutes, and one west of UTC, have their own days", () => {
  assertEquals(times("0 0 1 * *", "2026-01-15T00:00:00Z", 1, "Asia/Kolkata"), ["2026-02-01T00:00:00+05:30"]);
  assertEquals(times("15 23 31 1 *", "2026-01-15T00:00:00Z", 1, "America/New_York"), ["2026-01-31T23:15:00-05:00"]);
});

test("a zone in the schedule is used, and an unknown one is an error", () => {
  assertEquals(times("TZ=Asia/Tokyo 0 9 * * *", "2026-01-01T00:00:00Z", 1), ["2026-01-02T00:00:00Z"]);
  assertThrows(() => CronSchedule.parse("TZ=Mars 0 9 * * *"), /provided bad location Mars/);
});
