import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { type AdmissionRequest, type JsonObject, Refusal } from "../model/mod.ts";
import { admissionGroup, authorizer, otherKinds, requestFor, StoredObjects } from "./_admission_rig.ts";
import { WebhookAdmission } from "./webhook_admission.ts";
import { WebhookUnreachable } from "./webhook_call.ts";

const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] };

type Answer = (review: { readonly request: JsonObject }) => JsonObject | string;

/** A server with webhooks of one sort; `answers` by the names of webhooks. */
class Hooked {
  readonly asked: string[] = [];
  readonly admission: WebhookAdmission;

  constructor(sort: "mutating" | "validating", hooks: Readonly<Record<string, JsonObject>>, answer: Answer) {
    const objects = new StoredObjects();
    for (const [name, hook] of Object.entries(hooks)) {
      objects.add(`${sort}webhookconfigurations.${admissionGroup}`, {
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
        this.asked.push(url.slice("https://".length));
        const said = answer(JSON.parse(body));
        if (typeof said === "string") throw new WebhookUnreachable(said);
        return Promise.resolve(JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          response: { uid: "uid", ...said },
        }));
      },
    });
  }

  /** @returns the Status of the refusal */
  async refusal(request: AdmissionRequest): Promise<Refusal["status"]> {
    const error = await assertRejects(async () => {
      await this.admission.admit(request);
      await this.admission.validate(request);
    });
    assert(error instanceof Refusal);
    return error.status;
  }
}

const patched = (...operations: readonly JsonObject[]): JsonObject => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: btoa(JSON.stringify(operations)),
});

const denials: readonly (readonly [status: JsonObject, code: number, reason: string, message: string])[] = [
  [{}, 400, "", "denied the request without explanation"],
  [{ code: 200 }, 400, "", "denied the request without explanation"],
  [{ message: "no", code: 418, reason: "Teapot" }, 418, "Teapot", "denied the request: no"],
  [{ reason: "Tuesday" }, 400, "Tuesday", "denied the request: Tuesday"],
];

for (const [status, code, reason, message] of denials) {
  test(`a webhook that denies with ${JSON.stringify(status)} is answered with ${code}`, async () => {
    const hooked = new Hooked("validating", { one: {} }, () => ({ allowed: false, status }));
    const refusal = await hooked.refusal(requestFor({}).request);
    assertEquals([refusal.code, refusal.reason], [code, reason]);
    assertEquals(refusal.message, `admission webhook "one" ${message}`);
  });
}

const failures: readonly (readonly [name: string, said: JsonObject | string, why: string])[] = [
  ["cannot be asked", "failed to call webhook: no", "failed to call webhook: no"],
  [
    "answers another question",
    { uid: "x", allowed: true },
    'received invalid webhook response: expected response.uid="uid", got "x"',
  ],
  [
    "validates with a patch",
    patched({ op: "remove", path: "/data" }),
    "received invalid webhook response: validating webhook may not return response.patch",
  ],
];

for (const [name, said, why] of failures) {
  test(`a webhook that ${name} fails the request, or not, as it wants`, async () => {
    const closed = await new Hooked("validating", { one: {} }, () => said).refusal(requestFor({}).request);
    assertEquals([closed.code, closed.message], [500, `Internal error occurred: failed calling webhook "one": ${why}`]);
    await new Hooked("validating", { one: { failurePolicy: "Ignore" } }, () => said).admission.validate(
      requestFor({}).request,
    );
  });
}

test("a webhook's patch changes the object, and who wants to see that is asked again", async () => {
  const add = patched({ op: "add", path: "/data/added", value: "yes" });
  const hooked = new Hooked(
    "mutating",
    { a: { reinvocationPolicy: "IfNeeded" }, b: {}, c: {} },
    ({ request }) => JSON.stringify(request.object).includes("added") ? { allowed: true } : add,
  );
  const { request } = requestFor({});
  hooked.asked.length = 0;
  await hooked.admission.admit(request);
  assertEquals(request.object?.["data"], { added: "yes" });
  assertEquals(hooked.asked, ["a", "b", "c"]);
  const late: Hooked = new Hooked(
    "mutating",
    { a: { reinvocationPolicy: "IfNeeded" }, b: {} },
    () => late.asked.at(-1) === "b" ? add : { allowed: true },
  );
  await late.admission.admit(requestFor({}).request);
  assertEquals(late.asked, ["a", "b", "a"]);
});

test("a patch that does not apply is told as the real server tells it", async () => {
  const hooked = new Hooked("mutating", { one: {} }, () => patched({ op: "remove", path: "/data/absent" }));
  const { code, message } = await hooked.refusal(requestFor({}).request);
  const why = "error in remove for path: '/data/absent': Unable to remove nonexistent key: absent: missing value";
  assertEquals([code, message], [500, `Internal error occurred: ${why}`]);
});

test("match conditions decide whether a webhook is asked", async () => {
  const named = (name: string) => ({ name: "n", expression: `object.metadata.name == '${name}'` });
  const absent = { name: "x", expression: "object.data.absent == ''" };
  const allow: Answer = () => ({ allowed: true });
  const asked = async (hook: JsonObject) => {
    const hooked = new Hooked("validating", { one: hook }, allow);
    await hooked.admission.validate(requestFor({}).request);
    return hooked.asked.length;
  };
  assertEquals(await asked({ matchConditions: [named("a")] }), 1);
  assertEquals(await asked({ matchConditions: [named("a"), named("b")] }), 0);
  assertEquals(await asked({ matchConditions: [absent, named("b")] }), 0);
  assertEquals(await asked({ matchConditions: [absent], failurePolicy: "Ignore" }), 0);
  const failing = new Hooked("validating", { one: { matchConditions: [absent] } }, allow);
  const refusal = await failing.refusal(requestFor({}).request);
  const why = "expression 'object.data.absent == ''' resulted in error: no such key: absent";
  assertEquals([refusal.code, refusal.message], [403, `configmaps "a" is forbidden: ${why}`]);
});

test("a webhook with side effects is not asked for a dry run", async () => {
  const hooked = new Hooked("validating", { one: { sideEffects: "Some" } }, () => ({ allowed: true }));
  const { code, message } = await hooked.refusal(requestFor({}, { isDryRun: true }).request);
  assertEquals([code, message], [400, 'admission webhook "one" does not support dry run']);
  assertEquals(hooked.asked, []);
});

test("warnings of a webhook reach the client", async () => {
  const hooked = new Hooked("validating", { one: {} }, () => ({ allowed: true, warnings: ["careful"] }));
  const asked = requestFor({});
  await hooked.admission.validate(asked.request);
  assertEquals(asked.warnings, ["careful"]);
});
