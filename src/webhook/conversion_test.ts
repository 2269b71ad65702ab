import { assert, assertEquals, assertStringIncludes, assertThrows, test } from "../../tests/testing.ts";
import type { NewEntry } from "../observe/mod.ts";
import { defineResource, z } from "../schema/mod.ts";
import { webhookRequest } from "./testing/reviews.ts";
import { typedObject } from "./_decode.ts";
import { convertible, converting } from "./conversion.ts";
import { webhookHandler } from "./handler.ts";

const base = { group: "x.example.dev", kind: "Size", scope: "Namespaced" } as const;
const V1 = defineResource({ ...base, version: "v1", spec: z.object({ size: z.string() }) });
const V2 = defineResource({ ...base, version: "v2", spec: z.object({ width: z.number(), height: z.number() }) });
const V3 = defineResource({
  ...base,
  version: "v3",
  spec: z.object({ box: z.array(z.number()) }),
});

const webhook = converting(V2, [
  convertible(V1, {
    toHub: ({ spec, ...rest }) => {
      const [width = NaN, height = NaN] = spec.size.split("x").map(Number);
      if (Number.isNaN(width) || Number.isNaN(height)) throw new Error(`Cannot read size "${spec.size}"`);
      return { ...rest, spec: { width, height } };
    },
    fromHub: ({ spec, ...rest }) => ({ ...rest, spec: { size: `${spec.width}x${spec.height}` } }),
  }),
  convertible(V3, {
    toHub: ({ spec, ...rest }) => ({ ...rest, spec: { width: spec.box[0] ?? 0, height: spec.box[1] ?? 0 } }),
    fromHub: ({ spec, ...rest }) => ({ ...rest, metadata: {}, spec: { box: [spec.width, spec.height] } }),
  }),
]);

const metadata = { name: "a", namespace: "b", uid: "u", labels: { l: "1" } };
const old = { apiVersion: "x.example.dev/v1", kind: "Size", metadata, spec: { size: "3x4" } };

function conversionReview(objects: readonly unknown[], desiredAPIVersion: string) {
  const request = { uid: "9", desiredAPIVersion, objects };
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request };
}

async function resultOf(body: unknown) {
  const response = await webhookHandler([webhook])(webhookRequest("/convert", body));
  return response.status === 200 ? await response.json() : response.status;
}

test("objects are converted to the hub, from the hub, and through the hub", async () => {
  const hub = { apiVersion: "x.example.dev/v2", kind: "Size", metadata, spec: { width: 3, height: 4 } };
  const v3 = { apiVersion: "x.example.dev/v3", kind: "Size", metadata, spec: { box: [3, 4] } };
  const result = await resultOf(conversionReview([old, v3, hub], "x.example.dev/v2"));
  assertEquals(result, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid: "9", convertedObjects: [hub, hub, hub], result: { status: "Success" } },
  });
  const down = await resultOf(conversionReview([hub], "x.example.dev/v1"));
  assertEquals(down.response.convertedObjects, [old]);
});

test("a conversion can change only labels and annotations of the metadata", async () => {
  const result = await resultOf(conversionReview([old], "x.example.dev/v3"));
  assertEquals(result.response.convertedObjects, [{
    apiVersion: "x.example.dev/v3",
    kind: "Size",
    metadata: { name: "a", namespace: "b", uid: "u" },
    spec: { box: [3, 4] },
  }]);
});

test("a conversion that fails or has no webhook gives a Failure with a message", async () => {
  const bad = { ...old, spec: { size: "large" } };
  const failed = await resultOf(conversionReview([old, bad], "x.example.dev/v2"));
  assertEquals(failed.response.result, { status: "Failure", message: 'Cannot read size "large"' });
  assertEquals(failed.response.uid, "9");
  const unknown = await resultOf(conversionReview([old], "x.example.dev/v9"));
  assertEquals(unknown.response.result.status, "Failure");
  const foreign = await resultOf(conversionReview([{ apiVersion: "v1", kind: "Pod" }], "x.example.dev/v2"));
  assertEquals(foreign.response.result.message, "Cannot convert v1 Pod: kind unknown");
});

test("a conversion that returns no object, or a number that JSON does not have, fails and loses no fields", async () => {
  const returned = new Map<unknown, string>([
    [undefined, "toHub of x.example.dev/v1 returned undefined, not an object"],
    [Promise.resolve(old), "toHub of x.example.dev/v1 returned a Promise, not an object"],
    [[old], "toHub of x.example.dev/v1 returned a list, not an object"],
    [{ spec: { width: NaN } }, "response.convertedObjects[0].spec.width is NaN, which JSON does not have"],
  ]);
  for (const [value, message] of returned) {
    const untyped = convertible<typeof V1, typeof V2>(V1, {
      toHub: () => typedObject(V2, value),
      fromHub: () => typedObject(V1, value),
    });
    const response = await webhookHandler([converting(V2, [untyped])])(
      webhookRequest("/convert", conversionReview([old], "x.example.dev/v2")),
    );
    const { response: { convertedObjects, result } } = await response.json();
    assertEquals([convertedObjects, result.status], [[], "Failure"]);
    assertStringIncludes(result.message, message);
  }
});

test("[66] a malformed ConversionReview gives a 400", async () => {
  for (const body of ["", "{", "{}", JSON.stringify({ ...conversionReview([], "x/v1"), request: null })]) {
    assertEquals(await resultOf(body), 400);
  }
});

test("versions of different kinds cannot be converted", () => {
  const Other = defineResource({ ...base, kind: "Other", version: "v1", spec: z.object({}) });
  const spoke = convertible<typeof Other, typeof V2>(Other, {
    toHub: ({ metadata }) => V2.make({ metadata, spec: { width: 0, height: 0 } }),
    fromHub: ({ metadata }) => Other.make({ metadata, spec: {} }),
  });
  assertThrows(() => converting(V2, [spoke]), /^Cannot convert .* not another version of/);
});

test("[137] a conversion is recorded with its kind, how many objects it had, and its failure, without their content", async () => {
  const entries: NewEntry[] = [];
  const recorder = { keepsStates: true, record: (entry: NewEntry) => entries.push(entry) };
  const handler = webhookHandler([webhook], { recorder });
  await handler(webhookRequest("/convert", conversionReview([old], "x.example.dev/v2")));
  await handler(webhookRequest("/convert", conversionReview([old, old], "x.example.dev/v2")));
  const broken = { ...old, spec: { size: "wide" } };
  await handler(webhookRequest("/convert", conversionReview([broken], "x.example.dev/v3")));
  const object = { resource: "sizes.x.example.dev", kind: "Size" };
  const seen = entries.map((entry) => {
    assert(entry.kind === "review" && entry.webhook === "conversion" && entry.path === "/convert");
    return [entry.object, entry.conversion, entry.isAllowed, entry.message];
  });
  assertEquals(seen, [
    [{ ...object, key: "b/a" }, { objects: 1, to: "x.example.dev/v2" }, true, undefined],
    [object, { objects: 2, to: "x.example.dev/v2" }, true, undefined],
    [{ ...object, key: "b/a" }, { objects: 1, to: "x.example.dev/v3" }, false, 'Cannot read size "wide"'],
  ]);
  assert(!JSON.stringify(entries).includes("3x4"));
});
