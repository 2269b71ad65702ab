/** Tests of the types of ReconcileContext: what a controller did not declare does not compile, and the message says why. */
import { assertType, type Same, test } from "../../tests/testing.ts";
import { builtin, type Infer } from "../api/mod.ts";
import { controller } from "./builder.ts";
import { notCached } from "./caches.ts";
import type { DeclaredDesired, DeclaredKind, ReconcileContext } from "./context.ts";
import { manifest } from "./desired.ts";
import { done } from "./request.ts";

const { ConfigMap, Deployment, Namespace, Secret } = builtin;

test("every member of the context rejects a kind that is not declared", () => {
  controller("a").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    const secret = {} as Infer<typeof Secret>;
    // @ts-expect-error not declared
    ctx.find(Secret, "a/b");
    // @ts-expect-error not declared
    ctx.get(Secret, "a/b");
    // @ts-expect-error not declared
    ctx.list(Secret);
    // @ts-expect-error not declared
    await ctx.apply(manifest(Secret, { metadata: { namespace: "a", name: "b" } }));
    // @ts-expect-error not declared
    await ctx.apply({ apiVersion: "v1", kind: "Secret", metadata: { namespace: "a", name: "b" } });
    // @ts-expect-error not declared
    await ctx.applyFields(manifest(Secret, { metadata: { namespace: "a", name: "b" } }));
    // @ts-expect-error not declared
    await ctx.delete(Secret, secret);
    // @ts-expect-error not declared
    await ctx.patch(Secret, secret, { kind: "merge", value: {} });
    return done;
  });
});

test("the compiler's message names the kind and how to declare it", () => {
  type Declared = typeof Namespace | typeof ConfigMap;
  type Message = "Secret is not declared: add .owns(Secret), .watches(Secret, ...) or .uses(notCached(Secret), ...)";
  assertType<Same<DeclaredKind<typeof Secret, Declared>, Message>>(true);
  assertType<Same<DeclaredKind<typeof ConfigMap, Declared>, typeof ConfigMap>>(true);
  type ApplyMessage =
    "Secret is not declared: add .owns(Secret), or .watches(Secret, { ..., writes: true }) for ctx.applyFields";
  assertType<Same<DeclaredDesired<"Secret", Declared>, ApplyMessage>>(true);
});

test("a mistake in the other arguments is reported at its place, and not as a kind that is not declared", () => {
  controller("a").for(Namespace).owns(Deployment).reconcile(async (ctx) => {
    ctx.list(Deployment, {
      // @ts-expect-error no such option
      wrong: true,
    });
    await ctx.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { namespace: "a", name: "b" },
      spec: {
        // @ts-expect-error not a number
        replicas: "2",
      },
    });
    return done;
  });
});

test("a function for a context with fewer kinds accepts one with more", () => {
  const Secrets = notCached(Secret);
  type Few = ReconcileContext<typeof Namespace, typeof Namespace | typeof ConfigMap>;
  type More = ReconcileContext<typeof Namespace, typeof Namespace | typeof ConfigMap | typeof Secrets>;
  const useFew = (ctx: Few) => ctx.find(ConfigMap, "a/b");
  const useMore = (ctx: More) => ctx.find(Secrets, "a/b");
  controller("a").for(Namespace).owns(ConfigMap).reconcile((ctx) => {
    useFew(ctx);
    return Promise.resolve(done);
  });
  controller("a").for(Namespace).owns(ConfigMap).uses(Secrets, ["get"]).reconcile(async (ctx) => {
    useFew(ctx);
    await useMore(ctx);
    return done;
  });
});
