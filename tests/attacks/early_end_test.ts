/**
 * Attacks by time: what is ended at each of its first moments. A generator ends every kind of request after 0, 1, 2, …
 * microtasks or turns of the event loop, so it also meets the moments between the steps of a start.
 *
 * The rules: the API server reports no internal error and keeps no watch, and a request of the HTTP client rejects with
 * the reason of its abort, whatever the server does.
 */
import { TestServer } from "../../src/apiserver/testing/test_server.ts";
import { httpClient, nextTurn } from "../../src/runtime/mod.ts";
import { LoopbackServer } from "../loopback.ts";
import { assertEquals, test } from "../testing.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const bookmarks = "allowWatchBookmarks=true";

/** Each verb, and each start of a watch. */
const requests: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["GET", `${configMaps}?watch=1`],
  ["GET", `${configMaps}?watch=1&resourceVersion=1&${bookmarks}`],
  ["GET", `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&${bookmarks}`],
  ["GET", configMaps],
  ["GET", `${configMaps}/a`],
  ["POST", configMaps, { metadata: { name: "b" } }],
  ["PUT", `${configMaps}/a`, { metadata: { name: "a" } }],
  ["DELETE", `${configMaps}/b`],
  ["DELETE", configMaps],
  ["GET", "/openapi/v3"],
];

const maxMicrotasks = 40;

async function microtasks(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await null;
}

test("[61] a request that is aborted at any of its first microtasks leaves no watch and no internal error", async () => {
  using server = new TestServer();
  for (const [method, path, body] of requests) {
    for (let step = 0; step <= maxMicrotasks; step++) {
      const client = new AbortController();
      const answer = server.open(method, path, body, { signal: client.signal });
      await microtasks(step);
      client.abort();
      const response = await answer;
      await response.body?.cancel().catch(() => {});
    }
    assertEquals([server.api.watches, ...server.errors], [0], `${method} ${path}`);
  }
});

test("a request whose signal is aborted before it arrives leaves no watch and no internal error", async () => {
  using server = new TestServer();
  for (const [method, path, body] of requests) {
    const response = await server.open(method, path, body, { signal: AbortSignal.abort() });
    await response.body?.cancel().catch(() => {});
    assertEquals([server.api.watches, ...server.errors], [0], `${method} ${path}`);
  }
});

test("[61] a server that stops at any of the first microtasks of a request ends it, keeps no watch and no timer", async () => {
  for (const [method, path, body] of requests) {
    for (let step = 0; step <= maxMicrotasks; step++) {
      const server = new TestServer();
      const answer = server.open(method, path, body);
      await microtasks(step);
      server[Symbol.dispose]();
      await (await answer).text();
      assertEquals(
        [server.api.watches, server.clock.pendingTimers, ...server.errors],
        [0, 0],
        `${method} ${path} at ${step}`,
      );
    }
  }
});

test("[61] a request of the HTTP client rejects with the reason of its abort, at whichever moment that comes", async () => {
  await using silent = await LoopbackServer.start({ answer: () => {} });
  const client = httpClient();
  const moments = [...Array(maxMicrotasks).keys()].map((step) => () => microtasks(step))
    .concat([...Array(12).keys()].map((step) => () => turns(step)));
  for (const body of [undefined, "a body"]) {
    for (const [index, moment] of moments.entries()) {
      const abort = new AbortController();
      const request = new Request(silent.url(), {
        method: body === undefined ? "GET" : "POST",
        body,
        signal: abort.signal,
      });
      let outcome: unknown = "pending";
      client.fetch(request).then(() => outcome = "a response", (error) => outcome = error);
      await moment();
      abort.abort("the reason");
      for (let turn = 0; turn < 100 && outcome === "pending"; turn++) await nextTurn();
      assertEquals(outcome, "the reason", `moment ${index}`);
    }
  }
  client.close();
});

async function turns(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await nextTurn();
}
