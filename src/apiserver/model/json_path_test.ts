import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import type { Json } from "../../cel/mod.ts";
import { JsonPath } from "./json_path.ts";

const pod = {
  metadata: { name: "a", labels: { "app.kubernetes.io/name": "web" } },
  status: {
    conditions: [{ type: "Ready", status: "True" }, { type: "Scheduled", status: "False" }],
    ports: [1, 2, 3, 4],
  },
};

const found: readonly (readonly [path: string, values: readonly Json[] | undefined])[] = [
  [".metadata.name", ["a"]],
  [".metadata.labels['app\\.kubernetes\\.io/name']", ["web"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  ['.status.conditions[?(@.type=="Absent")].status', []],
  [".status.conditions[*].type", ["Ready", "Scheduled"]],
  [".status.ports[0]", [1]],
  [".status.ports[-1]", [4]],
  [".status.ports[1:3]", [2, 3]],
  [".status.ports[::2]", [1, 3]],
  [".status.ports[?(@ > 2)]", [3, 4]],
];

for (const [path, values] of found) {
  test(`the column ${path} shows ${JSON.stringify(values)}`, () => {
    assertEquals(new JsonPath(path).find(pod), values);
  });
}

test("a path that does not match the object finds nothing", () => {
  assertEquals(new JsonPath(".metadata.name[0]").find(pod), undefined);
});

for (const path of [".a[", ".a[?(@.b==1", ".a['b"]) {
  test(`${path} is not a valid path`, () => {
    const error = assertThrows(() => new JsonPath(path));
    assert(error instanceof SyntaxError);
  });
}
