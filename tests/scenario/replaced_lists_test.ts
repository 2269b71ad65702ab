/**
 * Lists in the status and in merge patches: a write replaces a list, so an item loses what is no longer written. What the server
 * adds to an item is no reason for another write.
 */
import { controller, done } from "../../src/controller/mod.ts";
import { defineResource, z } from "../../src/schema/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assertEquals, test } from "../testing.ts";

const member = z.object({ name: z.string(), error: z.string().optional(), weight: z.int32().default(1) });
const Group = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Group",
  scope: "Namespaced",
  spec: z.object({ error: z.string().optional(), members: z.array(member).optional() }),
  status: z.object({ members: z.array(member).optional() }),
});

/** Writes a member, with the error of the spec, to the status or to the spec. */
const groups = (place: "status" | "spec") =>
  controller("groups").for(Group).uses(Group, ["patch"]).reconcile(async (ctx) => {
    const { error } = ctx.object.spec;
    // The type demands the weight, which the server adds.
    const members = [{ name: "a", ...(error === undefined ? {} : { error }) }] as never;
    if (place === "status") await ctx.patchStatus({ members });
    else await ctx.patch(Group, ctx.object, { kind: "merge", value: { spec: { members } } });
    return done;
  });

for (const place of ["status", "spec"] as const) {
  test(`an item of a list in the ${place} loses what is no longer written, and is not written again`, async () => {
    let writes = 0;
    await using world = await World.start({
      controllers: [groups(place)],
      cluster: false,
      wrap: (transport) => (request) => {
        if (request.method === "PATCH" && request.url.includes("/groups/")) writes++;
        return transport(request);
      },
    });
    const set = async (spec: { error: string | null } | undefined, labels = {}) => {
      await world.patch(Group, "default/a", { kind: "merge", value: { metadata: { labels }, spec } });
      await world.settled();
    };
    const stored = () => world.get(Group, "default/a")[place]?.members;
    await world.create(Group, { name: "a", spec: { error: "unreachable" } });
    await world.settled();
    assertEquals(stored(), [{ name: "a", error: "unreachable", weight: 1 }]);
    await set({ error: null });
    assertEquals(stored(), [{ name: "a", weight: 1 }]);
    const before = writes;
    await set(undefined, { touched: "yes" });
    assertEquals(writes, before);
  });
}
