/**
 * Converts CronJobs between v1 and v2. v2 has no names such as @daily, so the name is kept in an annotation, and used again
 * as long as the five fields still say the same.
 */
import { convertible, converting } from "../../src/webhook.ts";
import { CronJob, CronJobV2 } from "./cronjob.ts";
import { expanded, macros } from "./schedule.ts";

/** The name of the schedule in v1. */
const nameAnnotation = "batch.example.dev/schedule-name";

export const cronJobConversion = converting(CronJob, [
  convertible<typeof CronJobV2, typeof CronJob>(CronJobV2, {
    toHub({ metadata, spec, ...rest }) {
      const { [nameAnnotation]: name = "", ...annotations } = metadata.annotations ?? {};
      const { minute, hour, dayOfMonth, month, dayOfWeek } = spec.schedule;
      const fields = [minute, hour, dayOfMonth, month, dayOfWeek].join(" ");
      const schedule = macros[name] === fields ? name : fields;
      return {
        ...rest,
        apiVersion: "batch.example.dev/v1",
        metadata: { ...metadata, annotations },
        spec: { ...spec, schedule },
      };
    },
    fromHub({ metadata, spec, ...rest }) {
      const name: Readonly<Record<string, string>> = macros[spec.schedule] === undefined
        ? {}
        : { [nameAnnotation]: spec.schedule };
      const [minute = "*", hour = "*", dayOfMonth = "*", month = "*", dayOfWeek = "*"] = expanded(spec.schedule).split(
        " ",
      );
      return {
        ...rest,
        apiVersion: "batch.example.dev/v2",
        metadata: { ...metadata, annotations: { ...metadata.annotations, ...name } },
        spec: { ...spec, schedule: { minute, hour, dayOfMonth, month, dayOfWeek } },
      };
    },
  }),
]);
