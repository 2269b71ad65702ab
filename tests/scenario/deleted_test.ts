/** Seeing the last state of deleted objects without a finalizer, through the public surface. */
import { assertEquals, test } from "../testing.ts";
import { changed, ConfigMap, controller, type ControllerDefinition, done } from "../../src/mod.ts";
import { simulateController, World } from "../../src/testing.ts";

interface Report {
  readonly host: string | undefined;
  readonly hasFinalizer: boolean;
}

/** Collects what is deleted. @param failures errors of the function before it succeeds */
function counting(reports: Report[], { failures = 0, selector = {} } = {}): ControllerDefinition {
  let left = failures;
  return controller("counting", { selector: { matchLabels: selector } }).for(ConfigMap, { when: changed.labels })
    .deleted((ctx) => {
      if (left-- > 0) throw new Error("no luck");
      const { metadata, data } = ctx.object;
      reports.push({ host: data?.host, hasFinalizer: metadata.finalizers !== undefined });
      return Promise.resolve(done);
    })
    .reconcile(() => Promise.resolve(done));
}

test("a deleted object is reported once with its last state, and needs no finalizer", async () => {
  const reports: Report[] = [];
  await using world = await World.start({ controllers: [counting(reports)], cluster: false });
  await world.create(ConfigMap, { name: "a", data: { host: "one" } });
  await world.settled();
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { host: "two" } } });
  await world.delete(ConfigMap, "default/a");
  await world.settled();
  assertEquals(reports, [{ host: "two", hasFinalizer: false }]);
});

test("a report that fails is repeated, and each of two objects of one name is reported", async () => {
  const reports: Report[] = [];
  await using world = await World.start({ controllers: [counting(reports, { failures: 2 })], cluster: false });
  for (const host of ["one", "two"]) {
    await world.create(ConfigMap, { name: "a", data: { host } });
    await world.delete(ConfigMap, "default/a");
  }
  await world.create(ConfigMap, { name: "a", data: { host: "three" } });
  await world.settled();
  assertEquals(reports.map(({ host }) => host), ["one", "two"]);
});

test("an object that only loses the label of the selector is not reported", async () => {
  const reports: Report[] = [];
  await using world = await World.start({
    controllers: [counting(reports, { selector: { app: "shop" } })],
    cluster: false,
  });
  await world.create(ConfigMap, { name: "a", labels: { app: "shop" }, data: { host: "one" } });
  await world.settled();
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { metadata: { labels: { app: "other" } } } });
  await world.settled();
  assertEquals(reports, []);
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { metadata: { labels: { app: "shop" } } } });
  await world.settled();
  await world.delete(ConfigMap, "default/a");
  await world.settled();
  assertEquals(reports.map(({ host }) => host), ["one"]);
});

test("simulate finds nothing wrong with a controller that sees deletions", async () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
  const create = { kind: "create", object: { ...object, metadata: { name: "a", namespace: "default" } } } as const;
  const workload = { name: "recreate", steps: [create, { kind: "delete", object }, create] } as const;
  const { findings } = await simulateController(() => counting([]), { workloads: [workload], storms: 10 });
  assertEquals(findings.map(({ violations }) => violations), []);
});
