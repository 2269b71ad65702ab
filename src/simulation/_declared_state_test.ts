/** Tests which workloads can be compared with one that creates its objects at once, and what is compared. */
import { builtin, type UntypedObject } from "../api/mod.ts";
import { controller, done, manifest } from "../controller/mod.ts";
import type { Workload, WorkloadStep } from "../manager/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { declaredAtOnce } from "./_declared_state.ts";
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
