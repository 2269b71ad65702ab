import { assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { createTestToolbox, statusResponse } from "../../tests/fakes/toolbox.ts";
import { builtin, type KubeObject, resourceVersion } from "../api/mod.ts";
import { controller } from "./builder.ts";
import { done, requeueAfter, type Result } from "./request.ts";

const { Namespace } = builtin;
const finalizer = "pintle.dev/greeter";

function namespace(metadata: KubeObject["metadata"] = {}): KubeObject {
  const version = resourceVersion("7");
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", uid: "u1", resourceVersion: version, ...metadata },
  };
}

const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z" };

/** A controller that records which of its functions were called. */
function greeter(options: { readonly hasFinalize: boolean; readonly cleanUp?: () => Promise<Result> }) {
  const calls: string[] = [];
  const started = controller("greeter").for(Namespace);
  const cleanUp = options.cleanUp ?? (() => Promise.resolve(done));
  const finalizing = options.hasFinalize
    ? started.finalize(() => {
      calls.push("finalize");
      return cleanUp();
    })
    : started;
  const definition = finalizing.reconcile((ctx) => {
    calls.push(`reconcile ${ctx.object.metadata.finalizers?.join() ?? "-"}`);
    return Promise.resolve(done);
  });
  return { definition, calls };
}

test("a reconcile of a key without an object is done", async () => {
  const { definition, calls } = greeter({ hasFinalize: false });
  const b = createTestToolbox();
  assertEquals(await definition.reconciler(b.toolbox.request, b.toolbox), done);
  assertEquals(calls, []);
});

test("an object that is being deleted is not reconciled", async () => {
  const { definition, calls } = greeter({ hasFinalize: false });
  const b = createTestToolbox({ cached: [namespace({ ...deleting, finalizers: ["other/finalizer"] })] });
  await definition.reconciler(b.toolbox.request, b.toolbox);
  assertEquals(calls, []);
});

test("the finalizer is added before the first reconcile, and other finalizers are kept", async () => {
  const { definition, calls } = greeter({ hasFinalize: true });
  const cached = namespace({ finalizers: ["other/finalizer"] });
  const withFinalizer = namespace({ finalizers: ["other/finalizer", finalizer] });
  const b = createTestToolbox({ cached: [cached], responses: [Response.json(withFinalizer)] });
  await definition.reconciler(b.toolbox.request, b.toolbox);
  assertEquals(b.sent[0]?.body, [
    { op: "test", path: "/metadata/uid", value: "u1" },
    { op: "test", path: "/metadata/resourceVersion", value: "7" },
    { op: "add", path: "/metadata/finalizers/-", value: finalizer },
  ]);
  assertEquals(calls, [`reconcile other/finalizer,${finalizer}`]);
});

test("the finalizer is removed after the clean-up, from the live object", async () => {
  const { definition, calls } = greeter({ hasFinalize: true });
  const cached = namespace({ ...deleting, finalizers: [finalizer] });
  const live = namespace({
    ...deleting,
    finalizers: ["other/finalizer", finalizer],
    resourceVersion: resourceVersion("9"),
  });
  const b = createTestToolbox({ cached: [cached], responses: [Response.json(live), Response.json(live)] });
  await definition.reconciler(b.toolbox.request, b.toolbox);
  assertEquals(calls, ["finalize"]);
  assertEquals(b.sent.map((one) => one.method), ["GET", "PATCH"]);
  assertEquals(b.sent[1]?.body, [
    { op: "test", path: "/metadata/uid", value: "u1" },
    { op: "test", path: "/metadata/resourceVersion", value: "9" },
    { op: "remove", path: "/metadata/finalizers/1" },
  ]);
});

test("the finalizer stays while the clean-up fails or is not done", async () => {
  const deleted = namespace({ ...deleting, finalizers: [finalizer] });
  const waiting = greeter({ hasFinalize: true, cleanUp: () => Promise.resolve(requeueAfter(1000)) });
  const first = createTestToolbox({ cached: [deleted], responses: [Response.json(deleted)] });
  assertEquals(await waiting.definition.reconciler(first.toolbox.request, first.toolbox), requeueAfter(1000));
  const failing = greeter({ hasFinalize: true, cleanUp: () => Promise.reject(new Error("not now")) });
  const second = createTestToolbox({ cached: [deleted], responses: [Response.json(deleted)] });
  await assertRejects(() => failing.definition.reconciler(second.toolbox.request, second.toolbox), /not now/);
  assertEquals([...first.sent, ...second.sent].map((one) => one.method), ["GET", "GET"]);
});

test("finalize() is not called when the server has no object with that UID", async () => {
  const deleted = namespace({ ...deleting, finalizers: [finalizer] });
  const recreated = namespace({ uid: "u2", finalizers: [finalizer] });
  for (const response of [statusResponse(404, "NotFound"), Response.json(recreated)]) {
    const { definition, calls } = greeter({ hasFinalize: true });
    const b = createTestToolbox({ cached: [deleted], responses: [response] });
    assertEquals(await definition.reconciler(b.toolbox.request, b.toolbox), done);
    assertEquals(calls, []);
  }
});

test("a reconcile is done when the object is deleted before its finalizer is removed", async () => {
  const { definition } = greeter({ hasFinalize: true });
  const deleted = namespace({ ...deleting, finalizers: [finalizer] });
  const b = createTestToolbox({
    cached: [deleted],
    responses: [Response.json(deleted), statusResponse(404, "NotFound")],
  });
  assertEquals(await definition.reconciler(b.toolbox.request, b.toolbox), done);
});

test("finalize() rejects a finalizer without a domain", () => {
  assertThrows(() => controller("a").for(Namespace).finalize(() => Promise.resolve(done), "mine"), /domain\/name/);
});
