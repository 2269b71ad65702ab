import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { typeLibrary } from "../kinds/mod.ts";
import { type Json, type JsonObject, StatusError } from "../model/mod.ts";
import { strategicMergePatch } from "./strategic_merge_patch.ts";

const podSpecType = typeLibrary().named("io.k8s.api.core.v1.PodSpec");
const metadataType = typeLibrary().named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
const deploymentSpecType = typeLibrary().named("io.k8s.api.apps.v1.DeploymentSpec");

const pod: JsonObject = {
  containers: [{ name: "a", image: "1", args: ["x"], env: [{ name: "E", value: "1" }] }, { name: "b", image: "1" }],
  nodeSelector: { disk: "ssd" },
  tolerations: [{ key: "k" }],
};

/** The patched fields in the spec of a Pod. */
const onPods: readonly (readonly [what: string, patch: JsonObject, after: JsonObject])[] = [
  ["an item is found by its key", { containers: [{ name: "b", image: "2" }] }, {
    containers: [{ name: "a", image: "1", args: ["x"], env: [{ name: "E", value: "1" }] }, { name: "b", image: "2" }],
  }],
  ["an item that is not there goes before those that the patch does not name", { containers: [{ name: "c" }] }, {
    containers: [
      { name: "c" },
      { name: "a", image: "1", args: ["x"], env: [{ name: "E", value: "1" }] },
      { name: "b", image: "1" },
    ],
  }],
  ["$patch: delete takes an item out", { containers: [{ name: "a", $patch: "delete" }] }, {
    containers: [{ name: "b", image: "1" }],
  }],
  ["$patch: replace in a list leaves only the patch's items", { containers: [{ name: "c" }, { $patch: "replace" }] }, {
    containers: [{ name: "c" }],
  }],
  ["$setElementOrder orders and does not delete", {
    "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
  }, {
    containers: [{ name: "b", image: "1" }, { name: "a", image: "1", args: ["x"], env: [{ name: "E", value: "1" }] }],
  }],
  ["a list without a strategy is replaced, nested or not", {
    containers: [{ name: "a", args: ["y", "z"] }],
    tolerations: [],
  }, {
    containers: [{ name: "a", image: "1", args: ["y", "z"], env: [{ name: "E", value: "1" }] }, {
      name: "b",
      image: "1",
    }],
    tolerations: [],
  }],
  ["lists are merged at any depth", { containers: [{ name: "a", env: [{ name: "F", value: "2" }] }] }, {
    containers: [
      { name: "a", image: "1", args: ["x"], env: [{ name: "F", value: "2" }, { name: "E", value: "1" }] },
      { name: "b", image: "1" },
    ],
  }],
  ["null takes a field out", { nodeSelector: null, containers: [{ name: "b", image: null }] }, {
    nodeSelector: null,
    containers: [{ name: "a", image: "1", args: ["x"], env: [{ name: "E", value: "1" }] }, { name: "b" }],
  }],
  ["$patch: replace in an object leaves only the patch's fields", { nodeSelector: { $patch: "replace", zone: "z" } }, {
    nodeSelector: { zone: "z" },
  }],
  ["$patch: delete in an object leaves nothing in it", { nodeSelector: { $patch: "delete" } }, { nodeSelector: {} }],
  ["directives and nulls do not get into what was not there", {
    affinity: { nodeAffinity: null, podAffinity: { $patch: "delete" } },
    volumes: [{ name: "v", $patch: "delete" }, { name: "w", emptyDir: null }],
  }, { affinity: {}, volumes: [{ name: "w" }] }],
];

for (const [what, patch, after] of onPods) {
  test(`strategic merge patch: ${what}`, () => {
    const patched = strategicMergePatch(pod, patch, podSpecType);
    const expected: JsonObject = JSON.parse(JSON.stringify({ ...pod, ...after }, (_, value) => value ?? undefined));
    assertEquals(patched, expected);
  });
}

test("strategic merge patch: finalizers are a set with merge, order and deletion", () => {
  const metadata = { finalizers: ["a", "b", "c"] };
  const after = (patch: JsonObject) => strategicMergePatch(metadata, patch, metadataType)["finalizers"];
  assertEquals(after({ finalizers: ["d", "a"] }), ["d", "a", "b", "c"]);
  assertEquals(after({ "$deleteFromPrimitiveList/finalizers": ["b", "x"] }), ["a", "c"]);
  assertEquals(
    after({ "$setElementOrder/finalizers": ["c", "a"], "$deleteFromPrimitiveList/finalizers": ["b"] }),
    ["c", "a"],
  );
  assertEquals(strategicMergePatch({}, { "$deleteFromPrimitiveList/finalizers": ["b"] }, metadataType), {});
});

test("strategic merge patch: $retainKeys removes all other keys", () => {
  const spec = { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } };
  const patch = { strategy: { $retainKeys: ["type"], type: "Recreate" } };
  assertEquals(strategicMergePatch(spec, patch, deploymentSpecType), { strategy: { type: "Recreate" } });
  assertThrows(
    () => strategicMergePatch(spec, { strategy: { $retainKeys: ["type"], rollingUpdate: {} } }, deploymentSpecType),
    /^invalid patch format of retainKeys$/,
  );
});

const rejected: readonly (readonly [code: number, message: string, patch: Json])[] = [
  [400, "json: cannot unmarshal array into Go value of type map[string]interface {}", []],
  [400, "invalid patch format of setElementOrder list", { "$setElementOrdercontainers": [] }],
  [400, "invalid patch format of primitive list", { "$deleteFromPrimitiveListcontainers": [] }],
  [422, "the server rejected our request due to an error in our request", { containers: [["x"]] }],
  [500, "map: map[image:2] does not contain declared merge key: name", { containers: [{ image: "2" }] }],
  [500, "unknown patch type: x in map: map[$patch:x name:a]", { containers: [{ name: "a", $patch: "x" }] }],
  [500, "merging lists cannot yet be specified in the patch", { containers: [{ name: "a", $patch: "merge" }] }],
  [
    500,
    "list element types are not identical: [[map[args:[x] env:[map[name:E value:1]] image:1 name:a] map[image:1 name:b]] [1]]",
    { containers: [1] },
  ],
  [500, "expected a []interface {}, but received a string", { "$setElementOrder/containers": "x" }],
  [
    500,
    "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n",
    { "$setElementOrder/containers": [{ name: "a" }, { name: "b" }], containers: [{ name: "b" }, { name: "a" }] },
  ],
];

for (const [code, message, patch] of rejected) {
  test(`strategic merge patch: ${code} ${message.split("\n")[0]}`, () => {
    const object = code === 422 ? { containers: [] } : pod;
    const statusError = statusErrorOn(object, patch);
    assertEquals([statusError?.status.code, statusError?.message], [code, message]);
  });
}

function statusErrorOn(object: JsonObject, patch: Json): StatusError | undefined {
  try {
    strategicMergePatch(object, patch, podSpecType);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}

test("strategic merge patch: keys may have any name, and the object does not change", () => {
  const metadata: JsonObject = JSON.parse('{"labels":{"__proto__":"a","b":"c"}}');
  const before = JSON.stringify(metadata);
  const patch: JsonObject = JSON.parse('{"labels":{"__proto__":"x","constructor":"y","b":null}}');
  assertEquals(
    JSON.stringify(strategicMergePatch(metadata, patch, metadataType)),
    '{"labels":{"__proto__":"x","constructor":"y"}}',
  );
  assertEquals(JSON.stringify(metadata), before);
});
