import { assert, assertEquals, assertMatch, assertThrows, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import { emptyList, websiteController } from "../testing/test_kinds.ts";
import { runCommandLine } from "../testing/run_command.ts";
import { RequestLimit } from "./request_limit.ts";

test("a burst of requests passes at once, and the next ones wait for their turn", async () => {
  const clock = new VirtualClock();
  const sentAt: number[] = [];
  const transport = new RequestLimit({ kubeApiQps: 10, kubeApiBurst: 2 }, clock).throttle(() => {
    sentAt.push(clock.monotonic());
    return Promise.resolve(Response.json({}));
  });
  const sending = Array.from({ length: 4 }, () => transport(new Request("http://server/")));
  await clock.advance(1_000);
  await Promise.all(sending);
  assertEquals(sentAt, [0, 0, 100, 200]);
});

test("each transport has turns of its own, as each cluster of a fleet has its own API server", async () => {
  const clock = new VirtualClock();
  const sentAt: string[] = [];
  const limit = new RequestLimit({ kubeApiQps: 10, kubeApiBurst: 1 }, clock);
  const [east, west] = ["east", "west"].map((name) =>
    limit.throttle(() => {
      sentAt.push(`${name} ${clock.monotonic()}`);
      return Promise.resolve(Response.json({}));
    })
  );
  const sending = [east, east, west].map((transport) => transport?.(new Request("http://server/")));
  await clock.advance(1_000);
  await Promise.all(sending);
  assertEquals(sentAt, ["east 0", "west 0", "east 100"]);
});

test("a request that is aborted while it waits is not sent", async () => {
  const clock = new VirtualClock();
  let sent = 0;
  const limit = new RequestLimit({ kubeApiQps: 1, kubeApiBurst: 1 }, clock);
  const transport = limit.throttle(() => Promise.resolve(Response.json(sent++)));
  await transport(new Request("http://server/"));
  const stop = new AbortController();
  const waiting = transport(new Request("http://server/", { signal: stop.signal })).then(() => "sent", () => "aborted");
  stop.abort();
  assertEquals([await waiting, sent], ["aborted", 1]);
});

test("set() replaces the limit of the requests that follow, and undefined removes it", async () => {
  const clock = new VirtualClock();
  const sentAt: number[] = [];
  const limit = new RequestLimit({}, clock);
  const transport = limit.throttle(() => {
    sentAt.push(clock.monotonic());
    return Promise.resolve(Response.json({}));
  });
  const send = (count: number) => Promise.all(Array.from({ length: count }, () => transport(new Request("http://s/"))));
  await send(3);
  limit.set({ kubeApiQps: 10, kubeApiBurst: 1 });
  const limited = send(2);
  await clock.advance(100);
  await limited;
  limit.set({});
  await send(2);
  assertEquals(sentAt, [0, 0, 0, 0, 100, 100, 100]);
});

test("--kube-api-burst without --kube-api-qps is a usage error", async () => {
  assertThrows(
    () => new RequestLimit({ kubeApiBurst: 5 }, new VirtualClock()),
    /--kube-api-burst needs --kube-api-qps/,
  );
  const operator = { name: "op", version: "1.0.0", controllers: [websiteController] };
  const { code, err } = await runCommandLine(operator, ["run", "--all", "--kube-api-burst", "5"], {
    transport: () => Promise.resolve(Response.json({ ...emptyList, gitVersion: "v1.36.0" })),
  });
  assert(code === 2, err);
  assertMatch(err, /Add --kube-api-qps 20/);
});
