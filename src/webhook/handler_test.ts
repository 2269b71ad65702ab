import { assert, assertEquals, assertStringIncludes, assertThrows, test } from "../../tests/testing.ts";
import { drain, VirtualClock } from "../async/mod.ts";
import { defineResource, z } from "../schema/mod.ts";
import { MetricsRegistry, type NewEntry } from "../observe/mod.ts";
import { Pool, pool, review, webhookRequest } from "./testing/reviews.ts";
import { fieldOf, typedObject } from "./_decode.ts";
import { type Webhook, type WebhookHandler, webhookHandler } from "./handler.ts";
import { type AdmissionContext, allow, defaulting, deny, validating } from "./webhook.ts";

const mutate = "/mutate-nodes-example-dev-v1-pool";
const validate = "/validate-nodes-example-dev-v1-pool";

const withHandler = defaulting(Pool, (object) => ({ ...object, spec: { handler: "runc", ...object.spec } }));
const strict = validating(Pool, {
  create: (object, ctx) => object.spec.handler === "bad" ? deny(`${ctx.user.username} may not`) : allow(["careful"]),
  update: (object, old) =>
    object.spec.handler === old.spec.handler
      ? allow()
      : deny("the handler cannot change", { causes: [{ field: "spec.handler", message: "is immutable" }] }),
  delete: (old) => old.metadata.name === "a" ? deny("a stays") : allow(),
});

async function reviewResult(handler: WebhookHandler, request: Request) {
  const response = await handler(request);
  assertEquals(response.status, 200);
  return await response.json();
}

test("[66] a malformed AdmissionReview is denied with an AdmissionReview, and the handler keeps working", async () => {
  const handler = webhookHandler([strict]);
  const deep = `${"[".repeat(100_000)}`;
  const cases: readonly (readonly [string, number, string, RequestInit?])[] = [
    ["", 400, "the request body is empty"],
    ["{", 400, "the request body is not JSON"],
    ["null", 400, "expected object"],
    ["{}", 400, "apiVersion"],
    [JSON.stringify({ ...review(), request: undefined }), 400, "request"],
    [JSON.stringify({ ...review(), kind: "PodList" }), 400, "kind"],
    [JSON.stringify({ ...review(), apiVersion: "admission.k8s.io/v2" }), 400, "apiVersion"],
    [JSON.stringify(review({ operation: "PEEK" })), 400, "request.operation"],
    [JSON.stringify(review({ uid: "" })), 400, "request.uid"],
    [JSON.stringify(review({ object: [] })), 400, "request.object"],
    [deep, 400, "nested deeper than 200"],
    [JSON.stringify({ ...review(), x: "[".repeat(300) }), 200, ""],
    [JSON.stringify(review()), 400, "content type", { headers: { "content-type": "text/plain" } }],
    ["x".repeat(7 * 1024 * 1024 + 1), 413, "larger than 7340032 bytes"],
  ];
  for (const [body, code, message, init] of cases) {
    const result = await reviewResult(handler, webhookRequest(validate, body, init));
    assertEquals(result.kind, "AdmissionReview");
    assertEquals(result.apiVersion, "admission.k8s.io/v1");
    assertEquals(result.response.allowed, code === 200, body.slice(0, 60));
    if (code === 200) continue;
    assertEquals(result.response.status.code, code);
    assertStringIncludes(result.response.status.message, message);
  }
});

test("[66] an endless body is read only up to the limit", async () => {
  let pulled = 0, isCancelled = false;
  const body = new ReadableStream({
    pull: (controller) => {
      pulled++;
      controller.enqueue(new Uint8Array(1024 * 1024));
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    duplex: "half",
  };
  const handler = webhookHandler([strict]);
  const result = await reviewResult(handler, new Request(`https://webhook.test${validate}`, init));
  assertEquals(result.response.status.code, 413);
  assert(isCancelled && pulled < 16);
});

test("[66] an unknown path, another method and another kind get their own errors", async () => {
  const handler = webhookHandler([strict]);
  assertEquals((await handler(webhookRequest("/nowhere", review()))).status, 404);
  assertEquals((await handler(webhookRequest("/convert", review()))).status, 404);
  assertEquals((await handler(new Request(`https://webhook.test${validate}`))).status, 405);
  const other = review({ kind: { group: "", version: "v1", kind: "Pod" } });
  const result = await reviewResult(handler, webhookRequest(validate, other));
  assertEquals([result.response.uid, result.response.status.code], ["7f0a", 400]);
});

test("[67] the response has the UID and the version of the request, v1 and v1beta1", async () => {
  const handler = webhookHandler([strict]);
  for (const version of ["v1", "v1beta1"]) {
    const result = await reviewResult(handler, webhookRequest(validate, review({}, version)));
    assertEquals(result.apiVersion, `admission.k8s.io/${version}`);
    assertEquals(result.response, { uid: "7f0a", allowed: true, warnings: ["careful"] });
  }
});

test("[67] null and absent objects: DELETE has only the old object, CONNECT may have none", async () => {
  const handler = webhookHandler([strict, withHandler]);
  const deletion = { operation: "DELETE", object: null, oldObject: pool() };
  assertEquals(
    (await reviewResult(handler, webhookRequest(validate, review(deletion)))).response.status.message,
    "a stays",
  );
  assertEquals((await reviewResult(handler, webhookRequest(mutate, review(deletion)))).response, {
    uid: "7f0a",
    allowed: true,
  });
  for (const nothing of [{ object: null, oldObject: null }, { object: undefined, oldObject: undefined }]) {
    // Only a CONNECT has no object: other reviews without theirs are malformed.
    const update = await reviewResult(handler, webhookRequest(validate, review({ operation: "UPDATE", ...nothing })));
    assertEquals([update.response.status.code, update.response.status.message], [
      400,
      "request.object: expected an object",
    ]);
    for (const operation of ["CREATE", "DELETE", "CONNECT"]) {
      for (const path of [validate, mutate]) {
        const { response } = await reviewResult(handler, webhookRequest(path, review({ operation, ...nothing })));
        assertEquals(
          [response.allowed, response.status?.code],
          operation === "CONNECT" ? [true, undefined] : [false, 400],
        );
      }
    }
  }
});

test("[68] a defaulting webhook returns a minimal patch, and no patch for its own result", async () => {
  const handler = webhookHandler([withHandler]);
  const object = pool({ labels: { a: "b" } }, { annotations: { big: "9007199254740993" } });
  const first = await reviewResult(handler, webhookRequest(mutate, review({ object })));
  assertEquals(first.response.patchType, "JSONPatch");
  assertEquals(JSON.parse(atob(first.response.patch)), [{ op: "add", path: "/spec/handler", value: "runc" }]);
  const completed = pool({ labels: { a: "b" }, handler: "runc" });
  const second = await reviewResult(handler, webhookRequest(mutate, review({ object: completed })));
  assertEquals(second.response, { uid: "7f0a", allowed: true });
});

test("[68] a defaulting webhook runs although the object violates a CEL rule, which the default may satisfy", async () => {
  const Site = defineResource({
    ...{ group: "example.dev", version: "v1", kind: "Site", scope: "Cluster" },
    spec: z.object({ host: z.string().max(99).optional() }),
    validations: [{ rule: "has(self.spec.host)", message: "the host is missing" }],
  });
  const webhook = defaulting(Site, (site) => ({ ...site, spec: { host: "a", ...site.spec } }));
  const object = { apiVersion: "example.dev/v1", kind: "Site", metadata: { name: "a" }, spec: {} };
  assertEquals(Site.safeParse(object).kind, "invalid");
  const kind = { group: "example.dev", version: "v1", kind: "Site" };
  const user = { userInfo: { username: "admin" }, dryRun: false };
  const request = { uid: "1", kind, operation: "CREATE", object, ...user } as const;
  assertEquals((await webhook.decide(request, new AbortController().signal)).kind, "patched");
});

test("[68] a handler sees that the request is a dry run", async () => {
  const seen: boolean[] = [];
  const handler = webhookHandler([validating(Pool, {
    create: (_, ctx) => {
      seen.push(ctx.dryRun);
      return allow();
    },
  })]);
  await handler(webhookRequest(validate, review({ dryRun: true })));
  await handler(webhookRequest(validate, review({ dryRun: null })));
  assertEquals(seen, [true, false]);
});

/** The calls of a webhook without a decision, by reason. */
async function failuresIn(metrics: MetricsRegistry): Promise<readonly string[]> {
  const found = (await metrics.render()).matchAll(/^pintle_webhook_failures_total\{.*reason="(\w+)"\} (\d+)$/gm);
  return [...found].map(([, reason, count]) => `${reason} ${count}`);
}

test("[69] a handler that throws gives a denial with 500", async () => {
  const metrics = new MetricsRegistry();
  const handler = webhookHandler([validating(Pool, {
    create: () => {
      throw new Error("no database\n\x1b[31m");
    },
  })], { metrics });
  const { response } = await reviewResult(handler, webhookRequest(validate, review()));
  assertEquals([response.allowed, response.status.code, response.status.reason], [false, 500, "InternalError"]);
  assertEquals(response.status.message, 'webhook "validate.pools.nodes.example.dev" failed: no database');
  assertStringIncludes(await metrics.render(), "controller_runtime_webhook_panics_total 1");
  assertEquals(await failuresIn(metrics), ["error 1", "timeout 0"]);
});

test("[69] a handler that returns something else than its type says gives a denial with 500 that names it", async () => {
  const cases: readonly (readonly [Webhook, string])[] = [
    [defaulting(Pool, () => typedObject(Pool, undefined)), "the handler returned undefined, not the object or deny()"],
    [defaulting(Pool, () => typedObject(Pool, [])), "the handler returned a list, not the object or deny()"],
    [
      defaulting(Pool, (one) => typedObject(Pool, { ...one, spec: { x: [-Infinity] } })),
      "value[0] is -Infinity, which",
    ],
    [validating(Pool, { create: () => JSON.parse("true") }), "returned a value of type boolean, not allow() or deny()"],
    [validating(Pool, { create: () => JSON.parse("null") }), "the handler returned null, not allow() or deny()"],
    [validating(Pool, { create: () => deny("no", { code: 200 }) }), "is 200, which is not within 400 to 599"],
  ];
  for (const [webhook, message] of cases) {
    const { response } = await reviewResult(webhookHandler([webhook]), webhookRequest(webhook.path, review()));
    assertEquals([response.allowed, response.status.code, response.patch], [false, 500, undefined]);
    assertStringIncludes(response.status.message, message);
  }
});

test("[69] a handler is aborted one second before the API server's timeout, even if it ignores the signal", async () => {
  for (
    const [timeout, limitMs] of [["?timeout=5s", 4_000], ["", 9_000], ["?timeout=1s", 500], ["?timeout=30s", 9_000]]
  ) {
    const clock = new VirtualClock();
    let given: AbortSignal | undefined;
    const slow = validating(Pool, {
      create: (_, ctx) => {
        given = ctx.signal;
        return new Promise(() => {});
      },
    });
    const metrics = new MetricsRegistry();
    const handler = webhookHandler([slow], { clock, metrics });
    let result: { response?: { allowed: boolean; status: { code: number } } } = {};
    reviewResult(handler, webhookRequest(`${validate}${timeout}`, review())).then((body) => result = body);
    await drain();
    assertEquals(clock.nextTimerInMs, Number(limitMs));
    await clock.advance(Number(limitMs) - 1);
    assertEquals(given?.aborted, false);
    await clock.advance(1);
    assertEquals(given?.aborted, true);
    assertEquals([result.response?.allowed, result.response?.status.code], [false, 504]);
    assertEquals([clock.pendingTimers, await failuresIn(metrics)], [0, ["error 0", "timeout 1"]]);
  }
});

test("a denial with causes is Invalid and names the object and its fields, like the API server's own", async () => {
  const handler = webhookHandler([strict]);
  const changed = { operation: "UPDATE", object: pool({ handler: "b" }), oldObject: pool({ handler: "a" }) };
  assertEquals((await reviewResult(handler, webhookRequest(validate, review(changed)))).response.status, {
    status: "Failure",
    code: 422,
    reason: "Invalid",
    message: "the handler cannot change",
    details: {
      group: "nodes.example.dev",
      kind: "Pool",
      name: "a",
      causes: [{ reason: "FieldValueInvalid", field: "spec.handler", message: "is immutable" }],
    },
  });
  const plain = await reviewResult(handler, webhookRequest(validate, review({ object: pool({ handler: "bad" }) })));
  assertEquals([plain.response.status.code, plain.response.status.message], [403, "alice may not"]);
});

test("updates of an object that is being deleted are allowed, so its finalizers can be removed", async () => {
  const handler = webhookHandler([strict, withHandler]);
  const going = pool({ handler: "b" }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  const request = { operation: "UPDATE", object: going, oldObject: pool({ handler: "a" }) };
  for (const path of [validate, mutate]) {
    assertEquals((await reviewResult(handler, webhookRequest(path, review(request)))).response, {
      uid: "7f0a",
      allowed: true,
    });
  }
});

test("a webhook for a subresource gets its object, which has another kind, and no other webhook does", async () => {
  const scale = (replicas: number) => ({
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "a" },
    spec: { replicas },
  });
  const request = review({
    ...{ operation: "UPDATE", subResource: "scale", kind: { group: "autoscaling", version: "v1", kind: "Scale" } },
    ...{ object: scale(3), oldObject: scale(1) },
  });
  const update = (object: unknown, old: unknown, { subResource }: AdmissionContext) =>
    deny(`${subResource} ${JSON.stringify(fieldOf(old, "spec"))} ${JSON.stringify(fieldOf(object, "spec"))}`);
  const asked = webhookHandler([validating(Pool, { update }, { subresources: ["scale"] })]);
  const { response: { status } } = await reviewResult(asked, webhookRequest(validate, request));
  assertEquals([status.code, status.message], [403, 'scale {"replicas":1} {"replicas":3}']);
  const setting = defaulting(Pool, (one) => ({ ...one, spec: { ...one.spec, replicas: 2 } }), {
    subresources: ["scale"],
  });
  const set = await reviewResult(webhookHandler([setting]), webhookRequest(mutate, request));
  assertEquals(atob(set.response.patch), '[{"op":"replace","path":"/spec/replicas","value":2}]');
  for (const subresources of [[], ["status"]]) {
    const other = webhookHandler([validating(Pool, { update }, { subresources })]);
    assertEquals((await reviewResult(other, webhookRequest(validate, request))).response.status.code, 400);
  }
});

test("the handler is not called for an object that violates the schema", async () => {
  const handler = webhookHandler([strict, withHandler]);
  const wrong = review({ object: pool({ handler: 5 }) });
  assertEquals((await reviewResult(handler, webhookRequest(mutate, wrong))).response, { uid: "7f0a", allowed: true });
  const denied = await reviewResult(handler, webhookRequest(validate, wrong));
  assertEquals(denied.response.status.code, 422);
  assertEquals(denied.response.status.details.causes[0].field, "spec.handler");
});

test("a handler that changes its object in place fails", async () => {
  const handler = webhookHandler([defaulting(Pool, (object) => {
    Reflect.set(object.spec, "handler", "x");
    Object.defineProperty(object.spec, "handler", { value: "x" });
    return object;
  })]);
  assertEquals((await reviewResult(handler, webhookRequest(mutate, review()))).response.status.code, 500);
});

test("requests above the limit of concurrent requests get a 429", async () => {
  const waiting: (() => void)[] = [];
  const slow = validating(Pool, { create: () => new Promise((resolve) => waiting.push(() => resolve(allow()))) });
  const metrics = new MetricsRegistry();
  const handler = webhookHandler([slow], { maxConcurrent: 2, metrics });
  const first = [handler(webhookRequest(validate, review())), handler(webhookRequest(validate, review()))];
  await drain();
  assertStringIncludes(
    await metrics.render(),
    `controller_runtime_webhook_requests_in_flight{webhook="${validate}"} 2`,
  );
  assertEquals((await handler(webhookRequest(validate, review()))).status, 429);
  for (const finish of waiting) finish();
  assertEquals((await Promise.all(first)).map((response) => response.status), [200, 200]);
  const text = await metrics.render();
  assertStringIncludes(text, `controller_runtime_webhook_requests_total{webhook="${validate}",code="200"} 2`);
  assertStringIncludes(text, `controller_runtime_webhook_latency_seconds_count{webhook="${validate}"} 2`);
});

test("only the client with the configured name may call", async () => {
  const handler = webhookHandler([strict], { clientName: "kube-apiserver" });
  const connection = { remoteAddress: "10.0.0.1", isTls: true };
  assertEquals((await handler(webhookRequest(validate, review()))).status, 403);
  assertEquals((await handler(webhookRequest(validate, review()), { ...connection, clientName: "other" })).status, 403);
  assertEquals(
    (await handler(webhookRequest(validate, review()), { ...connection, clientName: "kube-apiserver" })).status,
    200,
  );
});

test("two webhooks cannot have the same path, and options are validated when the webhook is defined", () => {
  assertThrows(() => webhookHandler([strict, validating(Pool, {})]), /already has path /);
  assertThrows(() => validating(Pool, {}, { name: "short" }), /not three or more words/);
  assertThrows(() => validating(Pool, {}, { path: "/a b" }), /path "\/a b" is malformed/);
  assertThrows(() => validating(Pool, {}, { timeoutSeconds: 31 }), /not within 1 to 30/);
});

test("[66] large bodies that end early or are refused do not keep the turn of others", async () => {
  const handler = webhookHandler([strict]);
  const large = JSON.stringify({ ...review(), padding: "x".repeat(1_500_000) });
  const url = `http://webhook${validate}`;
  const headers = { "content-type": "application/json" };
  for (let count = 0; count < 3; count++) {
    let isFirst = true;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (!isFirst) return controller.error(new Error("the client has gone"));
        isFirst = false;
        controller.enqueue(new TextEncoder().encode(large));
      },
    });
    const init: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
    await handler(new Request(url, init)).catch(() => undefined);
    const text = new Request(url, { method: "POST", headers: { "content-type": "text/plain" }, body: large });
    assertStringIncludes(await (await handler(text)).text(), "the content type is not application/json");
  }
  let status: number | undefined;
  void handler(new Request(url, { method: "POST", headers, body: large })).then((response) => status = response.status);
  await drain(20);
  assertEquals(status, 200);
});

test("[125] a review is recorded with its answer, the trace of the caller, and no content of the object", async () => {
  const entries: NewEntry[] = [];
  const recorder = { keepsStates: false, record: (entry: NewEntry) => entries.push(entry) };
  const clock = new VirtualClock();
  const handler = webhookHandler([strict], { recorder, clock });
  const changed = { operation: "UPDATE", object: pool({ handler: "b" }), oldObject: pool({ handler: "a" }) };
  const request = webhookRequest(validate, review(changed));
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  request.headers.set("traceparent", traceparent);
  await reviewResult(handler, request);
  const [entry] = entries;
  assert(entry?.kind === "review" && entries.length === 1);
  const { webhook, path, operation, isAllowed, message, durationMs } = entry;
  assertEquals([webhook, path, operation, isAllowed, entry.traceparent, durationMs], [
    ...["validating", validate, "UPDATE", false, traceparent, 0],
  ]);
  assertEquals([message, entry.object.resource], ["the handler cannot change", "pools.nodes.example.dev"]);
  assert(!JSON.stringify(entry).includes("spec"));
});
