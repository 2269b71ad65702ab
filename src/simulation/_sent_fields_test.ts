/** Tests which fields count as sent. */
import { assertEquals, test } from "../../tests/testing.ts";
import { SentFields, type SentWrite } from "./_sent_fields.ts";

const url = "http://server/apis/apps/v1/namespaces/default/deployments/web?fieldManager=a";
const image = "deployments.apps default/web .spec.template.spec.containers[name=main].image";
const policy = "deployments.apps default/web .spec.template.spec.containers[name=main].imagePullPolicy";

function deployment(container: object, resourceVersion?: string) {
  const spec = { template: { spec: { containers: [{ name: "main", ...container }] } } };
  return { metadata: { name: "web", resourceVersion }, spec };
}

function sent(
  write: Omit<SentWrite, "url">,
  before: readonly object[] = [],
  kind: "added" | "deleted" = "added",
): readonly boolean[] {
  const changes = before.map((object, index) => ({
    collection: "deployments.apps",
    change: { kind, revision: 7 + index, current: { key: "default/web", object } } as const,
  }));
  const fields = new SentFields([{ ...write, url }], changes);
  return [fields.has(image), fields.has(policy)];
}

test("a field in the body of a write was sent, one that the server added was not", () => {
  assertEquals(sent({ method: "PATCH", body: JSON.stringify(deployment({ image: "a" })) }), [true, false]);
});

test("a field that a PUT sends back as it was read was not sent", () => {
  const read = deployment({ image: "a", imagePullPolicy: "Always" });
  const body = JSON.stringify(deployment({ image: "b", imagePullPolicy: "Always" }, "7"));
  assertEquals(sent({ method: "PUT", body }, [read]), [true, false]);
  assertEquals(sent({ method: "PUT", body }), [true, true]);
});

test("a new object with all that the server had added to a deleted one is a copy, and sends nothing", () => {
  const deleted = { ...deployment({ image: "a", imagePullPolicy: "Always" }), status: { replicas: 1 } };
  const copy = deployment({ image: "a", imagePullPolicy: "Always" });
  const body = JSON.stringify({ ...copy, metadata: { name: "web", namespace: "default" } });
  assertEquals(sent({ method: "POST", body }, [deleted], "deleted"), [false, false]);
  const own = JSON.stringify({ ...deployment({ image: "a" }), metadata: { name: "web", namespace: "default" } });
  assertEquals(sent({ method: "POST", body: own }, [deleted], "deleted"), [true, false]);
});

test("a JSON patch sends the fields below its path", () => {
  const path = "/spec/template/spec/containers/0/image";
  assertEquals(sent({ method: "PATCH", body: JSON.stringify([{ op: "replace", path, value: "b" }]) }), [true, false]);
  const value = [{ name: "main", image: "b", imagePullPolicy: "Never" }];
  const whole = [{ op: "add", path: "/spec/template/spec/containers", value }];
  assertEquals(sent({ method: "PATCH", body: JSON.stringify(whole) }), [true, true]);
});
