import { assert, assertRejects, assertStringIncludes, test } from "../../../tests/testing.ts";
import { LoopbackServer } from "../../../tests/loopback.ts";
import { systemClock } from "../../async/mod.ts";
import { httpsWebhookCaller, WebhookCallError } from "./webhook_call.ts";

test("a webhook that answers without end is left after 3 MiB, long before its timeout", async () => {
  let sentBytes = 0;
  const chunk = new Uint8Array(64 * 1024).fill(32);
  await using server = await LoopbackServer.start({
    answer: (_request, response) => {
      const send = () => {
        while (!response.destroyed && sentBytes < 256 * 1024 * 1024) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", send);
        }
      };
      send();
    },
  });
  const call = httpsWebhookCaller({ clock: systemClock });
  const error = await assertRejects(() => call({ url: server.url() }, "{}", { timeoutMs: 30_000 }));
  assert(error instanceof WebhookCallError);
  assertStringIncludes(error.message, "the response has more than 3145728 bytes");
  assert(sentBytes < 64 * 1024 * 1024, `${sentBytes} bytes were read`);
});
