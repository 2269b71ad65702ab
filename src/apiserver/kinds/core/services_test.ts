import { assertEquals, test } from "../../../../tests/testing.ts";
import type { JsonObject } from "../../model/mod.ts";
import { serviceRow } from "./services.ts";

function service(spec: JsonObject, ingress: readonly JsonObject[] = []): JsonObject {
  return { metadata: { name: "s" }, spec, status: { loadBalancer: { ingress } } };
}

const http = { port: 80, protocol: "TCP" };
const balanced = { type: "LoadBalancer", clusterIPs: ["10.0.0.1"] };

/** What the test is about, the Service, and TYPE CLUSTER-IP EXTERNAL-IP PORT(S). */
const services: readonly (readonly [string, JsonObject, string])[] = [
  [
    "plain",
    service({ type: "ClusterIP", clusterIPs: ["10.0.0.1"], ports: [http] }),
    "ClusterIP 10.0.0.1 <none> 80/TCP",
  ],
  ["headless", service({ type: "ClusterIP", clusterIPs: ["None"] }), "ClusterIP None <none> <none>"],
  [
    "of two families and ports",
    service({
      type: "ClusterIP",
      clusterIPs: ["10.0.0.1", "fd00::1"],
      ports: [http, { port: 53, protocol: "UDP" }],
    }),
    "ClusterIP 10.0.0.1 <none> 80/TCP,53/UDP",
  ],
  [
    "on the ports of nodes",
    service({ type: "NodePort", clusterIPs: ["10.0.0.1"], ports: [{ ...http, nodePort: 30080 }] }),
    "NodePort 10.0.0.1 <none> 80:30080/TCP",
  ],
  [
    "with external addresses",
    service({ type: "NodePort", externalIPs: ["192.0.2.1", "192.0.2.2"], ports: [http] }),
    "NodePort <none> 192.0.2.1,192.0.2.2 80/TCP",
  ],
  ["that waits for a load balancer", service(balanced), "LoadBalancer 10.0.0.1 <pending> <none>"],
  [
    "with a load balancer, whose addresses are put in order",
    service(balanced, [{ hostname: "b.example" }, { ip: "192.0.2.9", hostname: "x" }, { ip: "192.0.2.9" }]),
    "LoadBalancer 10.0.0.1 192.0.2.9,b.example <none>",
  ],
  [
    "with a load balancer and external addresses",
    service({ ...balanced, externalIPs: ["192.0.2.1"] }, [{ ip: "192.0.2.9" }]),
    "LoadBalancer 10.0.0.1 192.0.2.9,192.0.2.1 <none>",
  ],
  [
    "that is elsewhere",
    service({ type: "ExternalName", externalName: "a.example" }),
    "ExternalName <none> a.example <none>",
  ],
  ["of no type", service({}), " <none> <unknown> <none>"],
];

for (const [what, object, expected] of services) {
  test(`a Service ${what} is shown as "${expected}"`, () => {
    assertEquals(serviceRow(object, 0).slice(1, 5).join(" "), expected);
  });
}

test("the selector of a Service is shown in the order of its keys", () => {
  assertEquals(serviceRow(service({ selector: { tier: "front", app: "web" } }), 0)[6], "app=web,tier=front");
  assertEquals(serviceRow(service({}), 0)[6], "<none>");
});
