import { assertEquals, test } from "../../../../tests/testing.ts";
import { formatFieldErrors, type JsonObject } from "../../model/mod.ts";
import { DeclaredChecks } from "./declared_checks.ts";
import { FieldPath, Problems } from "./problems.ts";

function errorsOf(typeName: string, object: JsonObject, checks = new DeclaredChecks()): readonly string[] {
  const problems = new Problems();
  checks.check(typeName, object, FieldPath.of("spec"), problems);
  return problems.list.map((error) => formatFieldErrors([error]).message);
}

test("DeclaredChecks checks required fields, formats, limits and duplicates as the tags of the types say", () => {
  const name = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start " +
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  assertEquals(errorsOf("resource/v1.CounterSet", { name: "A_B" }), [
    `spec.name: Invalid value: "A_B": ${name}`,
    "spec.counters: Required value",
  ]);
  const many = Array.from({ length: 17 }, (_, index) => `10.0.0.${index}/8`);
  assertEquals(errorsOf("resource/v1.NetworkDeviceData", { ips: many, interfaceName: "é".repeat(129) }), [
    "spec.interfaceName: Too long: may not be more than 256 bytes",
    "spec.ips: Too many: 17: must have at most 16 items",
  ]);
  assertEquals(errorsOf("resource/v1.NetworkDeviceData", { ips: ["a", "b", "a"] }), [
    'spec.ips[2]: Duplicate value: "a"',
  ]);
});

test("DeclaredChecks checks the structs inside of a struct, and enums by their values", () => {
  const device: JsonObject = {
    name: "a",
    taints: [{ key: "k", effect: "NoSchedule" }, { key: "k", effect: "Never" }, {}],
  };
  assertEquals(errorsOf("resource/v1.ResourceSliceSpec", { devices: [device] }), [
    'spec.devices[0].taints[1].effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule", "None"',
    "spec.devices[0].taints[2].effect: Required value",
  ]);
});

test("DeclaredChecks gives precedence to additions, and leaves a struct with a rule to it", () => {
  const checks = new DeclaredChecks({
    additions: "resource/v1.Device name:required taints:maxItems=1",
    rules: {
      "resource/v1.ResourcePool": ({ problems, path, parent }) =>
        problems.forbidden(path, `of ${parent?.object["driver"]}`),
    },
  });
  const slice = { driver: "d", pool: { name: "p" }, devices: [{ taints: [{}, {}] }] };
  assertEquals(errorsOf("resource/v1.ResourceSliceSpec", slice, checks), [
    "spec.pool: Forbidden: of d",
    "spec.devices[0].name: Required value",
    "spec.devices[0].taints: Too many: 2: must have at most 1 item",
  ]);
});
