/** Tests that an API server reaches the webhooks of a program on loopback, by the names of their Services. */
import type { UntypedObject } from "../../api/mod.ts";
import { kubernetesApi } from "../../apiserver/mod.ts";
import { seededRandom, systemClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { readText, serve } from "../../runtime/mod.ts";
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { freePort } from "../../../tests/free_port.ts";
import { TemporaryFolder } from "../../client/testing/temporary_folder.ts";
import { ProgramWebhooks, webhookServicesOf } from "./program_webhooks.ts";

const service = { namespace: "zoo-system", name: "zoo-webhook", path: "/validate" };

function configuration(extra: object = {}, clientConfig: object = {}): UntypedObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "zoo", ...extra },
    webhooks: [{
      name: "zoo.example.dev",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Fail",
      clientConfig: { service, ...clientConfig },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
    }],
  };
}

const definition: UntypedObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "zoos.example.dev" },
  spec: {
    group: "example.dev",
    conversion: {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: { service: { ...service, path: "/convert" } } },
    },
  },
};

test("the server calls the program with the certificate that it got as files", async () => {
  await using folder = await TemporaryFolder.with({});
  const port = await freePort();
  const webhooks = await ProgramWebhooks.create({
    objects: [configuration()],
    host: "127.0.0.1",
    clock: systemClock,
  });
  await webhooks.writeTo(folder.path);
  const [cert, key] = await Promise.all([
    readText(`${folder.path}/tls.crt`),
    readText(`${folder.path}/tls.key`),
  ]);
  const asked: string[] = [];
  const { server } = kubernetesApi({
    random: seededRandom(1),
    callWebhook: webhooks.callerOf(() => `https://127.0.0.1:${port}`),
  });
  using _server = server;
  const client = new Client(server.fetch);
  const create = async (object: UntypedObject, path: string) =>
    await client.raw(path, { method: "POST", body: JSON.stringify(object) });
  const maps = "/api/v1/namespaces/default/configmaps";
  const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  await create(webhooks.withAuthority(configuration()), configurations);
  await assertRejects(() => create(map, maps), /failed calling webhook/);
  const program = await serve({
    port,
    tls: { cert, key },
    handler: async (request) => {
      const review = await request.json();
      asked.push(new URL(request.url).pathname);
      const allowed = review.request.object.metadata.name !== "b";
      return Response.json({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { uid: review.request.uid, allowed },
      });
    },
    onError: (error) => {
      throw error;
    },
  });
  try {
    await create(map, maps);
    await assertRejects(() => create({ ...map, metadata: { name: "b" } }, maps), /denied the request/);
    assertEquals(asked, ["/validate", "/validate"]);
  } finally {
    await program.close();
  }
});

test("an authority is added where there is none, and where cert-manager would replace it", async () => {
  const objects = [configuration(), definition];
  assertEquals(webhookServicesOf(objects).length, 1);
  const webhooks = await ProgramWebhooks.create({ objects, host: "::1", clock: systemClock });
  const ca = btoa(webhooks.certificates.ca);
  const bundles = (object: UntypedObject) =>
    [...JSON.stringify(webhooks.withAuthority(object)).matchAll(/"caBundle":"([^"]*)"/g)].map(([, bundle]) => bundle);
  const annotations = { "cert-manager.io/inject-ca-from": "zoo-system/serving" };
  assertEquals(bundles(configuration()), [ca]);
  assertEquals(bundles(definition), [ca]);
  assertEquals(bundles(configuration({}, { caBundle: "Cg==" })), [ca]);
  assertEquals(bundles(configuration({}, { caBundle: "b3du" })), ["b3du"]);
  assertEquals(bundles(configuration({ annotations }, { caBundle: "b3du" })), [ca]);
  const plain = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  assert(webhooks.withAuthority(plain) === plain);
});
