/** A fleet on two real control planes: one API server is stopped and started again. bench/cases/fleet.ts measures the same. */
import { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assertEquals } from "../testing.ts";
import { FleetRun, FooUser } from "./_fleet_run.ts";

controlPlaneTest(
  "while the API server of one cluster is stopped, the fleet works in the other, and then in both",
  async (east) => {
    await using west = await ControlPlane.start({ binaries: east.description.binaries });
    await using fleet = await FleetRun.start(east, west);
    await using inEast = await FooUser.connect(east, await createNamespace(east));
    await using inWest = await FooUser.connect(west, await createNamespace(west));
    await inEast.latencies("before", 3);
    await inWest.latencies("before", 3);
    await west.stopApiServer();
    await fleet.operator.logged(/cluster=west/);
    assertEquals((await inEast.latencies("during", 10)).length, 10);
    await west.startApiServer();
    await inWest.create("after");
    await inWest.see("after");
    fleet.operator.signal("SIGTERM");
    assertEquals((await fleet.operator.ended()).code, 0);
  },
);
