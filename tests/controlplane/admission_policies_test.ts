/**
 * Tests that a rule of a webhook and the policy that is made of it decide alike: the same random objects are written past
 * both, on the embedded server and on a real one.
 */
import { ApiError, controller, defineResource, done, withWebhooks, z } from "../../src/mod.ts";
import { builtin } from "../../src/api/mod.ts";
import { type Random, seededRandom, startCluster, type TestCluster } from "../../src/testing.ts";
import { admissionPolicies } from "../../src/webhook/mod.ts";
import { type AdmissionRule, validating, type WebhookOptions } from "../../src/webhook.ts";
import { assert, assertEquals, test } from "../testing.ts";
import type { ControlPlane } from "./mod.ts";
import { until } from "./poll.ts";
import { controlPlaneTest } from "./test.ts";

const Pool = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Pool",
  scope: "Namespaced",
  spec: z.object({
    min: z.int32(),
    max: z.int32(),
    share: z.number(),
    names: z.array(z.string()),
    note: z.string().optional(),
    limits: z.record(z.string(), z.string()).optional(),
  }),
});

const rules: readonly AdmissionRule[] = [
  { rule: "object.spec.min <= object.spec.max", message: "spec.min must not be greater than spec.max" },
  {
    rule: "object.spec.names.all(name, name.matches('^[a-c]+$'))",
    message: "spec.names must consist of the letters a to c",
    messageExpression: "'no name may be ' + object.spec.names.filter(name, !name.matches('^[a-c]+$'))[0]",
    reason: "Forbidden",
  },
  {
    rule: "object.spec.max >= oldObject.spec.max",
    message: "spec.max must not shrink",
    operations: ["UPDATE"],
    reason: "RequestEntityTooLarge",
  },
  // Fails where there is no note: an error denies, too, and both say which.
  { rule: "object.spec.share < 0.9 || object.spec.note.size() > 1", message: "a large share needs a note" },
  {
    rule:
      "!has(object.spec.limits) || object.spec.limits.all(key, quantity(object.spec.limits[key]).isGreaterThan(quantity('0')))",
    message: "spec.limits must be above 0",
    messageExpression: "string(object.spec.note)",
  },
  { rule: "request.name != 'p3' || 'system:masters' in request.userInfo.groups", message: "p3 is for administrators" },
  { rule: "object.metadata.labels['size'] != 'huge'", message: "huge pools are not allowed", operations: ["CREATE"] },
];

/** The webhook for the objects with one value of a label. */
function webhookFor(by: "webhook" | "policy", options: WebhookOptions = {}) {
  return validating(Pool, { rules }, { objectSelector: { matchLabels: { by } }, ...options });
}

interface Spec {
  readonly min: number;
  readonly max: number;
  readonly share: number;
  readonly names: readonly string[];
  readonly note?: string;
  readonly limits?: Readonly<Record<string, string>>;
}

/** What becomes of a write: nothing, or the message, code and reason of the denial. */
type Outcome = readonly [message: string, code: number | undefined, reason: string | undefined] | "allowed";

const count = 1_000;

async function compare(environment: Readonly<Record<string, string>>, options: WebhookOptions): Promise<void> {
  const pools = controller("pool").for(Pool).reconcile(() => Promise.resolve(done));
  const controllers = [withWebhooks(pools, [webhookFor("webhook", options)])];
  const onError = (error: unknown) => {
    throw error;
  };
  await using cluster = await startCluster({ workloads: false, controllers, environment, onError });
  await installPolicies(cluster, options);
  const random = seededRandom(20);
  const seen = new Map<string, number>();
  for (let index = 0; index < count; index++) {
    const pool = randomPool(random);
    const [byWebhook, byPolicy] = await Promise.all([
      write(cluster, "webhook", pool),
      write(cluster, "policy", pool),
    ]);
    assertEquals(byPolicy, byWebhook, JSON.stringify(pool));
    const what = byPolicy === "allowed" ? "allowed" : byPolicy[0];
    seen.set(what, (seen.get(what) ?? 0) + 1);
  }
  const outcomes = [...seen.keys()];
  for (const text of ["allowed", "spec.min must", "no name may be", "spec.max must not shrink", "spec.limits must"]) {
    assert(outcomes.some((outcome) => outcome.startsWith(text)), `no write had the outcome "${text}"`);
  }
  const hasErrors = outcomes.some((outcome) => outcome.includes("resulted in error: no such key: note"));
  assertEquals(hasErrors, options.failurePolicy !== "Ignore");
}

/** Installs the policies, and the objects that are updated, and waits until the policies work. */
async function installPolicies({ client }: TestCluster, options: WebhookOptions): Promise<void> {
  for (const by of ["webhook", "policy"]) {
    const metadata = { namespace: "default", name: `stored-${by}`, labels: { by, size: "small" } };
    await client.create(Pool, { metadata, spec: { min: 1, max: 3, share: 0, names: [] } });
  }
  const own = { ownNamespace: "operator", ownUser: "operator" };
  for (const object of admissionPolicies([webhookFor("policy", options)], { name: "test", ...own })) {
    if (object.kind === "ValidatingAdmissionPolicy") await client.create(builtin.ValidatingAdmissionPolicy, object);
    else await client.create(builtin.ValidatingAdmissionPolicyBinding, object);
  }
  const refused = { kind: "create", name: "a", size: "huge", spec: { min: 1, max: 1, share: 0, names: [] } } as const;
  await until("see the policy deny a write", async () => {
    const outcome = await write({ client }, "policy", refused);
    return outcome === "allowed" ? { kind: "pending", state: "it was allowed" } : { kind: "found", value: outcome };
  });
}

interface PoolWrite {
  readonly kind: "create" | "update";
  readonly name: string;
  readonly size: string;
  readonly spec: Spec;
}

function randomPool(random: Random): PoolWrite {
  const below = (limit: number) => Math.floor(random.next() * limit);
  const pick = <T>(...values: readonly [T, ...T[]]): T => values[below(values.length)] ?? values[0];
  const spec: Spec = {
    min: below(6),
    max: below(12),
    share: pick(0, 0.5, 0.95, 1),
    names: Array.from({ length: below(3) }, () => pick("a", "abc", "b", "cab", "d", "")),
    ...(pick(true, false) ? { note: pick("", "x", "why", "two\nlines") } : {}),
    ...(pick(true, false, false) ? { limits: { cpu: pick("1", "100m", "0", "-1"), memory: pick("1Gi", "many") } } : {}),
  };
  return { kind: pick("create", "update"), name: `p${below(5)}`, size: pick("small", "small", "huge"), spec };
}

async function write({ client }: Pick<TestCluster, "client">, by: string, pool: PoolWrite): Promise<Outcome> {
  const { kind, name, size, spec } = pool;
  const labels = { by, size };
  try {
    if (kind === "create") {
      await client.create(Pool, { metadata: { namespace: "default", name, labels }, spec }, { dryRun: true });
    } else {
      const value = { metadata: { labels }, spec: { note: null, limits: null, ...spec } };
      await client.patch(Pool, `default/stored-${by}`, { kind: "merge", value }, { dryRun: true });
    }
    return "allowed";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return denialOf(error);
  }
}

/** The denial without the name of the webhook or of the policy. */
function denialOf({ status }: ApiError): Outcome {
  const [, message] = /denied (?:the )?request: (.*)$/s.exec(status.message ?? "") ?? [];
  assert(message !== undefined, `neither a webhook nor a policy denied: ${status.message}`);
  return [message, status.code, status.reason];
}

function realServer({ description }: ControlPlane) {
  return { PINTLE_TEST_CLUSTER: "real", KUBEBUILDER_ASSETS: description.binaries.dir };
}

test("rules of a webhook and their policy decide alike about 1000 random objects", () => compare({}, {}));

test("with the failurePolicy Ignore, expressions that fail deny in neither of them", () =>
  compare({}, { failurePolicy: "Ignore" }));

controlPlaneTest(
  "rules of a webhook and their policy decide alike about 1000 random objects, on a real server",
  (controlPlane) => compare(realServer(controlPlane), {}),
);
