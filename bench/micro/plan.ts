/**
 * CPU of `plan` for many Foos: of a cluster where nothing is left to do, and after an upgrade that changes each Deployment.
 *
 *   deno run -A bench/micro/plan.ts [foos]      (default: 2000)
 */
import process from "node:process";
import { PlannedWorld } from "../../src/cli/plan/testing/planned_world.ts";
import { fooController } from "../../src/controllers/foo/mod.ts";
import { Foo } from "../../src/controllers/foo/resource.ts";

const count = Number(process.argv[2] ?? 2_000);
await using cluster = await PlannedWorld.start([fooController]);
const name = (index: number) => `foo-${index}`;
for (let index = 0; index < count; index++) {
  await cluster.world.create(Foo, { name: name(index), spec: { deploymentName: name(index), replicas: 2 } });
}
await cluster.stopOperator();
await measure("nothing to change");
for (let index = 0; index < count; index++) {
  await cluster.world.patch(Foo, `default/${name(index)}`, { kind: "merge", value: { spec: { replicas: 3 } } });
}
await measure("every Deployment and status to change");

async function measure(what: string): Promise<void> {
  const before = process.cpuUsage();
  const { code, err } = await cluster.plan([fooController], ["-o", "name"]);
  const { user, system } = process.cpuUsage(before);
  console.log(
    `${count} Foos, ${what}: ${((user + system) / 1e6).toFixed(1)} s of CPU, exit code ${code}; ${err.trim()}`,
  );
}
