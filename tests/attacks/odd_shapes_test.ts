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
import { allow, deny, validating, webhookHandler } from "../../src/webhook/mod.ts";
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

test("[66] an UPDATE review of any odd shape is answered, with 400 when the handler cannot read it", async () => {
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
    [{ uid: "1", kind, operation: "DELETE", oldObject: thing(1) }, "/validate-example-dev-v1-thing"],
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

const pieces = ["%", "%zz", "%E0%A4%A", "%00", "%2f", "a", "_", "%ff", ".", "%u1234", "%25"];

test("an impersonation header of any form is answered, with 400 when its key cannot be decoded", async () => {
  using server = new KubernetesTestServer();
  let refused = 0;
  for (let round = 0; round < 200; round++) {
    const key = Array.from({ length: 1 + below(4) }, () => pieces[below(pieces.length)]).join("");
    const isValid = decodes(key);
    const headers = { "impersonate-user": "jane", [`impersonate-extra-${key}`]: "x" };
    const { code } = await server.send("GET", "/api/v1/namespaces", undefined, headers);
    assert(isValid ? code === 200 || code === 403 : code === 400, `${code} for ${key}`);
    if (!isValid) refused++;
  }
  assert(refused > 50);
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
