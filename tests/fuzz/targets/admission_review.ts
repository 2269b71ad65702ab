/**
 * Bodies of the API server, or of anybody, to the webhooks of an operator: AdmissionReview and ConversionReview. The first part
 * of an input is the path.
 *
 * Promises: every request gets a response of JSON or a short text, and no error of ours; a response repeats the UID; a patch
 * applies to the object of the request.
 */
import fc from "fast-check";
import type { Logger } from "../../../src/observe/mod.ts";
import { isJsonObject } from "../../../src/apiserver/model/mod.ts";
import { jsonPatch } from "../../../src/apiserver/patch/mod.ts";
import { defineResource, z } from "../../../src/schema/mod.ts";
import {
  allow,
  convertible,
  converting,
  defaulting,
  deny,
  validating,
  webhookHandler,
} from "../../../src/webhook/mod.ts";
import { pool, review } from "../../../src/webhook/testing/reviews.ts";
import { type FuzzTarget, joinParts, partsOf, promise } from "../target.ts";

const spec = z.object({
  handler: z.string().optional(),
  size: z.int32().default(1),
  labels: z.record(z.string(), z.string()).optional(),
  parts: z.array(z.object({ name: z.string(), weight: z.number().optional() })).default([]),
});
const Pool = defineResource({ group: "nodes.example.dev", version: "v1", kind: "Pool", scope: "Cluster", spec });
const OldPool = defineResource({ group: "nodes.example.dev", version: "v0", kind: "Pool", scope: "Cluster", spec });

const errors: unknown[] = [];
const log: Logger = {
  debug() {},
  info() {},
  warn() {},
  error: (message, fields) => void errors.push([message, fields]),
  with: () => log,
};
const handler = webhookHandler([
  validating(Pool, {
    create: ({ spec }) => JSON.stringify(spec).includes("bad") ? deny("bad") : allow(),
    update: ({ spec }, old) => spec.size < old.spec.size ? deny("smaller") : allow(["w"]),
    delete: (old) => JSON.stringify(old).length > 600 ? deny("parts") : allow(),
  }),
  defaulting(
    Pool,
    (pool) => ({
      ...pool,
      spec: { ...pool.spec, handler: pool.spec.handler ?? "x", parts: [...pool.spec.parts ?? [], { name: "p" }] },
    }),
  ),
  converting(Pool, [
    convertible(OldPool, {
      toHub: (old) => ({ ...old, apiVersion: "nodes.example.dev/v1", spec: { ...old.spec, handler: "h" } }),
      fromHub: (hub) => ({ ...hub, apiVersion: "nodes.example.dev/v0" }),
    }),
  ]),
], { log });

const paths = { v: "/validate-nodes-example-dev-v1-pool", m: "/mutate-nodes-example-dev-v1-pool", c: "/convert" };

function conversion(objects: readonly unknown[], desiredAPIVersion = "nodes.example.dev/v1"): string {
  return JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    request: { uid: "1", desiredAPIVersion, objects },
  });
}

/** A field of a value of any type. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, name) => typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined,
    value,
  );
}

function checkPatch(request: unknown, response: unknown): void {
  const [encoded, object] = [at(response, "response", "patch"), at(request, "request", "object")];
  if (typeof encoded !== "string" || typeof object !== "object") return;
  const patch = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(encoded)));
  const json = JSON.parse(JSON.stringify(object));
  if (isJsonObject(json)) jsonPatch(json, patch, "Strict");
}

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    ...["v", "m"].flatMap((path) => [
      joinParts(path, JSON.stringify(review({ object: pool({ parts: [{ name: "a" }] }) }))),
      joinParts(path, JSON.stringify(review({ operation: "UPDATE", oldObject: pool({ size: 2 }) }))),
      joinParts(path, JSON.stringify(review({ operation: "DELETE", object: null, oldObject: pool() }, "v1beta1"))),
    ]),
    joinParts("c", conversion([{ ...pool(), apiVersion: "nodes.example.dev/v0" }, pool()])),
  ],
  arbitrary: fc.tuple(
    fc.constantFrom("v", "m", "c"),
    fc.constantFrom("CREATE", "UPDATE", "DELETE", "CONNECT"),
    fc.jsonValue(),
    fc.jsonValue(),
  )
    .map(([path, operation, one, other]) =>
      joinParts(
        path,
        path === "c"
          ? conversion([{ ...pool(), spec: one }, other])
          : JSON.stringify(review({ operation, object: pool({ parts: one }), oldObject: other })),
      )
    ),
  words: [
    '"uid":',
    '"operation":',
    '"oldObject":',
    '"apiVersion":"admission.k8s.io/v1"',
    '"desiredAPIVersion":',
    '"objects":[',
    "nodes.example.dev/v0",
    '"spec":null',
    '"metadata":null',
    '"parts":',
    "DELETE",
    "CONNECT",
  ],
  async check(input) {
    const [key = "", text = ""] = partsOf(input, 2);
    const path = key === "c" ? paths.c : key === "m" ? paths.m : paths.v;
    errors.length = 0;
    const request = new Request(`https://w.test${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: text,
    });
    const response = await handler(request);
    const body = await response.text();
    promise(errors.length === 0, `A review is an error of ours: ${JSON.stringify(errors[0])}`);
    promise(body.length < 2048 + 8 * text.length, "A response is much larger than its request");
    promise(response.status < 500, "A review gets a status of our own errors");
    if (response.status !== 200) return;
    const answer: unknown = JSON.parse(body);
    const code = at(answer, "response", "status", "code");
    promise(typeof code !== "number" || code < 500, "A review gets a status of our own errors");
    if (code === 400) return;
    const sent: unknown = JSON.parse(text);
    promise(at(answer, "response", "uid") === at(sent, "request", "uid"), "A response has another UID");
    checkPatch(sent, answer);
  },
};
