/**
 * Attacks by shape: reviews and headers that are well-formed where a parser looks and odd below that. A generator replaces
 * each part of a valid review by values of other types, and writes header values from pieces that decoders trip over.
 *
 * The rules: a mistake of the sender is a status 4xx, never a 500, and never an error in the log of the server.
 */
import { seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { KubernetesTestServer } from "../../src/apiserver/testing/kubernetes_test_server.ts";
import { builtin } from "../../src/api/mod.ts";
import type { Logger } from "../../src/observe/mod.ts";
import { defineResource, z } from "../../src/schema/mod.ts";
import { allow, convertible, converting, deny, validating, webhookHandler } from "../../src/webhook/mod.ts";
import { handleConversionReview } from "../../src/webhook/conversion.ts";
import { assert, assertEquals, test } from "../testing.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);

const Thing = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Cluster",
  spec: z.object({ size: z.int32(), parts: z.array(z.object({ name: z.string() })) }),
});

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

const oddValues: readonly unknown[] = [undefined, null, [], {}, "text", 7, true, [null], [[]], { name: [] }];

/** Copies of a value in which one part is odd, for each part and each odd value. */
function oddVersions(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    [...oddValues, ...oddVersions(part)].map((odd) => {
      if (!Array.isArray(value)) return { ...value, [key]: odd };
      return value.map((item: unknown, index) => `${index}` === key ? odd : item);
    })
  );
}

const thing = (size: number) => ({
  apiVersion: "example.dev/v1",
  kind: "Thing",
  metadata: { name: "a", labels: { a: "b" } },
  spec: { size, parts: [{ name: "p" }, { name: "q" }] },
});
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } };

test("[66] a review of any odd shape is answered, with 400 when the handler cannot read it", async () => {
  const errors: unknown[] = [];
  const log: Logger = { ...silent, error: (message, fields) => void errors.push([message, fields]) };
  const handler = webhookHandler([
    validating(Thing, {
      update: ({ spec, metadata }, old) => {
        const names = [...spec.parts, ...old.spec.parts].map((part) => part.name.toUpperCase());
        return metadata.name?.startsWith("b") || spec.size.toFixed() < old.spec.size.toFixed()
          ? deny("no")
          : allow(names);
      },
      delete: (old) => old.spec.parts.map((part) => part.name.length).length > 9 ? deny("no") : allow(),
    }),
    validating(builtin.ConfigMap, {
      update: (now, old) => "a" in (now.data ?? {}) && "a" in (old.data ?? {}) ? allow() : deny("no"),
    }),
  ], { clock: new VirtualClock(), log });
  const send = async (request: unknown, path: string) => {
    const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
    const headers = { "content-type": "application/json" };
    const response = await handler(new Request(`https://webhook.test${path}`, { method: "POST", headers, body }));
    const review: { response: { allowed: boolean; status?: { code: number } } } = await response.json();
    return review.response.allowed ? 200 : review.response.status?.code;
  };
  const kind = { group: "example.dev", version: "v1", kind: "Thing" };
  const mapKind = { group: "", version: "v1", kind: "ConfigMap" };
  const reviews = [
    [{ uid: "1", kind, operation: "UPDATE", object: thing(2), oldObject: thing(1) }, "/validate-example-dev-v1-thing"],
    [{ uid: "1", kind, operation: "DELETE", oldObject: thing(1), options: {} }, "/validate-example-dev-v1-thing"],
    [{ uid: "1", kind, operation: "CREATE", object: thing(1), options: {} }, "/validate-example-dev-v1-thing"],
    [
      { uid: "1", kind, operation: "CONNECT", object: thing(1), userInfo: { username: "a", groups: ["b"] } },
      "/validate-example-dev-v1-thing",
    ],
    [{ uid: "1", kind: mapKind, operation: "UPDATE", object: map, oldObject: map }, "/validate--v1-configmap"],
  ] as const;
  const codes = new Set<number | undefined>();
  for (const [review, path] of reviews) {
    assertEquals(await send(review, path), 200);
    for (const odd of oddVersions(review)) {
      const code = await send(odd, path);
      codes.add(code);
      assert(code === 200 || code === 400 || code === 403, `${code} for ${JSON.stringify(odd)}`);
    }
  }
  assertEquals([...codes].sort(), [200, 400, 403]);
  assertEquals(errors, []);
});

test("[66] a review without a request, its objects or a text as its uid gets a 400", async () => {
  const handler = webhookHandler([validating(Thing, { delete: () => allow() })], { log: silent });
  const kind = { group: "example.dev", version: "v1", kind: "Thing" };
  const whole = { uid: "1", kind, operation: "DELETE", oldObject: thing(1) };
  const requests: readonly unknown[] = [
    ...[null, undefined, [], "text", 7, {}],
    ...[null, 7, "", {}, ["1"]].map((uid) => ({ ...whole, uid })),
    ...[null, undefined, [], "text"].map((oldObject) => ({ ...whole, oldObject })),
    ...["CREATE", "UPDATE"].map((operation) => ({ ...whole, operation })),
    ...["delete", "PATCH", null, 7].map((operation) => ({ ...whole, operation })),
    ...["text", [], 7].map((options) => ({ ...whole, options })),
  ];
  const headers = { "content-type": "application/json" };
  const send = async (request: unknown) => {
    const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
    const url = "https://webhook.test/validate-example-dev-v1-thing";
    const response = await handler(new Request(url, { method: "POST", headers, body }));
    if (response.status !== 200) return response.status;
    const review: { response: { allowed: boolean; status?: { code: number } } } = await response.json();
    return review.response.allowed ? 200 : review.response.status?.code;
  };
  assertEquals(await send(whole), 200);
  for (const request of requests) assertEquals(await send(request), 400, JSON.stringify(request));
});

test("[66] a ConversionReview of any odd shape is converted, a Failure, or a 400, and never an error of the server", () => {
  const V2 = defineResource({
    group: "example.dev",
    version: "v2",
    kind: "Thing",
    scope: "Cluster",
    spec: z.object({ width: z.int32() }),
  });
  const spoke = convertible<typeof Thing, typeof V2>(Thing, {
    toHub: ({ metadata, spec }) => V2.make({ metadata, spec: { width: spec.size } }),
    fromHub: ({ metadata, spec }) => Thing.make({ metadata, spec: { size: spec.width, parts: [] } }),
  });
  const webhooks = [converting(V2, [spoke])];
  const kinds = new Set<string>();
  const review = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    request: { uid: "1", desiredAPIVersion: "example.dev/v2", objects: [thing(1), thing(2)] },
  };
  for (const odd of [review, ...oddVersions(review), ...oddValues]) {
    const result = handleConversionReview(JSON.stringify(odd) ?? "", webhooks);
    const text = result.kind === "malformed" ? result.message : result.text;
    kinds.add(text.includes('"status":"Failure"') ? "failure" : result.kind);
    // Set for an error of the operator's own code, which is logged.
    if (result.kind === "converted") assertEquals(result.failure, undefined, JSON.stringify(odd));
    assert(text.length < 20_000, text.slice(0, 200));
  }
  assertEquals([...kinds].sort(), ["converted", "failure", "malformed"]);
  for (
    const objects of [[null], [7], [[]], ["text"], [{}], [{ apiVersion: 1, kind: "Thing" }], [{
      ...thing(1),
      metadata: null,
    }], [{ apiVersion: "x".repeat(1_000_000), kind: "Thing" }]]
  ) {
    const odd = { ...review, request: { ...review.request, objects } };
    assertEquals(handleConversionReview(JSON.stringify(odd), webhooks).kind, "malformed");
  }
});

const pieces = ["%", "%zz", "%E0%A4%A", "%00", "%2f", "a", "_", "%ff", ".", "%u1234", "%25"];

test("an impersonation header of any form is answered; a key that cannot be decoded counts as it is written", async () => {
  using server = new KubernetesTestServer();
  let undecoded = 0;
  for (let round = 0; round < 200; round++) {
    const key = Array.from({ length: 1 + below(4) }, () => pieces[below(pieces.length)]).join("");
    const headers = { "impersonate-user": "jane", [`impersonate-extra-${key}`]: "x" };
    const { code } = await server.send("GET", "/api/v1/namespaces", undefined, headers);
    assertEquals(code, 403, key);
    if (!decodes(key)) undecoded++;
  }
  assert(undecoded > 50);
  assertEquals(server.errors, []);
});

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
