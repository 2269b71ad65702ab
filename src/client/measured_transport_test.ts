import { assertEquals, assertMatch, assertRejects, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import { measuredTransport } from "./measured_transport.ts";

test("requests are counted by code, method and host, and measured until their responses begin", async () => {
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry();
  const responses: readonly (() => Promise<Response>)[] = [
    () => Promise.resolve(new Response("ok")),
    () => clock.sleep(3_000, new AbortController().signal).then(() => new Response("", { status: 409 })),
    () => Promise.reject(new Error("connection refused")),
  ];
  let next = 0;
  const transport = measuredTransport(() => responses[next++]?.() ?? Promise.reject(), {
    metrics,
    host: "kube:6443",
    clock,
  });
  const send = (method: string) => transport(new Request("https://kubernetes.invalid/api/v1/pods", { method }));
  await send("GET");
  const slow = send("PUT");
  await clock.advance(3_000);
  await slow;
  await assertRejects(() => send("GET"), /connection refused/);
  const lines = (await metrics.render()).split("\n").filter((line) => /^rest.*(total|sum|count|le="2")/.test(line));
  assertEquals(lines, [
    'rest_client_requests_total{code="200",method="GET",host="kube:6443"} 1',
    'rest_client_requests_total{code="409",method="PUT",host="kube:6443"} 1',
    'rest_client_requests_total{code="<error>",method="GET",host="kube:6443"} 1',
    'rest_client_request_duration_seconds_bucket{verb="GET",host="kube:6443",le="2"} 2',
    'rest_client_request_duration_seconds_sum{verb="GET",host="kube:6443"} 0',
    'rest_client_request_duration_seconds_count{verb="GET",host="kube:6443"} 2',
    'rest_client_request_duration_seconds_bucket{verb="PUT",host="kube:6443",le="2"} 0',
    'rest_client_request_duration_seconds_sum{verb="PUT",host="kube:6443"} 3',
    'rest_client_request_duration_seconds_count{verb="PUT",host="kube:6443"} 1',
  ]);
});

test("the metrics of a host end with its last transport, and those of others do not", async () => {
  const metrics = new MetricsRegistry();
  metrics.gauge({ name: "others", help: "Of somebody else", labelNames: ["host"] }).labels({ host: "a:6443" }).set(1);
  const inner = () => Promise.resolve(new Response("ok"));
  const [first, second, other] = ["a:6443", "a:6443", "b:6443"].map((host) =>
    measuredTransport(inner, { metrics, host })
  );
  for (const transport of [first, second, other]) await transport?.(new Request("https://kubernetes.invalid/readyz"));
  const hosts = async () => (await metrics.render()).match(/^rest_client_requests_total.*$/gm) ?? [];
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  assertEquals((await hosts()).length, 2, "the second transport to the host still counts");
  second?.[Symbol.dispose]();
  assertEquals(await hosts(), ['rest_client_requests_total{code="200",method="GET",host="b:6443"} 1']);
  assertMatch(await metrics.render(), /^others\{host="a:6443"\} 1$/m);
});
