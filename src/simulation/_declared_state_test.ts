/** Tests which workloads can be compared with one that creates its objects at once, and what is compared. */
import { builtin, type UntypedObject } from "../api/mod.ts";
import { controller, done, manifest } from "../controller/mod.ts";
import { type OperatorController, withChecks, type Workload, type WorkloadStep } from "../manager/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { declaredAtOnce, declaredParts } from "./_declared_state.ts";
import { ScheduleChecker } from "./schedule_checker.ts";

const { ConfigMap, Job, Secret } = builtin;

function secret(name: string, data: Readonly<Record<string, string>>): UntypedObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "default" }, stringData: data };
}

function patch(name: string, patch: Readonly<Record<string, unknown>>, kind = "Secret"): WorkloadStep {
  return { kind: "patch", object: { apiVersion: "v1", kind, name }, patch };
}

const create: WorkloadStep = { kind: "create", object: secret("a", { one: "1", two: "2" }) };

test("declaredAtOnce() merges accepted patches into the objects, and ignores rejected ones", () => {
  const steps = [
    create,
    patch("a", { stringData: { one: null, three: "3" } }),
    patch("a", { stringData: { two: "9" } }),
  ];
  const direct = declaredAtOnce({ name: "w", steps }, ["done", "done", "rejected 422"]);
  assertEquals(direct?.steps, [{ kind: "create", object: secret("a", { two: "2", three: "3" }) }]);
});

test("declaredAtOnce() returns undefined for deletions, patches of other objects, and workloads without changes", () => {
  const deletion: WorkloadStep = { kind: "delete", object: { apiVersion: "v1", kind: "Secret", name: "a" } };
  for (const steps of [[create], [create, deletion], [create, patch("b", {})], [create, { kind: "stop" } as const]]) {
    assertEquals(declaredAtOnce({ name: "w", steps }, steps.map(() => "done")), undefined);
  }
});

test("declaredAtOnce() returns undefined while an object is paused, and compares it when it is resumed", () => {
  const pause = (value: string | null) => patch("a", { metadata: { annotations: { "pintle.dev/paused": value } } });
  const steps = [create, pause("true"), patch("a", { stringData: { two: "3" } })];
  assertEquals(declaredAtOnce({ name: "w", steps }, ["done", "done", "done"]), undefined);
  const resumed = declaredAtOnce({ name: "w", steps: [...steps, pause(null)] }, ["done", "done", "done", "done"]);
  assertEquals(resumed?.steps.length, 1);
});

const workload: Workload = { name: "change", steps: [create, patch("a", { metadata: { labels: { size: "2" } } })] };

/** A controller that names its objects after the label, and deletes none. */
function leaves(kind: "ConfigMap" | "Job") {
  return controller("leaves").for(Secret).owns(ConfigMap).owns(Job).reconcile(async (ctx) => {
    const name = `size-${ctx.object.metadata.labels?.["size"] ?? "1"}`;
    const metadata = { namespace: "default", name };
    const containers = [{ name: "main", image: "main:1" }];
    if (kind === "ConfigMap") await ctx.apply(manifest(ConfigMap, { metadata, data: { name } }));
    else {
      await ctx.apply(manifest(Job, {
        metadata,
        spec: { template: { spec: { restartPolicy: "Never", containers } } },
      }));
    }
    return done;
  });
}

test("a dependent that is left from an earlier declaration is reported", async () => {
  const { violations } = await new ScheduleChecker(leaves("ConfigMap"), [workload]).checkDeclaredState("change");
  assertEquals(new Set(violations.map(({ object }) => object)), new Set(["configmaps default/size-1"]));
  assertEquals(
    violations.at(-1)?.message,
    'configmaps default/size-1 .data.name depends on the way: "size-1" after these steps, missing when the same objects ' +
      "are created at once",
  );
});

test("a Job of an earlier declaration is work that was done, and is not reported", async () => {
  const { violations } = await new ScheduleChecker(leaves("Job"), [workload]).checkDeclaredState("change");
  assertEquals(violations, []);
});

test("declaredParts() ends with each accepted change, and has one part for each declaration", () => {
  const steps = [create, patch("a", { stringData: { one: null } }), patch("a", { stringData: { one: "1" } })];
  const lengths = (outcomes: readonly string[]) =>
    declaredParts({ name: "w", steps }, outcomes).map(({ stepwise }) => stepwise.steps.length);
  assertEquals(lengths(["done", "done", "done"]), [3, 2]);
  assertEquals(lengths(["done", "rejected 422", "done"]), [3]);
});

/** Sets the label `size` to each of the values, one after the other. */
function sizes(...values: readonly string[]): Workload {
  return { name: "sizes", steps: [create, ...values.map((size) => patch("a", { metadata: { labels: { size } } }))] };
}

async function messagesOf(subject: OperatorController, sized: Workload): Promise<readonly string[]> {
  const { violations } = await new ScheduleChecker(subject, [sized]).checkDeclaredState(sized.name);
  return violations.map(({ message }) => message);
}

/** A controller that stays with what it has chosen, as long as the Secret still names it. */
const keeps = controller("keeps").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
  const names = Object.values(ctx.object.data ?? {});
  const known = ctx.find(ConfigMap, "default/chosen")?.data?.["name"];
  const name = known !== undefined && names.includes(known) ? known : ctx.object.data?.["one"] ?? "";
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name: "chosen" }, data: { name } }));
  return done;
});

test("a choice among declared values may depend on the way", async () => {
  const swapped: Workload = { name: "swap", steps: [create, patch("a", { stringData: { one: "2", two: "1" } })] };
  assertEquals(await messagesOf(keeps, swapped), []);
});

/** A controller that adds the size to an external system, and takes another one away only if `isTidy`. */
function records(isTidy: boolean): OperatorController {
  const sizes = new Map<string, string>();
  const controlled = controller("records").for(Secret).reconcile((ctx) => {
    if (isTidy) sizes.clear();
    sizes.set(ctx.object.metadata.labels?.["size"] ?? "1", "size");
    return Promise.resolve(done);
  });
  const system = { name: "sizes", reset: () => sizes.clear(), state: () => Object.fromEntries(sizes) };
  return withChecks(controlled, { externalSystems: [system] });
}

test("an external system that holds more than is declared is reported", async () => {
  assertEquals(await messagesOf(records(true), sizes("2")), []);
  assertEquals(await messagesOf(records(false), sizes("2")), [
    "external sizes depends on the way: it holds 2 values after these steps, 1 when the same objects are created at once",
  ]);
});

/** A controller with a ConfigMap for each Secret, and one more for its field `extra`, which it never deletes. */
const forgets = controller("forgets").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
  const { data = {} } = ctx.object;
  if (data["paused"] !== undefined) return done;
  for (const name of ["base", ...data["extra"] === undefined ? [] : ["extra"]]) {
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name }, data: { name } }));
  }
  return done;
});

/** Sets a field of the Secret, and removes it; the other way round with `null` first. */
function toggled(field: string, ...values: readonly (string | null)[]): Workload {
  return { name: "toggle", steps: [create, ...values.map((value) => patch("a", { data: { [field]: value } }))] };
}

test("a workload that restores the first value in the end does not hide what another value leaves", async () => {
  const [message = ""] = await messagesOf(forgets, toggled("extra", "eA==", null, "eA=="));
  assertEquals(message.startsWith("configmaps default/extra "), true, message);
});

test("what exists for an object that is paused in between is no violation", async () => {
  assertEquals(await messagesOf(forgets, toggled("paused", "eA==", null)), []);
});

test("what the author calls equivalent may depend on the way", async () => {
  const accepted = withChecks(leaves("ConfigMap"), {
    equivalent: (one, other) => (one ?? other)?.kind === "ConfigMap",
  });
  assertEquals(await messagesOf(accepted, sizes("2")), []);
});
