/** Tests of the server that a program talks to: who may, in which format, and what a broken connection is. */
import { decodeProtobuf, encodeProtobuf, kubernetesApi, protobufType } from "../../apiserver/mod.ts";
import { systemClock, systemRandom } from "../../async/mod.ts";
import { httpClient, type Server } from "../../runtime/mod.ts";
import { issueCertificates } from "../../webhook/mod.ts";
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { connectionError } from "../engine.ts";
import { type SendRequest, startFrontServer } from "./front_server.ts";

const now = systemClock.now();
const certificates = await issueCertificates({ hosts: ["127.0.0.1"], now, lifetimeMs: 3_600_000 });
const path = "/api/v1/namespaces/default/configmaps";

/** A front of a server in memory, whose requests pass `send`. */
async function front(wrap: (send: SendRequest) => SendRequest = (send) => send) {
  const { server: api } = kubernetesApi({ clock: systemClock, random: systemRandom });
  const errors: unknown[] = [];
  const send = wrap((request) => api.fetch(request));
  const server: Server = await startFrontServer({
    certificates,
    clientCa: certificates.ca,
    senderOf: (token) => token === "known" ? send : undefined,
    senderOfCertificate: () => send,
    isCustom: () => false,
    direct: (request) => api.fetch(request),
    onError: (error) => errors.push(error),
  });
  const client = httpClient({ ca: certificates.ca });
  const fetch = (init: RequestInit & { readonly token?: string; readonly path?: string } = {}) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${init.token ?? "known"}`);
    return client.fetch(new Request(`https://127.0.0.1:${server.port}${init.path ?? path}`, { ...init, headers }));
  };
  return {
    fetch,
    errors,
    async [Symbol.asyncDispose]() {
      client.close();
      await server.close();
      api[Symbol.dispose]();
    },
  };
}

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { color: "blue" } };

test("a front server refuses an unknown token", async () => {
  await using served = await front();
  assertEquals((await served.fetch({ token: "of an earlier process" })).status, 401);
});

test("a front server decodes bodies in protobuf, and names the object of a create", async () => {
  const keys: (string | undefined)[] = [];
  const bodies: string[] = [];
  await using served = await front((send) => async (request, key) => {
    keys.push(key);
    bodies.push(await request.clone().text());
    return await send(request, key);
  });
  const headers = { "content-type": protobufType, accept: protobufType };
  const response = await served.fetch({ method: "POST", headers, body: encodeProtobuf(configMap) });
  assertEquals([response.status, response.headers.get("content-type")], [201, protobufType]);
  assertEquals(keys, ["default/a"]);
  assertEquals(JSON.parse(bodies[0] ?? "").data, { color: "blue" });
  const created = decodeProtobuf(new Uint8Array(await response.arrayBuffer()));
  assertEquals(created["data"], { color: "blue" });
});

test("a front server sends watches in protobuf as frames", async () => {
  await using served = await front();
  const headers = { "content-type": "application/json" };
  const created = await served.fetch({ method: "POST", headers, body: JSON.stringify(configMap) });
  assertEquals(created.status, 201);
  await created.text();
  const stop = new AbortController();
  const response = await served.fetch({
    path: `${path}?watch=true`,
    headers: { accept: `${protobufType};stream=watch` },
    signal: stop.signal,
  });
  assertEquals(response.headers.get("content-type"), `${protobufType};stream=watch`);
  const { value = new Uint8Array() } = await response.body!.getReader().read();
  const length = new DataView(value.buffer, value.byteOffset).getUint32(0);
  assertEquals(length, value.byteLength - 4);
  assert(new TextDecoder("latin1").decode(value).includes("ADDED"));
  stop.abort();
});

test("a front server cuts a connection that a fault breaks, without an error of its own", async () => {
  await using served = await front(() => () => Promise.reject(connectionError("connection reset by peer")));
  await assertRejects(() => served.fetch({ method: "POST", body: JSON.stringify(configMap) }));
  assertEquals(served.errors, []);
});
