import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { type AdmissionRequest, type Json, type JsonObject, StatusError } from "../model/mod.ts";
import { admissionGroup, authorizer, otherKinds, requestFor, StoredObjects } from "./testing/admission_requests.ts";
import { WebhookAdmission } from "./webhook_admission.ts";
import { WebhookCallError } from "./webhook_call.ts";

const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] };

type Respond = (review: { readonly request: JsonObject }) => JsonObject | string;

/** The admission plugin with webhooks of one kind. `respond` responds for all of them. */
class TestWebhooks {
  readonly called: string[] = [];
  readonly admission: WebhookAdmission;

  constructor(kind: "mutating" | "validating", hooks: Readonly<Record<string, JsonObject>>, respond: Respond) {
    const objects = new StoredObjects();
    for (const [name, hook] of Object.entries(hooks)) {
      objects.add(`${kind}webhookconfigurations.${admissionGroup}`, {
        metadata: { name },
        webhooks: [{ name, clientConfig: { url: `https://${name}` }, rules: [rule], sideEffects: "None", ...hook }],
      });
    }
    this.admission = new WebhookAdmission({
      objects,
      authorizer,
      otherKinds,
      newUid: () => "uid",
      call: ({ url = "" }, body) => {
        this.called.push(url.slice("https://".length));
        const response = respond(JSON.parse(body));
        if (typeof response === "string") throw new WebhookCallError(response);
        return Promise.resolve(JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          response: { uid: "uid", ...response },
        }));
      },
    });
  }

  /** @returns the Status of the denial */
  async denial(request: AdmissionRequest): Promise<StatusError["status"]> {
    const error = await assertRejects(async () => {
      await this.admission.admit(request);
      await this.admission.validate(request);
    });
    assert(error instanceof StatusError);
    return error.status;
  }
}

const patched = (...operations: readonly JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: btoa(JSON.stringify(operations)),
});

/** What a webhook says; code, reason and message of the rejection. */
type Denial = readonly [status: JsonObject, code: number, reason: string | undefined, message: string];

const denials: readonly Denial[] = [
  [{}, 400, undefined, "denied the request without explanation"],
  [{ code: 200 }, 400, undefined, "denied the request without explanation"],
  [{ message: "no", code: 418, reason: "Teapot" }, 418, "Teapot", "denied the request: no"],
  [{ reason: "Tuesday" }, 400, "Tuesday", "denied the request: Tuesday"],
];

for (const [status, code, reason, message] of denials) {
  test(`a webhook that denies with ${JSON.stringify(status)} gives ${code}`, async () => {
    const webhooks = new TestWebhooks("validating", { one: {} }, () => ({ allowed: false, status }));
    const denial = await webhooks.denial(requestFor({}).request);
    assertEquals([denial.code, denial.reason], [code, reason]);
    assertEquals(denial.message, `admission webhook "one" ${message}`);
  });
}

test("the details of a denial reach the client without unknown and mistyped fields, so kubectl shows the causes", async () => {
  const causes: readonly Json[] = [
    { field: "spec.taints", message: "no", reason: "FieldValueInvalid", more: 1 },
    "text",
    { field: 1 },
  ];
  const details = { name: "worker", kind: "NodePool", group: "nodes.lailin.xyz", uid: 7, causes, retryAfterSeconds: 3 };
  const status = { message: "no", code: 422, reason: "Invalid", details };
  const webhooks = new TestWebhooks("validating", { one: {} }, () => ({ allowed: false, status }));
  const denial = await webhooks.denial(requestFor({}).request);
  assertEquals(denial.details, {
    name: "worker",
    kind: "NodePool",
    group: "nodes.lailin.xyz",
    causes: [{ field: "spec.taints", message: "no", reason: "FieldValueInvalid" }, {}],
    retryAfterSeconds: 3,
  });
});

const failures: readonly (readonly [name: string, response: JsonObject | string, message: string])[] = [
  ["cannot be called", "failed to call webhook: no", "failed to call webhook: no"],
  [
    "responds with another uid",
    { uid: "x", allowed: true },
    'received invalid webhook response: expected response.uid="uid", got "x"',
  ],
  [
    "validates with a patch",
    patched({ op: "remove", path: "/data" }),
    "received invalid webhook response: validating webhook may not return response.patch",
  ],
];

test("a webhook whose patch is not base64 fails the request as a webhook, not as a defect of the server", async () => {
  const response = { allowed: true, patchType: "JSONPatch", patch: "%" };
  const denial = await new TestWebhooks("mutating", { one: {} }, () => response).denial(requestFor({}).request);
  const message = "couldn't get version/kind; json parse error: illegal base64 data in response.patch";
  const start = 'Internal error occurred: failed calling webhook "one": failed to call webhook';
  assertEquals([denial.code, denial.message], [500, `${start}: ${message}`]);
});

for (const [name, response, message] of failures) {
  test(`a webhook that ${name} fails the request, or is ignored with failurePolicy Ignore`, async () => {
    const closed = await new TestWebhooks("validating", { one: {} }, () => response).denial(requestFor({}).request);
    assertEquals([closed.code, closed.message], [
      500,
      `Internal error occurred: failed calling webhook "one": ${message}`,
    ]);
    await new TestWebhooks("validating", { one: { failurePolicy: "Ignore" } }, () => response).admission.validate(
      requestFor({}).request,
    );
  });
}

test("a webhook's patch changes the object, and webhooks with IfNeeded are called again", async () => {
  const add = patched({ op: "add", path: "/data/added", value: "yes" });
  const webhooks = new TestWebhooks(
    "mutating",
    { a: { reinvocationPolicy: "IfNeeded" }, b: {}, c: {} },
    ({ request }) => JSON.stringify(request.object).includes("added") ? { allowed: true } : add,
  );
  const { request } = requestFor({});
  webhooks.called.length = 0;
  await webhooks.admission.admit(request);
  assertEquals(request.object?.["data"], { added: "yes" });
  assertEquals(webhooks.called, ["a", "b", "c"]);
  const late: TestWebhooks = new TestWebhooks(
    "mutating",
    { a: { reinvocationPolicy: "IfNeeded" }, b: {} },
    () => late.called.at(-1) === "b" ? add : { allowed: true },
  );
  const again = requestFor({}).request;
  await late.admission.admit(again);
  assertEquals([late.called, again.needsSecondRound], [["a", "b"], true]);
  again.isSecondRound = true;
  await late.admission.admit(again);
  assertEquals(late.called, ["a", "b", "a"]);
});

test("a patch that does not apply gives the error of the real server", async () => {
  const webhooks = new TestWebhooks("mutating", { one: {} }, () => patched({ op: "remove", path: "/data/absent" }));
  const { code, message } = await webhooks.denial(requestFor({}).request);
  const expected = "error in remove for path: '/data/absent': Unable to remove nonexistent key: absent: missing value";
  assertEquals([code, message], [500, `Internal error occurred: ${expected}`]);
});

test("match conditions decide whether a webhook is called", async () => {
  const named = (name: string) => ({ name: "n", expression: `object.metadata.name == '${name}'` });
  const absent = { name: "x", expression: "object.data.absent == ''" };
  const allow: Respond = () => ({ allowed: true });
  const callsWith = async (hook: JsonObject) => {
    const webhooks = new TestWebhooks("validating", { one: hook }, allow);
    await webhooks.admission.validate(requestFor({}).request);
    return webhooks.called.length;
  };
  assertEquals(await callsWith({ matchConditions: [named("a")] }), 1);
  assertEquals(await callsWith({ matchConditions: [named("a"), named("b")] }), 0);
  assertEquals(await callsWith({ matchConditions: [absent, named("b")] }), 0);
  assertEquals(await callsWith({ matchConditions: [absent], failurePolicy: "Ignore" }), 0);
  const failing = new TestWebhooks("validating", { one: { matchConditions: [absent] } }, allow);
  const denial = await failing.denial(requestFor({}).request);
  const message = "expression 'object.data.absent == ''' resulted in error: no such key: absent";
  assertEquals([denial.code, denial.message], [403, `configmaps "a" is forbidden: ${message}`]);
});

test("a webhook with side effects is not called for a dry run", async () => {
  const webhooks = new TestWebhooks("validating", { one: { sideEffects: "Some" } }, () => ({ allowed: true }));
  const { code, message } = await webhooks.denial(requestFor({}, { isDryRun: true }).request);
  assertEquals([code, message], [400, 'admission webhook "one" does not support dry run']);
  assertEquals(webhooks.called, []);
});

test("warnings of a webhook reach the client", async () => {
  const webhooks = new TestWebhooks("validating", { one: {} }, () => ({ allowed: true, warnings: ["careful"] }));
  const created = requestFor({});
  await webhooks.admission.validate(created.request);
  assertEquals(created.warnings, ["careful"]);
});
