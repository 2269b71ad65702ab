import { assert, assertEquals, test } from "../../../../tests/testing.ts";
import { printExactJson } from "../../../api/mod.ts";
import { seededRandom, VirtualClock } from "../../../async/mod.ts";
import { kubernetesApi } from "../../kubernetes_api.ts";
import type { ApiServer } from "../../mod.ts";
import type { JsonObject } from "../../model/mod.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// deno-lint-ignore no-explicit-any
async function send(server: ApiServer, method: string, path: string, body?: JsonObject): Promise<any> {
  const init = body === undefined ? {} : { body: printExactJson(body) };
  const headers = { "content-type": "application/json" };
  const response = await server.fetch(new Request(`http://in.memory${path}`, { method, headers, ...init }));
  const text = await response.text();
  return text.startsWith("{") ? JSON.parse(text) : { code: response.status };
}

function version(name: string, rest: JsonObject = {}): JsonObject {
  const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  return { name, served: true, storage: false, schema, ...rest };
}

function definition(versions: readonly JsonObject[], rest: JsonObject = {}): JsonObject {
  return {
    metadata: { name: "words.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "words", singular: "word", kind: "Word", listKind: "WordList" },
      versions,
      ...rest,
    },
  };
}

const words = (versionName: string) => `/apis/example.com/${versionName}/namespaces/default/words`;
const word = (spec: JsonObject): JsonObject => ({ kind: "Word", metadata: { name: "a" }, spec });

test("a kind is served when its definition is established, and no longer after the definition is deleted", async () => {
  const { server } = kubernetesApi({ clock: new VirtualClock(), random: seededRandom(1) });
  using _ending = server;
  assertEquals((await send(server, "GET", words("v1"))).code, 404);
  await send(server, "POST", definitions, definition([version("v1", { storage: true })]));
  const { status } = await send(server, "GET", `${definitions}/words.example.com`);
  assertEquals(status.conditions.map((one: JsonObject) => `${one.type}=${one.status}`), [
    "NamesAccepted=True",
    "Established=True",
  ]);
  const made = await send(server, "POST", words("v1"), { apiVersion: "example.com/v1", ...word({ x: 1 }) });
  assertEquals([made.spec, made.metadata.generation], [{ x: 1 }, 1]);
  await send(server, "DELETE", `${definitions}/words.example.com`);
  assertEquals((await send(server, "GET", words("v1"))).code, 404);
});

test("a bound that only a float of 64 bits has is accepted", async () => {
  const { server } = kubernetesApi({ clock: new VirtualClock(), random: seededRandom(1) });
  using _ending = server;
  const size = { type: "integer", format: "int64", minimum: -9223372036854775808n, maximum: 9223372036854775807n };
  const openAPIV3Schema = { type: "object", properties: { size } };
  const stored = await send(
    server,
    "POST",
    definitions,
    definition([version("v1", { storage: true, schema: { openAPIV3Schema } })]),
  );
  const { minimum, maximum } = stored.spec.versions[0].schema.openAPIV3Schema.properties.size;
  assertEquals([minimum, maximum], [-(2 ** 63), 2 ** 63]);
});

test("without a webhook, conversion changes only the apiVersion", async () => {
  const { server } = kubernetesApi({ clock: new VirtualClock(), random: seededRandom(1) });
  using _ending = server;
  await send(server, "POST", definitions, definition([version("v1", { storage: true }), version("v2")]));
  await send(server, "POST", words("v2"), { apiVersion: "example.com/v2", ...word({ x: 1 }) });
  const read = await send(server, "GET", `${words("v1")}/a`);
  assertEquals([read.apiVersion, read.spec], ["example.com/v1", { x: 1 }]);
});

test("a conversion webhook converts between versions, and its response is what clients read", async () => {
  const asked: string[] = [];
  const { server } = kubernetesApi({
    clock: new VirtualClock(),
    random: seededRandom(1),
    callWebhook: (_target, body) => {
      const { request } = JSON.parse(body);
      asked.push(request.desiredAPIVersion);
      const convertedObjects = request.objects.map((object: JsonObject) => ({
        ...object,
        apiVersion: request.desiredAPIVersion,
        spec: { convertedTo: request.desiredAPIVersion },
      }));
      const response = { uid: request.uid, result: { status: "Success" }, convertedObjects };
      return Promise.resolve(
        JSON.stringify({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response }),
      );
    },
  });
  using _ending = server;
  const webhook = { conversionReviewVersions: ["v1"], clientConfig: { url: "https://hook.invalid/" } };
  const conversion = { strategy: "Webhook", webhook };
  await send(
    server,
    "POST",
    definitions,
    definition([version("v1", { storage: true }), version("v2")], { conversion }),
  );
  await send(server, "POST", words("v1"), { apiVersion: "example.com/v1", ...word({ x: 1 }) });
  assertEquals(asked, []);
  assertEquals((await send(server, "GET", `${words("v1")}/a`)).spec, { x: 1 });
  assertEquals((await send(server, "GET", `${words("v2")}/a`)).spec, { convertedTo: "example.com/v2" });
  assert(asked.length > 0 && asked.every((wanted) => wanted === "example.com/v2"));
});

test("a definition stays until its objects are deleted", async () => {
  const { server } = kubernetesApi({ clock: new VirtualClock(), random: seededRandom(1) });
  using _ending = server;
  await send(server, "POST", definitions, definition([version("v1", { storage: true })]));
  await send(server, "POST", words("v1"), {
    apiVersion: "example.com/v1",
    kind: "Word",
    metadata: { name: "a", finalizers: ["example.com/hold"] },
    spec: {},
  });
  await send(server, "DELETE", `${definitions}/words.example.com`);
  const held = await send(server, "GET", `${definitions}/words.example.com`);
  assert(held.metadata.deletionTimestamp !== undefined);
  const freed = { ...(await send(server, "GET", `${words("v1")}/a`)) };
  await send(server, "PUT", `${words("v1")}/a`, { ...freed, metadata: { ...freed.metadata, finalizers: [] } });
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  assertEquals((await send(server, "GET", `${definitions}/words.example.com`)).code, 404);
});
