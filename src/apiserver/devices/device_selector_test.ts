import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { deviceSelector, type SelectableDevice, selectsDevice } from "./device_selector.ts";

const device: SelectableDevice = {
  attributes: {
    model: { string: "a100" },
    cores: { int: 8 },
    "other.example.com/fast": { bool: true },
    firmware: { version: "1.2.3" },
  },
  capacity: { memory: { value: "40Gi" } },
};

const selected: readonly string[] = [
  "true",
  "device.driver == 'gpu.example.com'",
  "device.attributes['gpu.example.com'].model == 'a100'",
  "device.attributes['gpu.example.com'].cores >= 8",
  "device.attributes['other.example.com'].fast",
  "device.attributes['gpu.example.com'].firmware.isGreaterThan(semver('1.2.0'))",
  "device.capacity['gpu.example.com'].memory.compareTo(quantity('16Gi')) > 0",
  "!('gone.example.com' in device.attributes) && device.attributes['gone.example.com'].size() == 0",
  "!has(device.attributes['gpu.example.com'].color) && has(device.attributes['gpu.example.com'].model)",
  "cel.bind(gpu, device.attributes['gpu.example.com'], gpu.model == 'a100' && gpu.cores == 8)",
  "!device.allowMultipleAllocations",
];

for (const expression of selected) {
  test(`selectsDevice() selects a device by ${expression}`, () => {
    assertEquals(selectsDevice(expression, "gpu.example.com", device), { kind: "selected" });
  });
}

test("selectsDevice() reports an attribute that the device lacks, and a result that is not a bool", () => {
  const missing = selectsDevice("device.attributes['gpu.example.com'].color == 'red'", "gpu.example.com", device);
  assertEquals(missing, { kind: "failed", message: "no such key: color" });
  const text = selectsDevice("device.attributes['gpu.example.com'].model", "gpu.example.com", device);
  assertEquals(text, { kind: "failed", message: "the result is not a bool" });
});

test("deviceSelector() rejects other types, unknown fields, and what could cost too much", () => {
  const failure = deviceSelector("device.speed > 1");
  assertMatch(failure.kind === "invalid" ? failure.message : "", /^compilation failed: .*undefined field 'speed'/);
  assertEquals(deviceSelector("device.driver"), {
    kind: "invalid",
    message: "must evaluate to bool or the unknown type, not string",
  });
  const loops = ["a", "b", "c", "d"].reduceRight(
    (inner, name) => `device.attributes.all(${name}, ${inner})`,
    "a + b + c + d == device.driver",
  );
  assertEquals(deviceSelector(loops), { kind: "costly" });
});
