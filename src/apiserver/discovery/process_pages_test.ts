/** Tests of /statusz and /flagz: what depends on the clock and on the flags. The forms are compared with a real server. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { processPages } from "./process_pages.ts";

const structured = (kind: string) => `application/json;as=${kind};g=config.k8s.io;v=v1beta1`;

function setUp(flags?: ReadonlyMap<string, string>) {
  const clock = new VirtualClock({ startAt: Date.UTC(2026, 0, 3, 4, 5, 6, 789) });
  const handler = processPages({ clock, random: { next: () => 0.5 }, ...(flags === undefined ? {} : { flags }) });
  const get = async (path: string, accept = "") => {
    const request = new Request(`http://in.memory${path}`, { headers: { accept } });
    const response = await handler.handle(request, path, new URLSearchParams());
    return await response?.text() ?? "";
  };
  return { clock, get };
}

test("/statusz tells the start and how long the server runs", async () => {
  const { clock, get } = setUp();
  await clock.advance((26 * 3_600 + 61) * 1_000);
  const { startTime, uptimeSeconds } = JSON.parse(await get("/statusz", structured("Statusz")));
  assertEquals([startTime, uptimeSeconds], ["2026-01-03T04:05:06Z", 26 * 3_600 + 61]);
  assertEquals((await get("/statusz")).split("\n").slice(4, 6), [
    "Started= Sat Jan  3 04:05:06 UTC 2026",
    "Up= 26 hr 01 min 01 sec",
  ]);
});

test("/flagz shows the flags in the order of their names", async () => {
  const { get } = setUp(new Map([["secure-port", "6443"], ["authorization-mode", "[Node,RBAC]"]]));
  assertEquals(JSON.parse(await get("/flagz", structured("Flagz"))).flags, {
    "authorization-mode": "[Node,RBAC]",
    "secure-port": "6443",
  });
  assertEquals((await get("/flagz")).split("\n").slice(3), ["authorization-mode=[Node,RBAC]", "secure-port=6443", ""]);
});

test("/flagz of a process without flags has no field for them", async () => {
  const { get } = setUp();
  assertEquals(JSON.parse(await get("/flagz", structured("Flagz"))).flags, undefined);
});

test("the delimiter of a text comes from the Random of the server", async () => {
  const clock = new VirtualClock();
  const handler = processPages({ clock, random: seededRandom(1) });
  const seen = new Set<string>();
  for (let count = 0; count < 40; count++) {
    const response = await handler.handle(new Request("http://in.memory/statusz"), "/statusz", new URLSearchParams());
    seen.add(/^Up(.*) 0 hr/m.exec(await response?.text() ?? "")?.[1] ?? "none");
  }
  assertEquals([...seen].toSorted(), [" ", ":", ": ", "="]);
});
