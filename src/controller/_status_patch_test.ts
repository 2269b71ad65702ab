import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { isDeepEqual, type KubeObject, type ResourceVersion } from "../api/mod.ts";
import { ApiError, type JsonPatchOperation } from "../client/mod.ts";
import { statusPatch, writeStatus } from "./_status_patch.ts";

function withStatus(status: unknown, uid = "u-1"): KubeObject {
  const object: KubeObject = {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: "a", uid, resourceVersion: "1" as ResourceVersion },
  };
  return status === undefined ? object : { ...object, status } as KubeObject;
}

const exactly: JsonPatchOperation = { op: "test", path: "/metadata/uid", value: "u-1" };

const cases: readonly (readonly [name: string, current: unknown, status: object, JsonPatchOperation[]])[] = [
  ["no status", undefined, { phase: "Ready", gone: null, deep: { x: 1, y: null } }, [
    { op: "test", path: "/status", value: null },
    { op: "add", path: "/status", value: { phase: "Ready", deep: { x: 1 } } },
  ]],
  ["an empty status", {}, { phase: "Ready", deep: { x: [1] } }, [
    { op: "add", path: "/status/phase", value: "Ready" },
    { op: "test", path: "/status/deep", value: null },
    { op: "add", path: "/status/deep", value: { x: [1] } },
  ]],
  ["a status with other fields", { kept: 1, deep: { kept: 2, x: 3 } }, { phase: "Ready", deep: { x: 4 } }, [
    { op: "add", path: "/status/phase", value: "Ready" },
    { op: "add", path: "/status/deep/x", value: 4 },
  ]],
  ["null", { phase: "New", deep: { x: 1, y: 2 } }, { phase: null, deep: { x: null, z: null } }, [
    { op: "remove", path: "/status/phase" },
    { op: "remove", path: "/status/deep/x" },
  ]],
  ["a list", { conditions: [{ type: "A" }] }, { conditions: [{ type: "B" }] }, [
    { op: "add", path: "/status/conditions", value: [{ type: "B" }] },
  ]],
  ["names with / and ~", { byName: { "a/b": 1, "c~d": 2 } }, { byName: { "a/b": 3, "c~d": null } }, [
    { op: "add", path: "/status/byName/a~1b", value: 3 },
    { op: "remove", path: "/status/byName/c~0d" },
  ]],
  ["a map where a text was", { place: "x" }, { place: { y: 1, z: null } }, [
    { op: "add", path: "/status/place", value: { y: 1 } },
  ]],
];

for (const [name, current, status, operations] of cases) {
  test(`the patch of a status merges as a merge patch does: ${name}`, () => {
    assertEquals(statusPatch(withStatus(current), status), [exactly, ...operations]);
  });
}

test("fields that the status has already are not in its patch", () => {
  const object = withStatus({ phase: "Ready", deep: { x: [{ y: 1 }] } });
  assertEquals(statusPatch(object, { phase: "Ready", deep: { x: [{ y: 1 }], z: undefined } }).length, 1);
});

function invalid(causes?: readonly { readonly field: string }[]): ApiError {
  return new ApiError({ code: 422, reason: "Invalid", details: { causes } }, { action: "patch Thing" });
}

/** A server with one object, which refuses patches as evanphx/json-patch does. */
class Server {
  readonly patches: (readonly JsonPatchOperation[])[] = [];
  live: KubeObject;
  refusal: ApiError | undefined;

  constructor(live: KubeObject) {
    this.live = live;
  }

  readonly patch = (operations: readonly JsonPatchOperation[]): Promise<KubeObject> => {
    this.patches.push(operations);
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    const isRefused = operations.some((one) => one.op === "test" && !isDeepEqual(this.#at(one.path), one.value));
    return isRefused ? Promise.reject(invalid()) : Promise.resolve(this.live);
  };

  #at(path: string): unknown {
    return path === "/metadata/uid" ? this.live.metadata.uid : Reflect.get(this.live, "status") ?? null;
  }
}

test("a status that the cache does not show is written to the live object, and not twice", async () => {
  const server = new Server(withStatus({ phase: "Old" }));
  assertEquals(await writeStatus(withStatus(undefined), { phase: "Ready" }, server.patch), server.live);
  assertEquals(server.patches.slice(1), [[exactly], [exactly, { op: "add", path: "/status/phase", value: "Ready" }]]);
  server.live = withStatus({ phase: "Ready" });
  assertEquals(await writeStatus(withStatus(undefined), { phase: "Ready" }, server.patch), server.live);
  assertEquals(server.patches.slice(4), [[exactly]]);
});

test("a status is not written to another object of that name", async () => {
  const server = new Server(withStatus({ phase: "Old" }, "u-2"));
  assertEquals(await writeStatus(withStatus({ phase: "Old" }), { phase: "Ready" }, server.patch), undefined);
  assertEquals(server.patches.at(-1), [exactly]);
});

test("a status that the kind does not allow is refused for good", async () => {
  const server = new Server(withStatus({ phase: "Old" }));
  for (
    const refusal of [invalid([{ field: "status.phase" }]), new ApiError({ code: 409 }, { action: "patch Thing" })]
  ) {
    server.refusal = refusal;
    await assertRejects(() => writeStatus(withStatus({}), { phase: "Ready" }, server.patch), /patch Thing/);
  }
  assertEquals(server.patches.length, 2);
});

test("an object without a UID is found by its name", () => {
  const object = withStatus({}, undefined);
  assertEquals(statusPatch({ ...object, metadata: { name: "a" } }, { phase: "Ready" }), [
    { op: "add", path: "/status/phase", value: "Ready" },
  ]);
});
