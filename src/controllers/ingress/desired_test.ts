import type { Service, StringMap } from "../../mod.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import { hostileValues } from "./_hostile_test_data.ts";
import { wishOf } from "./desired.ts";
import { parseHostRule } from "./rules.ts";

type Ports = NonNullable<Service["spec"]["ports"]>;

function service(annotation: string | undefined, ports: Ports = [{ port: 80 }], type?: string): Service {
  const annotations: StringMap = annotation === undefined ? { other: "x" } : { other: "x", "ingress/http": annotation };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop", uid: "u1", labels: { app: "web" }, annotations },
    spec: { ports, type },
  };
}

function portOf(ports: Ports): number | undefined {
  const wish = wishOf(service("", ports), {});
  return wish.kind === "ingress"
    ? wish.ingress.spec?.rules?.[0]?.http?.paths?.[0]?.backend?.service?.port?.number
    : undefined;
}

test("an annotated Service gets an Ingress of its name, and nothing else of the Service comes along", () => {
  assertEquals(wishOf(service("true"), {}), {
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
  assertEquals(wishOf(service(undefined), {}), { kind: "none" });
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

test("a Service that asks for what it may not have gets none, and a reason", () => {
  const hosts = [parseHostRule("shop=example.org")];
  const reasonOf = (wish: ReturnType<typeof wishOf>) => wish.kind === "refused" ? wish.reason : wish.kind;
  assertEquals(reasonOf(wishOf(service("example.org/x"), { hosts })), "ingress");
  assertEquals(reasonOf(wishOf(service("example.net"), { hosts })), "HostNotAllowed");
  assertEquals(reasonOf(wishOf(service(""), { hosts })), "HostNotAllowed");
  assertEquals(reasonOf(wishOf(service("not a host"), {})), "InvalidAnnotation");
  assertEquals(reasonOf(wishOf(service("", []), {})), "NoPort");
  assertEquals(reasonOf(wishOf(service("", [{ port: 80 }], "ExternalName"), {})), "ExternalName");
});

test("[security 9] no hostile value becomes part of an Ingress or of an Event", () => {
  for (const value of hostileValues) {
    const wish = wishOf(service(value), {});
    assert(wish.kind === "refused", JSON.stringify(value));
    assertStringIncludes(wish.note, "The annotation ingress/http is not understood");
    assert(value.length < 6 || !wish.note.includes(value), wish.note);
    assert(/^[ -~]{1,300}$/.test(wish.note), wish.note);
  }
});
