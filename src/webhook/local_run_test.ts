import { assert, assertEquals, test } from "../../tests/testing.ts";
import { systemClock, VirtualClock } from "../async/mod.ts";
import { isProcessAlive, nextTurn, processFacts, processSpace, spawn } from "../runtime/mod.ts";
import { fakeApi } from "./testing/fake_api.ts";
import {
  findDeadLocalRuns,
  localRunDeadAfterMs,
  type LocalRunIdentity,
  newLocalRun,
  renewLocalRun,
  renewLocalRunMs,
} from "./local_run.ts";
import { localWebhooks, undoLocalRuns } from "./local_webhooks.ts";
import { validating } from "./webhook.ts";
import { allow } from "./mod.ts";
import { WebhookServer } from "./webhook_server.ts";
import { builtin } from "../api/mod.ts";

const signal = new AbortController().signal;
const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/op";
const targets = [{ kind: "validating", name: "op" }] as const;
const service = { namespace: "ops", name: "webhook", port: 443, path: "/validate--v1-configmap" };
/** A process of another machine. */
const remote: LocalRunIdentity = { id: "a", host: "laptop", process: 7, processSpace: "elsewhere" };

/** A cluster whose configuration a run has changed. @param port where it says that it listens */
async function published(run: LocalRunIdentity, port = 1) {
  const api = fakeApi();
  api.put(path, {
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "op", uid: "u1", annotations: {} },
    webhooks: [{ name: "a", clientConfig: { service } }],
  });
  const clock = new VirtualClock();
  const local = await localWebhooks({ client: api.client, targets, host: "127.0.0.1", run, clock });
  await local.attach(port, signal);
  const find = async (onStep: (waitedMs: number) => void | Promise<void> = () => {}) => {
    const waits: string[] = [];
    const options = { client: api.client, targets, clock, signal };
    const finding = findDeadLocalRuns({ ...options, onWait: ({ host }) => void waits.push(host) });
    let isOver = false;
    const end = () => void (isOver = true);
    finding.then(end, end);
    const startedAt = clock.monotonic();
    // While a request to the URL is on its way, the clock stands still.
    for (let turn = 0; turn < 400 && !isOver && waits.length === 0; turn++) await nextTurn();
    while (!isOver) {
      await clock.advance(1_000);
      await onStep(clock.monotonic() - startedAt);
    }
    const { dead, alive } = await finding;
    return { dead, alive, waits, waitedMs: clock.monotonic() - startedAt };
  };
  return { api, clock, local, find, options: { client: api.client, targets, clock, signal } };
}

test("[100] a run that neither responds nor renews its mark is dead after the time to wait", async () => {
  const { find } = await published(remote);
  const { dead, alive, waits, waitedMs } = await find();
  assertEquals([dead.length, alive.length, waits], [1, 0, ["laptop"]]);
  assert(waitedMs >= localRunDeadAfterMs, `${waitedMs}`);
});

test("[100] a run that renews its mark is alive, even if nobody can reach it and its clock is wrong", async () => {
  const { find, options } = await published(remote);
  const wrong = new VirtualClock();
  let renewedAt = 0;
  const { dead, alive } = await find(async (waitedMs) => {
    // One renewal in the whole time, later than usual.
    if (waitedMs < 3 * renewLocalRunMs || renewedAt > 0) return;
    renewedAt = waitedMs;
    assertEquals(await renewLocalRun(remote, { ...options, clock: wrong }), true);
  });
  assertEquals([dead.length, alive[0]?.run?.host], [0, "laptop"]);
});

test("[100] a run that responds is alive, and nobody waits", async () => {
  const { api } = await published(remote);
  const clock = systemClock; // its certificate is checked
  const local = await localWebhooks({ client: api.client, targets, host: "127.0.0.1", run: remote, clock });
  const webhooks = [validating(builtin.ConfigMap, { create: () => allow() })];
  const { certificates } = local;
  const server = new WebhookServer({ webhooks, certificates, hostname: "127.0.0.1", port: 0, drainDelayMs: 0 });
  const stop = new AbortController();
  const serving = server.run(stop.signal);
  while (server.port === undefined) await Promise.race([nextTurn(), serving.then(() => assert(false, "it ended"))]);
  await local.attach(server.port, signal);
  const { dead, alive } = await findDeadLocalRuns({ client: api.client, targets, clock, signal });
  assertEquals([dead.length, alive.length], [0, 1]);
  stop.abort();
  await serving;
});

test("[100] a process of this machine that has ended is dead at once, one that lives is not", async () => {
  const ended = await spawn(["/bin/sh", "-c", "echo $$"]);
  const process = Number(ended.kind === "ended" ? ended.stdout : "");
  if (await processSpace() === undefined || isProcessAlive(process)) return; // not on Linux
  const gone = await published({ ...await newLocalRun(), process });
  const { dead, waits } = await gone.find();
  assertEquals([dead.length, waits], [1, []]);
  const living = await published(await newLocalRun());
  assertEquals((await living.find()).waits, [processFacts().hostname]);
});

test("[100] what a run has renewed or taken over in the meantime is not undone", async () => {
  const { find, api, clock, local, options } = await published(remote);
  const { dead } = await find();
  await renewLocalRun(remote, options);
  assertEquals(await undoLocalRuns(api.client, dead, signal, clock), 0);
  const again = await find();
  assertEquals(await undoLocalRuns(api.client, again.dead, signal, clock), 1);
  const [entry] = JSON.parse(JSON.stringify(api.get(path))).webhooks;
  assertEquals(entry.clientConfig, { service });
  assertEquals(await renewLocalRun(remote, options), false);
  assertEquals(await local.restore(signal), 0);
});
