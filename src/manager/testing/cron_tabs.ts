/**
 * CronTab, a kind with two versions whose content differs, for tests of conversion: v1 has the schedule as one text, v2 has
 * its parts. `clockController` works with v2 and writes what it read to the status.
 */
import { controller, type ControllerDefinition, done } from "../../controller/mod.ts";
import { type CustomResource, defineResource, z } from "../../schema/mod.ts";
import { type ConversionWebhook, convertible, converting } from "../../webhook/mod.ts";
import { type OperatorController, withSamples, withWebhooks } from "../operator_controller.ts";

const base = { group: "clock.example.dev", kind: "CronTab", scope: "Namespaced" } as const;
const field = z.string().regex(/^[0-9*]{1,4}$/);

/** The content of v1: one text. */
export const oldVersion = {
  spec: z.object({ schedule: z.string().regex(/^[0-9*]{1,4} [0-9*]{1,4}$/), suspend: z.boolean().default(false) }),
  status: z.object({ seen: z.string().optional() }),
};

/** The content of v2: the parts of the text. */
export const newVersion = {
  spec: z.object({ minute: field, hour: field, suspend: z.boolean().default(false) }),
  status: z.object({ seen: z.string().optional() }),
};

/** crontabs.clock.example.dev/v1 */
export const CronTabV1 = defineResource({ ...base, version: "v1", ...oldVersion });
/** crontabs.clock.example.dev/v2, the hub. */
export const CronTabV2 = defineResource({ ...base, version: "v2", ...newVersion });

/** The kind with both versions in one definition, and no word about conversion. */
export const UnwiredCronTab: CustomResource = defineResource({
  ...base,
  version: "v2",
  ...newVersion,
  versions: [{ name: "v1", ...oldVersion }],
});

/** Converts v1 to v2 and back, and loses nothing. */
export const cronTabConversion: ConversionWebhook = converting(CronTabV2, [
  convertible<typeof CronTabV1, typeof CronTabV2>(CronTabV1, {
    toHub({ spec: { schedule, ...spec }, ...rest }) {
      const [minute = "", hour = ""] = schedule.split(" ");
      return { ...rest, spec: { ...spec, minute, hour } };
    },
    fromHub({ spec: { minute, hour, ...spec }, ...rest }) {
      return { ...rest, spec: { ...spec, schedule: `${minute} ${hour}` } };
    },
  }),
]);

const definition: ControllerDefinition = controller("clock").for(CronTabV2).reconcile(async (ctx) => {
  const { minute, hour } = ctx.object.spec;
  await ctx.patchStatus({ seen: `${minute}/${hour}` });
  return done;
});

/** An object as a user of v1 writes it. */
export const cronTabSample = {
  apiVersion: "clock.example.dev/v1",
  kind: "CronTab",
  metadata: { name: "nightly" },
  spec: { schedule: "30 2" },
};

/** Works with v2; its users write v1. */
export const clockController: OperatorController = withSamples(
  withWebhooks(definition, [cronTabConversion]),
  [cronTabSample],
);

/** The same controller without the conversion. */
export const unwiredController: OperatorController = withSamples(
  controller("clock").for(UnwiredCronTab).reconcile(() => Promise.resolve(done)),
  [cronTabSample],
);
