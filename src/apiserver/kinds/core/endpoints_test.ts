import { assertEquals, test } from "../../../../tests/testing.ts";
import type { JsonObject } from "../../model/mod.ts";
import { endpointsRow } from "./endpoints.ts";

const subsets: readonly (readonly [readonly JsonObject[], string])[] = [
  [[], "<none>"],
  [[{ addresses: [{ ip: "192.0.2.1" }] }], "192.0.2.1"],
  [[{ addresses: [{ ip: "192.0.2.1" }, { ip: "fd00::1" }], ports: [{ port: 80 }] }], "192.0.2.1:80,[fd00::1]:80"],
  [
    [{ addresses: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }], ports: [{ port: 80 }, { port: 81 }, { port: 82 }] }],
    "192.0.2.1:80,192.0.2.2:80,192.0.2.1:81 + 3 more...",
  ],
  [[{ notReadyAddresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }], ""],
];

for (const [list, expected] of subsets) {
  test(`Endpoints of ${JSON.stringify(list)} are shown as "${expected}"`, () => {
    assertEquals(endpointsRow({ metadata: { name: "e" }, subsets: list }, 0)[1], expected);
  });
}
