/**
 * Bodies of Go programs in the protobuf encoding of Kubernetes.
 *
 * Promises: a body is decoded or gets a StatusError; what is decoded is JSON of a bounded size; the API server answers a create
 * with it without an error of its own.
 */
import fc from "fast-check";
import { printExactJson } from "../../../src/api/mod.ts";
import { StatusError } from "../../../src/apiserver/model/mod.ts";
import { decodeProtobuf } from "../../../src/apiserver/protobuf/mod.ts";
import { type TestField, wire } from "../../../src/apiserver/protobuf/testing/proto_wire.ts";
import { type FuzzTarget, orRefused, promise } from "../target.ts";

function body(apiVersion: string, kind: string, ...fields: readonly TestField[]): Uint8Array {
  const envelope = wire([1, [[1, apiVersion], [2, kind]]], [2, wire(...fields)]);
  return Uint8Array.of(0x6b, 0x38, 0x73, 0, ...envelope);
}

const metadata: TestField = [1, [[1, "a"], [3, "default"], [11, [[1, "k"], [2, "v"]]], [8, [[1, 1700000000]]]]];

const { fields } = fc.letrec<{ field: TestField; fields: readonly TestField[] }>((tie) => ({
  field: fc.tuple(
    fc.integer({ min: 1, max: 45 }),
    fc.oneof(
      { maxDepth: 5 },
      fc.integer(),
      fc.string(),
      fc.uint8Array({ maxLength: 8 }),
      fc.double().map((double) => ({ double })),
      tie("fields"),
    ),
  ),
  fields: fc.array(tie("field"), { maxLength: 5 }),
}));
const type = fc.constantFrom(
  ...[["v1", "Pod"], ["v1", "Node"], ["v1", "Service"], ["apps/v1", "Deployment"], ["batch/v1", "CronJob"], [
    "networking.k8s.io/v1",
    "Ingress",
  ]] as const,
  ...[["v1", "Secret"], ["v1", "DeleteOptions"], ["coordination.k8s.io/v1", "Lease"], ["x/v1", "Y"], [
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
  ]] as const,
);

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    body("v1", "ConfigMap", metadata, [2, [[1, "key"], [2, "value"]]]),
    body("v1", "Pod", metadata, [2, [[2, [[1, "c"], [2, "image"], [8, [[1, [[1, "cpu"], [2, [[1, "100m"]]]]]]]]]]]),
    body("apps/v1", "Deployment", metadata, [2, [[1, 3], [2, [[1, [[1, "a"], [2, "b"]]]]], [4, [[1, "x"]]]]]),
    body("v1", "Service", metadata, [2, [[1, [[1, "http"], [3, 80], [4, [[1, 1], [3, "web"]]]]]]]),
  ],
  arbitrary: fc.tuple(type, fields).map(([[apiVersion, kind], fields]) => body(apiVersion, kind, metadata, ...fields)),
  words: ["k8s\0", "\x0a", "\x12", "\x1a", "\x0b", "\x7f\x7f\x7f", "v1", "Pod", "\x0a\x01a"],
  check(input) {
    const decoded = orRefused(() => decodeProtobuf(Uint8Array.from(input)), StatusError);
    if (decoded === undefined) return;
    const text = printExactJson(decoded);
    promise(text.length < 4096 + 64 * input.length, "A decoded body is much larger than its bytes");
    promise(printExactJson(JSON.parse(text)).length > 0, "A decoded body is not JSON");
  },
};
