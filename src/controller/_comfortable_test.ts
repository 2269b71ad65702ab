import { assertEquals, assertRejects, assertThrows, test } from "../../tests/testing.ts";
import { refusal, toolboxBench } from "../../tests/fakes/toolbox.ts";
import { builtin, type KubeObject, resourceVersion } from "../api/mod.ts";
import { controller } from "./builder.ts";
import { done, requeueAfter, type Result } from "./result.ts";

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

const dying = { deletionTimestamp: "2026-01-01T00:00:00Z" };

/** A controller that notes which of its functions were called. */
function greeter(options: { readonly finalizes: boolean; readonly cleanUp?: () => Promise<Result> }) {
  const calls: string[] = [];
  const started = controller("greeter").for(Namespace);
  const cleanUp = options.cleanUp ?? (() => Promise.resolve(done));
  const finalizing = options.finalizes
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

test("an object that is gone is done", async () => {
  const { definition, calls } = greeter({ finalizes: false });
  const b = toolboxBench();
  assertEquals(await definition.reconciler(b.toolbox.request, b.toolbox), done);
  assertEquals(calls, []);
});

test("an object that is being deleted is not reconciled", async () => {
  const { definition, calls } = greeter({ finalizes: false });
  const b = toolboxBench({ cached: [namespace({ ...dying, finalizers: ["somebody/else"] })] });
  await definition.reconciler(b.toolbox.request, b.toolbox);
  assertEquals(calls, []);
});

test("the finalizer is on before the first reconcile, and nobody else's is lost", async () => {
  const { definition, calls } = greeter({ finalizes: true });
  const held = namespace({ finalizers: ["somebody/else"] });
  const claimed = namespace({ finalizers: ["somebody/else", finalizer] });
  const b = toolboxBench({ cached: [held], answers: [Response.json(claimed)] });
  await definition.reconciler(b.toolbox.request, b.toolbox);
  assertEquals(b.sent[0]?.body, [
    { op: "test", path: "/metadata/uid", value: "u1" },
    { op: "test", path: "/metadata/resourceVersion", value: "7" },
    { op: "add", path: "/metadata/finalizers/-", value: finalizer },
  ]);
  assertEquals(calls, [`reconcile somebody/else,${finalizer}`]);
});

test("the finalizer is taken off after the clean-up, on the object as the server has it", async () => {
  const { definition, calls } = greeter({ finalizes: true });
  const cached = namespace({ ...dying, finalizers: [finalizer] });
  const live = namespace({ ...dying, finalizers: ["somebody/else", finalizer], resourceVersion: resourceVersion("9") });
  const b = toolboxBench({ cached: [cached], answers: [Response.json(live), Response.json(live)] });
  await definition.reconciler(b.toolbox.request, b.toolbox);
  assertEquals(calls, ["finalize"]);
  assertEquals(b.sent.map((one) => one.method), ["GET", "PATCH"]);
  assertEquals(b.sent[1]?.body, [
    { op: "test", path: "/metadata/uid", value: "u1" },
    { op: "test", path: "/metadata/resourceVersion", value: "9" },
    { op: "remove", path: "/metadata/finalizers/1" },
  ]);
});

test("a clean-up that failed, or is not done yet, keeps the finalizer on", async () => {
  const dead = namespace({ ...dying, finalizers: [finalizer] });
  const waiting = greeter({ finalizes: true, cleanUp: () => Promise.resolve(requeueAfter(1000)) });
  const first = toolboxBench({ cached: [dead], answers: [Response.json(dead)] });
  assertEquals(await waiting.definition.reconciler(first.toolbox.request, first.toolbox), requeueAfter(1000));
  const failing = greeter({ finalizes: true, cleanUp: () => Promise.reject(new Error("not now")) });
  const second = toolboxBench({ cached: [dead], answers: [Response.json(dead)] });
  await assertRejects(() => failing.definition.reconciler(second.toolbox.request, second.toolbox), /not now/);
  assertEquals([...first.sent, ...second.sent].map((one) => one.method), ["GET", "GET"]);
});

test("nothing is cleaned up for an object that the server does not have any more, or has anew", async () => {
  const dead = namespace({ ...dying, finalizers: [finalizer] });
  const reborn = namespace({ uid: "u2", finalizers: [finalizer] });
  for (const answer of [refusal(404, "NotFound"), Response.json(reborn)]) {
    const { definition, calls } = greeter({ finalizes: true });
    const b = toolboxBench({ cached: [dead], answers: [answer] });
    assertEquals(await definition.reconciler(b.toolbox.request, b.toolbox), done);
    assertEquals(calls, []);
  }
});

test("an object that vanished while its finalizer was taken off is done", async () => {
  const { definition } = greeter({ finalizes: true });
  const dead = namespace({ ...dying, finalizers: [finalizer] });
  const b = toolboxBench({ cached: [dead], answers: [Response.json(dead), refusal(404, "NotFound")] });
  assertEquals(await definition.reconciler(b.toolbox.request, b.toolbox), done);
});

test("a finalizer without domain is refused", () => {
  assertThrows(() => controller("a").for(Namespace).finalize(() => Promise.resolve(done), "mine"), /domain\/name/);
});
