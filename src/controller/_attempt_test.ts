import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, objectKey } from "../api/mod.ts";
import { VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import { attemptWith } from "./_attempt.ts";
import { OwnerChangedError, type OwnerState } from "./_owner_changed_error.ts";
import { controller } from "./builder.ts";

const owner = {
  resource: builtin.Namespace,
  object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", uid: "u-shop" } },
};
const child = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" } };

/** How an attempt ends whose reconciler throws that. */
async function outcomeOf(error: Error): Promise<unknown> {
  const definition = controller("greeter").for(builtin.Namespace).reconcileKey(() => Promise.reject(error));
  const attempt = attemptWith({
    definition,
    client: new Client(() => Promise.reject(new Error("not needed here"))),
    caches: { find: () => undefined, list: () => [] },
    events: { record: () => {} },
    clock: new VirtualClock(),
    kill: new AbortController().signal,
    log: logger("test"),
    wrote: () => () => {},
    repaired: () => () => {},
  });
  return await attempt(objectKey({ name: "shop" }), [], 0);
}

function changed(state: OwnerState): OwnerChangedError {
  return new OwnerChangedError(builtin.ConfigMap, child, owner, state);
}

test("an attempt that finds its owner gone on the server is done, and nobody is to blame", async () => {
  assertEquals(await outcomeOf(changed("gone")), { kind: "done" });
  assertEquals(await outcomeOf(new Error("Cannot bring it", { cause: changed("gone") })), { kind: "done" });
});

test("an attempt that finds its owner newer on the server is made again when the cache has that", async () => {
  assertEquals(await outcomeOf(changed("newer")), { kind: "requeue", afterMs: 1_000 });
});

test("an attempt that throws anything else has failed", async () => {
  const error = new Error("no luck");
  assertEquals(await outcomeOf(error), { kind: "failed", error });
});
