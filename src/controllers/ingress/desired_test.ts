import type { Service } from "../../mod.ts";
import type { StringMap } from "../../client.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import { hostileValues } from "./testing/hostile_values.ts";
import { desiredIngress } from "./desired.ts";
import { parseHostRule } from "./rules.ts";

type Ports = NonNullable<Service["spec"]["ports"]>;

function service(
  annotation: string | undefined,
  ports: Ports = [{ port: 80 }],
  type?: Service["spec"]["type"],
): Service {
  const annotations: StringMap = annotation === undefined ? { other: "x" } : { other: "x", "ingress/http": annotation };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop", uid: "u1", labels: { app: "web" }, annotations },
    spec: { ports, type },
  };
}

function portOf(ports: Ports): number | undefined {
  const desired = desiredIngress(service("", ports), {});
  return desired.kind === "ingress"
    ? desired.ingress.spec?.rules?.[0]?.http?.paths?.[0]?.backend?.service?.port?.number
    : undefined;
}

test("an annotated Service gets an Ingress of its name, without other labels and annotations", () => {
  assertEquals(desiredIngress(service("true"), {}), {
    kind: "ingress",
    ingress: {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "web", namespace: "shop" },
      spec: {
        ingressClassName: "ingress",
        rules: [{
          host: "example.com",
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }],
          },
        }],
      },
    },
  });
  assertEquals(desiredIngress(service(undefined), {}), { kind: "none" });
});

test("the port is 80, else the only one, else the one named http", () => {
  assertEquals(portOf([{ port: 8080, name: "http" }, { port: 80, name: "other" }]), 80);
  assertEquals(portOf([{ port: 8080 }]), 8080);
  assertEquals(portOf([{ port: 9090, name: "metrics" }, { port: 8080, name: "http" }]), 8080);
  assertEquals(portOf([{ port: 9090, name: "metrics" }, { port: 8080, name: "web" }]), undefined);
  assertEquals(portOf([]), undefined);
  assertEquals(portOf([{ port: 80, protocol: "UDP" }, { port: 81, protocol: "TCP" }]), 81);
  assertEquals(portOf([{ port: 53, protocol: "UDP" }]), undefined);
});

test("a Service with an invalid claim gets no Ingress, but a reason", () => {
  const hosts = [parseHostRule("shop=example.org")];
  const reasonOf = (desired: ReturnType<typeof desiredIngress>) =>
    desired.kind === "rejected" ? desired.reason : desired.kind;
  assertEquals(reasonOf(desiredIngress(service("example.org/x"), { hosts })), "ingress");
  assertEquals(reasonOf(desiredIngress(service("example.net"), { hosts })), "HostNotAllowed");
  assertEquals(reasonOf(desiredIngress(service(""), { hosts })), "HostNotAllowed");
  assertEquals(reasonOf(desiredIngress(service("not a host"), {})), "InvalidAnnotation");
  assertEquals(reasonOf(desiredIngress(service("", []), {})), "NoPort");
  assertEquals(reasonOf(desiredIngress(service("", [{ port: 80 }], "ExternalName"), {})), "ExternalName");
});

test("[security 9] no hostile value becomes part of an Ingress or of an Event", () => {
  for (const value of hostileValues) {
    const desired = desiredIngress(service(value), {});
    assert(desired.kind === "rejected", JSON.stringify(value));
    assertStringIncludes(desired.note, "The annotation ingress/http is invalid");
    assert(value.length < 6 || !desired.note.includes(value), desired.note);
    assert(/^[ -~]{1,300}$/.test(desired.note), desired.note);
  }
});
