/**
 * Attack: an error with a secret in it, read by others than the user of the process. Whoever may create an object reads
 * what a webhook answers; Events and conversions are stored in a cluster; probes answer everyone on the machine.
 *
 * Guarantees: the messages that leave the process are one line without control characters, and show no secret.
 */
import { drain, seededRandom, VirtualClock } from "../../src/async/mod.ts";
import { Client, Masked } from "../../src/client/mod.ts";
import { EventRecorder } from "../../src/manager/event_recorder.ts";
import { HealthChecks } from "../../src/manager/health/mod.ts";
import { logger } from "../../src/observe/mod.ts";
import { allow, validating, webhookHandler } from "../../src/webhook/mod.ts";
import { Pool, review, webhookRequest } from "../../src/webhook/testing/reviews.ts";
import { assert, assertEquals, test } from "../testing.ts";

const random = seededRandom(1);
const newSecret = () => Array.from({ length: 30 }, () => Math.floor(random.next() * 36).toString(36)).join("");

/** Texts of errors, as a database or a cloud writes them. */
const messages: readonly ((secret: string) => string)[] = [
  (secret) => `connect postgres://u:${secret}@db/x: refused`,
  (secret) => `401 for {"access_token":"${secret}"}\n\u001b[31mFORGED`,
  (secret) => `got Set-Cookie: sid=${secret}\r\n\u202e`,
  (secret) => new Masked(secret).reveal(), // a credential of the process
];

function assertClean(text: string, secret: string): void {
  assert(text.length > 0 && !text.includes(secret), text);
  assert(!/[\p{Cc}\p{Cf}]/u.test(text.replaceAll("\n", "")), JSON.stringify(text));
}

test("[security 5] a webhook that fails does not show secrets to the user of the object", async () => {
  for (const message of messages) {
    const secret = newSecret();
    const handler = webhookHandler([validating(Pool, {
      create: () => {
        throw new Error(message(secret));
      },
      update: () => allow(),
    })]);
    const response = await handler(webhookRequest("/validate-nodes-example-dev-v1-pool", review()));
    const { response: { status } } = await response.json();
    assertEquals(status.code, 500);
    assertClean(status.message, secret);
    assert(!status.message.includes("\n"));
  }
});

test("[security 5] the reason of a failed probe shows no secret, on this machine as well", async () => {
  for (const message of messages) {
    const secret = newSecret();
    const health = new HealthChecks();
    health.add({ name: "broken", probe: "ready", problem: () => message(secret) });
    const here = { remoteAddress: "127.0.0.1", isTls: false };
    const response = await health.respond(new Request("http://localhost/readyz?verbose"), here);
    const text = await response.text();
    assert(text.includes("[-]broken failed: ") && !text.includes("withheld"), text);
    assertEquals(text.split("\n").length, 3);
    assertClean(text, secret);
  }
});

test("[security 5] an Event does not show a credential of the process", async () => {
  const sent: string[] = [];
  const client = new Client(async (request) => {
    sent.push(await request.text());
    return Response.json({ apiVersion: "events.k8s.io/v1", kind: "Event", metadata: { namespace: "a", name: "b" } });
  });
  const clock = new VirtualClock();
  const recorder = new EventRecorder({
    client,
    reportingController: "test/foo",
    reportingInstance: "host-1",
    clock,
    random,
    log: logger("test"),
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal, stop.signal);
  const secret = newSecret();
  const regarding = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "a", uid: "u" } };
  recorder.record({
    regarding,
    type: "Warning",
    reason: "Failed",
    note: `the server said ${new Masked(secret).reveal()} is unknown`,
  });
  for (let turn = 0; turn < 1000 && sent.length === 0; turn++) await drain();
  stop.abort();
  await running;
  assert(sent[0]?.includes("the server said [masked] is unknown"), sent[0]);
});
