/**
 * `why` and the debug endpoint that it asks: the compiled binary on a real control plane. What it says about incidents is in
 * why_CONTROLLER_test.ts.
 */
import { readFile, stat } from "node:fs/promises";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { runBinary } from "./_binary.ts";
import { installFoo } from "./_cluster.ts";
import { Incident } from "./_incident.ts";

controlPlaneTest(
  "[security 29] the token of the debug endpoint is in a file of its owner, and in no log",
  async (controlPlane) => {
    await installFoo(controlPlane);
    const name = await createNamespace(controlPlane);
    const args = ["-n", name, "-v"];
    await using incident = await Incident.start(controlPlane, { controller: "foo", args, names: {} });
    const token = (await readFile(incident.tokenFile, "utf8")).trim();
    assertEquals([token.length, (await stat(incident.tokenFile)).mode & 0o777], [64, 0o600]);
    const answer = await fetch(`http://${incident.address}/debug/queues`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assertEquals([answer.status, (await answer.json()).queues[0].controller], [200, "foo"]);
    const refused = await fetch(`http://${incident.address}/debug/queues`);
    await refused.body?.cancel();
    assertEquals(refused.status, 401);
    for (const path of ["/debug/cpu?seconds=0.2", "/debug/heap"]) {
      const profile = await fetch(`http://${incident.address}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assertEquals([profile.status, typeof await profile.json()], [200, "object"], path);
    }
    assert(!incident.log.includes(token));
    const none = await runBinary(["run", "foo", "--debug-bind-address", "127.0.0.1:0"], {
      kubeconfig: controlPlane.kubeconfig,
    });
    assertEquals(none.code, 2);
    assertMatch(none.stderr, /it has no token, and a new one would be shown where it is stored.*--debug-token-file/);
  },
);
