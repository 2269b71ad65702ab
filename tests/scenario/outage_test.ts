/**
 * An outage of the API server in a World: longer than all backoffs, with changes that nobody saw. The operator follows the
 * server within seconds of its return, without a restart. tests/e2e/outage_test.ts has the same with a real server.
 */
import { ConfigMap, controller, defineResource, done, manifest, z } from "../../src/mod.ts";
import { VirtualClock, World } from "../../src/testing.ts";
import { assert, assertEquals, test } from "../testing.ts";

const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ text: z.string() }),
  status: z.object({ seen: z.string().optional() }),
});

const sites = controller("site").for(Site).owns(ConfigMap).reconcile(async (ctx) => {
  const { metadata: { name = "", namespace }, spec: { text } } = ctx.object;
  await ctx.apply(manifest(ConfigMap, { metadata: { name, namespace }, data: { text } }));
  await ctx.patchStatus({ seen: text });
  return done;
});

type Transport = (request: Request) => Promise<Response>;

/** A server that can be unreachable: no request gets an answer, and streams that were open break. */
class Server {
  readonly #breaking = new Set<(error: Error) => void>();
  #isDown = false;
  refused = 0;

  readonly wrap = (transport: Transport): Transport => async (request) => {
    if (this.#isDown) {
      this.refused++;
      throw connectionRefused();
    }
    const response = await transport(request);
    if (response.body === null) return response;
    const pipe = new TransformStream<Uint8Array, Uint8Array>();
    const stop = new AbortController();
    const breakStream = (error: Error) => stop.abort(error);
    this.#breaking.add(breakStream);
    response.body.pipeTo(pipe.writable, { signal: stop.signal }).catch(() => {}).finally(() =>
      this.#breaking.delete(breakStream)
    );
    return new Response(pipe.readable, response);
  };

  goDown(): void {
    this.#isDown = true;
    for (const breakStream of this.#breaking) breakStream(connectionRefused());
  }

  comeBack(): void {
    this.#isDown = false;
  }
}

function connectionRefused(): Error {
  return new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) });
}

const minuteMs = 60_000;
/** An outage ends for everyone within seconds. */
const followsWithinMs = 10_000;

for (const minutes of [1, 30]) {
  test(`an operator follows the API server within seconds after an outage of ${minutes} min`, async () => {
    const [server, clock] = [new Server(), new VirtualClock()];
    await using world = await World.start({ controllers: [sites], clock, wrap: server.wrap });
    for (const name of ["kept", "changed", "removed"]) await world.create(Site, { name, spec: { text: "before" } });
    await world.settled();
    server.goDown();
    await world.patch(Site, "default/changed", { kind: "merge", value: { spec: { text: "after" } } });
    await world.delete(Site, "default/removed");
    await world.create(Site, { name: "new", spec: { text: "after" } });
    await world.delete(ConfigMap, "default/kept");
    await clock.advance(minutes * minuteMs);
    assert(server.refused > 1);
    assertEquals(world.find(ConfigMap, "default/new"), undefined);
    assertEquals(world.get(ConfigMap, "default/changed").data, { text: "before" });
    server.comeBack();
    // Not settled(), which would wait as long as it takes.
    await clock.advance(followsWithinMs);
    const data = Object.fromEntries(
      world.list(ConfigMap, "default").filter(({ metadata: { name } }) => name !== "kube-root-ca.crt")
        .map(({ metadata, data }) => [metadata.name, data?.["text"]]),
    );
    assertEquals(data, { changed: "after", kept: "before", new: "after" });
    assertEquals(world.list(Site).map(({ status }) => status?.seen), ["after", "before", "after"]);
  });
}
