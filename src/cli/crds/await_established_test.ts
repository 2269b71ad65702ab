import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import type { TestProcess } from "../testing/test_process.ts";
import { Website } from "../testing/test_kinds.ts";
import { FakeServer } from "../testing/fake_server.ts";
import { awaitEstablished } from "./await_established.ts";
import { CommandError, exitCode } from "../command/exit_code.ts";
import { createCrdContext } from "./testing/crd_context.ts";

const path = "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.example.dev";
const discovery = "GET /apis/example.dev/v1";
const served = { kind: "APIResourceList", resources: [{ name: "websites" }] };

function withCondition(type: string, status: string, message = ""): object {
  return { ...Website.crd, status: { conditions: [{ type, status, message, reason: "R" }] } };
}

async function wait(server: FakeServer, forMs: number): Promise<{ process: TestProcess; done: Promise<void> }> {
  const { context, process } = createCrdContext(server.transport);
  const done = awaitEstablished([Website.crd], 10_000, context);
  done.catch(() => {}); // awaited after the clock has advanced
  for (let ms = 0; ms < forMs; ms += 100) await process.clock.advance(100);
  return { process, done };
}

test("[85] awaitEstablished() waits for Established and for discovery, and reports what it waits for", async () => {
  const server = new FakeServer({
    [path]: (_request, count) => Response.json(withCondition("Established", count < 10 ? "False" : "True")),
    [discovery]: (_request, count) => Response.json(count < 15 ? { resources: [] } : served),
  });
  const { process, done } = await wait(server, 8_000);
  await done;
  assertMatch(process.err, /^controller: waiting for websites.example.dev \(1 of 1\): it is not established$/m);
  assertMatch(process.err, /: example.dev\/v1 is not served$/m);
  assertEquals(process.out, "");
});

test("awaitEstablished() reports nothing when the kind is served already", async () => {
  const server = new FakeServer({ [path]: withCondition("Established", "True"), [discovery]: served });
  const { process, done } = await wait(server, 0);
  await done;
  assertEquals(process.err, "");
});

test("[84] awaitEstablished() fails after the timeout and says what it waited for", async () => {
  const { done } = await wait(new FakeServer({ [path]: withCondition("Established", "False") }), 11_000);
  const error = await assertRejects(() => done, /Cannot install websites.example.dev: after 10s it is not established/);
  assert(error instanceof CommandError && error.code === exitCode.failed);
});

test("awaitEstablished() fails at once when another definition has the same names", async () => {
  const server = new FakeServer({ [path]: withCondition("NamesAccepted", "False", '"Website" is already in use') });
  const { done } = await wait(server, 0);
  await assertRejects(() => done, /its names are taken: "Website" is already in use/);
});
