import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { VirtualClock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { fakeApi } from "./testing/fake_api.ts";
import { publishCaBundle } from "./live_configuration.ts";
import { findLocalRuns } from "./local_run.ts";
import { localWebhooks, undoLocalRuns } from "./local_webhooks.ts";

const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/op";
const targets = [{ kind: "validating", name: "op" }, { kind: "mutating", name: "absent" }] as const;
const signal = new AbortController().signal;

/** A run of a process that this machine does not see. */
const runOf = (id: string) => ({ id, host: "laptop", process: 7 });

/** What a start does after a killed run: all runs are dead. */
async function undoAll(client: Client): Promise<number> {
  return await undoLocalRuns(client, await findLocalRuns(client, targets, signal), signal, new VirtualClock());
}

function installed(metadata: object = {}) {
  const api = fakeApi();
  const service = { namespace: "ops", name: "webhook", port: 443 };
  api.put(path, {
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "op", ...metadata },
    webhooks: [
      {
        name: "a",
        clientConfig: { service: { ...service, path: "/validate-a" }, caBundle: "QQ==" },
        timeoutSeconds: 3,
      },
      { name: "b", clientConfig: { url: "https://old.test:1/validate-b" } },
    ],
  });
  const read = (): Record<string, unknown> => {
    const { resourceVersion: _, ...rest } = api.get(path)?.metadata ?? { resourceVersion: "" };
    return { ...api.get(path), metadata: rest };
  };
  return { api, read };
}

test("configurations point to this machine during the run, and are restored afterwards", async () => {
  for (const annotations of [{ kept: "yes" }, undefined]) {
    const { api, read } = installed({ annotations });
    const before = read();
    const local = await localWebhooks({
      ...{ client: api.client, targets, host: "fd00::1", run: runOf("a") },
      clock: new VirtualClock(),
    });
    assertEquals(await local.attach(9443, signal), 1);
    const text = JSON.stringify(read());
    assertStringIncludes(text, '"url":"https://[fd00::1]:9443/validate-a"');
    assertStringIncludes(text, '"url":"https://[fd00::1]:9443/validate-b"');
    assert(!text.includes('"caBundle":"QQ=="'));
    assertEquals(await local.restore(signal), 1);
    const after = read();
    const metadata = { name: "op", annotations: annotations ?? {} };
    assertEquals<unknown>(after, { ...before, metadata });
    assertEquals(await local.restore(signal), 0);
  }
});

test("after a killed run, the next start can still restore the original, local or not", async () => {
  const { api, read } = installed({ annotations: {} });
  const before = read();
  const clock = new VirtualClock();
  const killed = await localWebhooks({ client: api.client, targets, host: "10.0.0.1", run: runOf("a"), clock });
  await killed.attach(1111, signal);
  const next = await localWebhooks({ client: api.client, targets, host: "10.0.0.2", run: runOf("b"), clock });
  await next.attach(2222, signal);
  assertStringIncludes(JSON.stringify(read()), '"url":"https://10.0.0.2:2222/validate-b"');
  assertEquals(await killed.restore(signal), 0, "the first run undoes what the second one has published");
  assertEquals(await undoAll(api.client), 1);
  assertEquals(read(), before);
  assertEquals(await undoAll(api.client), 0);
});

test("an invalid annotation is removed and nothing else is changed", async () => {
  for (const value of ["", "{", "[1]", '{"a":{"url":5}}']) {
    const { api, read } = installed({ annotations: { "pintle.dev/webhooks-before-local": value } });
    const before = read();
    await undoAll(api.client);
    assertEquals<unknown>(read(), { ...before, metadata: { name: "op", annotations: {} } });
  }
});

test("replicas in the cluster do not change a configuration during a local run", async () => {
  const { api } = installed();
  const clock = new VirtualClock();
  const local = await localWebhooks({ client: api.client, targets, host: "h", run: runOf("a"), clock });
  await local.attach(1, signal);
  assertEquals(await publishCaBundle("PEM", { client: api.client, targets, clock, signal }), 0);
  await local.restore(signal);
  assertEquals(await publishCaBundle("PEM", { client: api.client, targets, clock, signal }), 1);
});
