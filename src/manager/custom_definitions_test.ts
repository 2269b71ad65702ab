import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { controller, done } from "../controller/mod.ts";
import { type CustomResource, defineResource, z } from "../schema/mod.ts";
import { converting } from "../webhook/mod.ts";
import { customDefinitions, withConversions } from "./custom_definitions.ts";
import { withWebhooks } from "./operator_controller.ts";
import {
  clockController,
  cronTabConversion,
  CronTabV1,
  CronTabV2,
  newVersion,
  oldVersion,
  unwiredController,
  UnwiredCronTab,
} from "./testing/cron_tabs.ts";

const base = { group: "clock.example.dev", kind: "CronTab", scope: "Namespaced" } as const;
const address = { kind: "service", namespace: "ops", name: "op-webhook" } as const;

function watching(resource: CustomResource) {
  return controller("watching").for(resource).reconcile(() => Promise.resolve(done));
}

test("customDefinitions() puts the versions of a conversion into one definition, and stores the hub", () => {
  for (const controllers of [[clockController], [watching(CronTabV1), clockController]]) {
    const [crd, ...others] = customDefinitions(controllers, { address });
    assertEquals(others, []);
    assertEquals(crd?.spec.versions.map(({ name, storage, served }) => [name, storage, served]), [
      ["v2", true, true],
      ["v1", false, true],
    ]);
    assertEquals(crd?.spec.conversion, {
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v1"],
        clientConfig: { service: { namespace: "ops", name: "op-webhook", path: "/convert", port: 443 } },
      },
    });
  }
});

test("customDefinitions() keeps the flags of versions that the hub lists itself", () => {
  const versions = [{ name: "v1", ...oldVersion, storage: true, deprecated: true }];
  const hub = defineResource({ ...base, version: "v2", ...newVersion, versions });
  const webhook = { ...cronTabConversion, resource: hub, resources: [hub, CronTabV1] };
  const [crd] = customDefinitions([withWebhooks(watching(hub), [webhook])]);
  assertEquals(crd, hub.crd);
});

test("customDefinitions() accepts versions that are the same, or whose author says that they are", () => {
  const same = defineResource({ ...base, version: "v2", ...newVersion, versions: [{ name: "v1", ...newVersion }] });
  assertEquals(customDefinitions([watching(same)]), [same.crd]);
  const said = defineResource({
    ...base,
    version: "v2",
    ...newVersion,
    versions: [{ name: "v1", ...oldVersion }],
    conversion: { strategy: "None" },
  });
  assertEquals(customDefinitions([watching(said)]), [said.crd]);
});

test("[111] customDefinitions() refuses a conversion that is missing, incomplete, ambiguous or contradicted", () => {
  const other = defineResource({ ...base, version: "v1", spec: z.object({ schedule: z.string() }) });
  const said = defineResource({ ...base, version: "v2", ...newVersion, conversion: { strategy: "None" } });
  const refusals = [
    [[unwiredController], /versions v2 and v1 have different schemas, and no conversion is wired\. Add converting/],
    [[watching(CronTabV1), watching(CronTabV2)], /versions v1 and v2 have different schemas, and no conversion/],
    [
      [withWebhooks(watching(UnwiredCronTab), [converting(UnwiredCronTab, [])])],
      /nothing converts its version v1\. Add convertible\(\.\.\.\) for v1/,
    ],
    [
      [clockController, withWebhooks(watching(CronTabV2), [converting(CronTabV2, [])])],
      /it has two conversion webhooks/,
    ],
    [[clockController, watching(other)], /its version v1 is defined twice, with different schemas/],
    [
      [withWebhooks(watching(said), [converting(said, [])])],
      /a conversion webhook, and conversion: \{ strategy: "None"/,
    ],
  ] as const;
  for (const [controllers, message] of refusals) {
    const error = assertThrows(() => customDefinitions(controllers), message);
    assertEquals([error.name, error.message.startsWith("Cannot serve CronTab: ")], ["TypeError", true]);
  }
});

test("withConversions() adds the conversion of a watched kind that another controller has, once", () => {
  const [first, second] = [watching(CronTabV2), watching(CronTabV1)];
  const pods = controller("pods").for(builtin.Pod).reconcile(() => Promise.resolve(done));
  const all = [first, second, pods, withWebhooks(pods, [cronTabConversion])];
  assertEquals(withConversions([first, second], all).map(({ webhooks }) => webhooks), [[cronTabConversion], undefined]);
  assertEquals(withConversions([pods], all), [pods]);
  assertEquals(withConversions(all, all), all);
});
