/**
 * The checks of webhooks: does the API server reach them and trust them? For each configuration: does it exist, does it name
 * the webhooks of this operator, can its certificate authorities be read, and does each webhook respond; and how long are
 * they and the certificate of the server valid?
 */
import { X509Certificate } from "node:crypto";
import { builtin } from "../../api/mod.ts";
import {
  type ConfigurationTarget,
  configurationTargets,
  isCheckedByPolicy,
  policyNameOf,
  type Webhook,
} from "../../webhook/mod.ts";
import { exitCode, webhookServiceName } from "../command/mod.ts";
import { approximateDuration } from "../output/mod.ts";
import {
  type Check,
  type DoctorContext,
  failed,
  type Finding,
  ok,
  unknown,
  unknownIfForbidden,
  warning,
} from "./check.ts";
import { callWebhooks } from "./call_webhooks.ts";
import { checkLocalRuns } from "./local_runs.ts";
import { pemOf, type PublishedWebhook, readPublished } from "./published_webhooks.ts";

/** A running operator renews earlier; a shorter validity means that it does not run, or that a user must renew. */
const minValidityMs = 14 * 86_400_000;

/** Returns one check for each configuration, and one for the certificate. */
export async function checkWebhooks(context: DoctorContext): Promise<readonly Check[]> {
  const webhooks = context.controllers.flatMap((controller) => controller.webhooks ?? []);
  if (webhooks.length === 0) return [];
  const local = await checkLocalRuns(context);
  const isLocal = ({ subject }: Check) =>
    local.some((check) => check.subject === subject && check.verdict.kind !== "ok");
  const checks: Check[] = [...local];
  const authorities: string[] = [];
  let namespace = context.ownNamespace;
  for (const target of configurationTargets(webhooks, context.webhookConfiguration)) {
    let published: readonly PublishedWebhook[] | undefined;
    const finding = await unknownIfForbidden(async () => {
      published = await readPublished(target, context);
      authorities.push(...published?.flatMap(({ ca = "" }) => certificatesIn(ca)) ?? []);
      // This user's context may name another namespace than that of the installation.
      namespace = published?.find(({ clientConfig }) => clientConfig.service !== undefined)?.clientConfig.service
        ?.namespace ?? namespace;
      return await checkConfiguration(target, published, webhooks, context);
    });
    const check: Check = { about: "webhook", subject: `${target.kind} ${target.name}`, ...finding };
    checks.push(check);
    // A local run that does not respond has been called already.
    if (finding.verdict.kind !== "failed" && !isLocal(check)) {
      checks.push(...await callWebhooks(published ?? [], context));
    }
  }
  const certificate = await unknownIfForbidden(() => checkCertificate({ authorities, namespace }, context));
  return [...checks, { about: "webhook", subject: "certificate", ...certificate }];
}

async function checkConfiguration(
  target: ConfigurationTarget,
  entries: readonly PublishedWebhook[] | undefined,
  webhooks: readonly Webhook[],
  context: DoctorContext,
): Promise<Finding> {
  const { session } = context;
  const { name } = session.operator;
  if (entries === undefined) {
    return warning(
      "not installed: the API server does not call the webhooks",
      `See: ${name} manifests, or ${name} run --webhook-host auto`,
    );
  }
  const { missing, policies } = await missingWebhooks(target, entries, webhooks, context);
  if (missing.length > 0) return warning(`${missing.join(", ")} is missing`, `Apply the output of ${name} manifests`);
  const now = session.processEnvironment.clock.now();
  for (const { ca = "" } of entries) {
    const certificates = certificatesIn(ca);
    const state = certificates.length === 0 ? "no certificate authority" : expiredState(certificates, now);
    if (state === undefined) continue;
    return failed(
      exitCode.failed,
      `${state}: the API server rejects writes that the webhooks review`,
      `Run: ${name} run, in the cluster`,
    );
  }
  const served = `${entries.length === 1 ? "1 webhook" : `${entries.length} webhooks`}, with a certificate authority`;
  if (policies === 0) return ok(served);
  const checked = `${policies === 1 ? "1 webhook" : `${policies} webhooks`} replaced by admission policies`;
  return ok(entries.length === 0 ? checked : `${served}, ${checked}`);
}

/** The names of webhooks that the API server does not call, unless a policy checks all that they check. */
async function missingWebhooks(
  target: ConfigurationTarget,
  entries: readonly PublishedWebhook[],
  webhooks: readonly Webhook[],
  { connection: { client }, signal }: DoctorContext,
): Promise<{ readonly missing: readonly string[]; readonly policies: number }> {
  const missing: string[] = [];
  let policies = 0;
  for (const webhook of webhooks) {
    if (webhook.kind === "converting" || webhook.kind !== target.kind) continue;
    if (entries.some(({ name }) => name === webhook.name)) continue;
    const policy = policyNameOf(webhook, target.name);
    const isReplaced = isCheckedByPolicy(webhook) &&
      await client.find(builtin.ValidatingAdmissionPolicyBinding, policy, { signal }) !== undefined;
    if (isReplaced) policies++;
    else missing.push(webhook.name);
  }
  return { missing, policies };
}

/** One valid authority is enough: during a rotation the old one stands beside the new one. */
function expiredState(certificates: readonly string[], now: number): string | undefined {
  const ends = certificates.map(endOf);
  if (ends.some((end) => end !== undefined && end > now)) return undefined;
  return ends.every((end) => end === undefined)
    ? "an unreadable certificate authority"
    : "an expired certificate authority";
}

/** Checks the certificate that the replicas share. A certificate of --cert-dir is not in the cluster. */
async function checkCertificate(
  { authorities, namespace }: { readonly authorities: readonly string[]; readonly namespace: string },
  context: DoctorContext,
): Promise<Finding> {
  const { connection, session, signal } = context;
  const key = `${namespace}/${webhookServiceName(session.operator.name)}`;
  const secret = await connection.client.find(builtin.Secret, key, { signal });
  const text = pemOf(secret?.data?.["tls.crt"]) ?? "";
  if (secret === undefined || text === "") return unknown(`Secret ${key} does not exist yet`);
  const [leaf] = certificatesIn(text);
  const end = leaf === undefined ? undefined : endOf(leaf);
  if (leaf === undefined || end === undefined) return warning(`Secret ${key} has no readable certificate`);
  const left = end - session.processEnvironment.clock.now();
  if (left <= 0) {
    return failed(exitCode.failed, `Secret ${key}: the certificate has expired`, `Run: ${session.operator.name} run`);
  }
  const isTrusted = authorities.length === 0 || authorities.some((authority) => isIssuedBy(leaf, authority));
  if (!isTrusted) return failed(exitCode.failed, `Secret ${key}: no configuration trusts its certificate authority`);
  const state = `Secret ${key}: valid for ${approximateDuration(left)}`;
  return left < minValidityMs ? warning(state, "The operator renews it while it runs") : ok(state);
}

function certificatesIn(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

function endOf(pem: string): number | undefined {
  try {
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return undefined;
  }
}

function isIssuedBy(leaf: string, authority: string): boolean {
  try {
    const issuer = new X509Certificate(authority);
    return new X509Certificate(leaf).checkIssued(issuer);
  } catch {
    return false;
  }
}
