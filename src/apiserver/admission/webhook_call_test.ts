import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, test } from "../../../tests/testing.ts";
import { LoopbackServer } from "../../../tests/loopback.ts";
import { systemClock } from "../../async/mod.ts";
import { httpsWebhookCaller, targetOf, WebhookCallError } from "./webhook_call.ts";

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

test("the path of a webhook is cleaned as Go joins paths, for URLs and services", async () => {
  const paths: string[] = [];
  await using server = await LoopbackServer.start({
    answer: (request, response) => {
      paths.push(request.url ?? "");
      response.end("{}");
    },
  });
  const services = new Map([["ns/name", server.url()]]);
  const call = httpsWebhookCaller({ clock: systemClock, services });
  const service = { namespace: "ns", name: "name", port: 443 };
  for (const path of ["//mutate-v1-foo", "/a//b/./c/../d/", "/", "//", "/%C3%A4"]) {
    await call({ url: `${server.url()}${path}` }, "{}", { timeoutMs: 30_000 });
    await call({ service: { ...service, path } }, "{}", { timeoutMs: 30_000 });
  }
  const expected = ["/mutate-v1-foo", "/a/b/d", "/", "/", "/%C3%A4"];
  assertEquals(paths, expected.flatMap((path) => [path, path]));
});

test("a webhook whose own certificate is its caBundle is called, as envtest of controller-runtime installs it", async () => {
  const authority = await CertificateAuthority.create("webhooks");
  const pair = await authority.issue({ commonName: "webhook", usage: "server", hosts: ["127.0.0.1"] });
  await using server = await LoopbackServer.start({ tls: pair, answer: (_, response) => void response.end("{}") });
  const call = httpsWebhookCaller({ clock: systemClock });
  const target = targetOf({ url: `${server.url()}//validate`, caBundle: btoa(pair.certificate) });
  assertEquals(await call(target, "{}", { timeoutMs: 30_000 }), "{}");
  const foreign = await authority.issue({ commonName: "webhook", usage: "server", hosts: ["127.0.0.1"] });
  const wrong = { url: server.url(), caBundle: foreign.certificate };
  assert(await assertRejects(() => call(wrong, "{}", { timeoutMs: 30_000 })) instanceof WebhookCallError);
});
