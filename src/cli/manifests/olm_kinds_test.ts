/** The kinds of a bundle: what a console gets to know about them. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { defineResource, z } from "../../schema/mod.ts";
import { ownedKinds } from "./olm_kinds.ts";

const Cache = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "CacheServer",
  scope: "Namespaced",
  spec: z.object({
    eviction: z.enum(["lru", "random"]).optional(),
    isDurable: z.boolean().optional(),
    owner: z.string().meta({ title: "Owning team" }),
    password: z.string().meta({ openapi: { format: "password" } }).optional(),
    podIPs: z.array(z.string()).optional(),
    valueBytes: z.int32().describe("Memory for values."),
  }),
  status: z.object({ phase: z.string().optional(), conditions: z.array(z.object({ type: z.string() })).optional() }),
});

interface Owned {
  readonly displayName: string;
  readonly resources?: readonly { readonly kind: string; readonly version: string }[];
  readonly specDescriptors: readonly object[];
  readonly statusDescriptors?: readonly object[];
}

const ui = "urn:alm:descriptor:com.tectonic.ui";
const quiet = { recordsEvents: false };

test("ownedKinds() describes each field of spec and status by its schema", () => {
  const definition = controller("cache").for(Cache).reconcile(() => Promise.resolve(done));
  const [kind] = ownedKinds([definition]) as readonly Owned[];
  assertEquals(kind?.displayName, "Cache Server");
  assertEquals(kind?.specDescriptors, [
    { path: "eviction", displayName: "Eviction", "x-descriptors": [`${ui}:select:lru`, `${ui}:select:random`] },
    { path: "isDurable", displayName: "Is Durable", "x-descriptors": [`${ui}:booleanSwitch`] },
    { path: "owner", displayName: "Owning team", "x-descriptors": [`${ui}:text`] },
    { path: "password", displayName: "Password", "x-descriptors": [`${ui}:password`] },
    { path: "podIPs", displayName: "Pod IPs" },
    {
      path: "valueBytes",
      displayName: "Value Bytes",
      description: "Memory for values.",
      "x-descriptors": [`${ui}:number`],
    },
  ]);
  assertEquals(kind?.statusDescriptors, [
    {
      path: "conditions",
      displayName: "Conditions",
      "x-descriptors": ["urn:alm:descriptor:io.kubernetes.conditions"],
    },
    { path: "phase", displayName: "Phase", "x-descriptors": ["urn:alm:descriptor:text"] },
  ]);
});

test("ownedKinds() lists the other kinds of all controllers of a kind, each once", () => {
  const definitions = [
    controller("cache").for(Cache).owns(builtin.Deployment).watches(builtin.Secret, { to: () => [] })
      .reconcile(() => Promise.resolve(done)),
    controller("backup", quiet).for(Cache).owns(builtin.CronJob).uses(builtin.Secret, ["delete"])
      .reconcile(() => Promise.resolve(done)),
    controller("pods").for(builtin.Pod).reconcile(() => Promise.resolve(done)),
  ];
  const [kind] = ownedKinds(definitions) as readonly Owned[];
  assertEquals(kind?.resources?.map(({ kind, version }) => `${kind} ${version}`), [
    "CronJob v1",
    "Deployment v1",
    "Event v1",
    "Secret v1",
  ]);
});

test("ownedKinds() lists no resources when the controllers touch no other kind", () => {
  const definition = controller("cache", quiet).for(Cache).reconcile(() => Promise.resolve(done));
  const [kind] = ownedKinds([definition]) as readonly Owned[];
  assertEquals(kind?.resources, undefined);
});
