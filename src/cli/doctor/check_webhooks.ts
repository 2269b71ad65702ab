/**
 * Would the API server reach the webhooks, and believe them? For each configuration: is it there, does it name our
 * webhooks, can the authorities in it be read, and how long do they and the certificate that is served hold?
 */
import { X509Certificate } from "node:crypto";
import { builtin } from "../../api/mod.ts";
import { CrdResource } from "../../schema/mod.ts";
import { type ConfigurationTarget, configurationTargets, type Webhook } from "../../webhook/mod.ts";
import { exitCode } from "../command/mod.ts";
import {
  approximateDuration,
  type Check,
  type DoctorContext,
  failed,
  type Finding,
  ok,
  unknown,
  unknownIfForbidden,
  warning,
} from "./check.ts";

/** Certificates of ours are renewed long before; who renews by hand should hear of it in time. */
const soonMs = 14 * 86_400_000;

/** One check for each configuration, and one for the certificate. */
export async function checkWebhooks(context: DoctorContext): Promise<readonly Check[]> {
  const webhooks = context.controllers.flatMap((controller) => controller.webhooks ?? []);
  if (webhooks.length === 0) return [];
  const checks: Check[] = [];
  const authorities: string[] = [];
  for (const target of configurationTargets(webhooks, context.session.operator.name)) {
    const finding = await unknownIfForbidden(async () => {
      const entries = await readEntries(target, context);
      authorities.push(...entries?.flatMap(({ caBundle }) => certificatesIn(decoded(caBundle))) ?? []);
      return checkConfiguration(target, entries, webhooks, context);
    });
    checks.push({ about: "webhook", subject: `${target.kind} ${target.name}`, ...finding });
  }
  const certificate = await unknownIfForbidden(() => checkCertificate(authorities, context));
  return [...checks, { about: "webhook", subject: "certificate", ...certificate }];
}

/** Where the API server calls for one webhook, and whom it believes. */
interface Entry {
  readonly name: string;
  /** PEM in Base64. */
  readonly caBundle: string;
}

async function readEntries(
  target: ConfigurationTarget,
  { connection, signal }: DoctorContext,
): Promise<readonly Entry[] | undefined> {
  const { client } = connection;
  if (target.kind === "converting") {
    const conversion = (await client.find(CrdResource, target.name, { signal }))?.spec.conversion;
    if (conversion?.strategy !== "Webhook") return undefined;
    return [{ name: "", caBundle: conversion.webhook.clientConfig.caBundle ?? "" }];
  }
  const found = target.kind === "mutating"
    ? await client.find(builtin.MutatingWebhookConfiguration, target.name, { signal })
    : await client.find(builtin.ValidatingWebhookConfiguration, target.name, { signal });
  return found?.webhooks?.map(({ name, clientConfig }) => ({ name, caBundle: clientConfig.caBundle ?? "" }));
}

function checkConfiguration(
  target: ConfigurationTarget,
  entries: readonly Entry[] | undefined,
  webhooks: readonly Webhook[],
  { session }: DoctorContext,
): Finding {
  const { name } = session.operator;
  if (entries === undefined) {
    return warning("not installed: the API server asks nobody", `See: ${name} manifests`);
  }
  const wanted = webhooks.filter(({ kind }) => kind === target.kind).flatMap((one) => "name" in one ? [one.name] : []);
  const missing = wanted.filter((one) => !entries.some((entry) => entry.name === one));
  if (missing.length > 0) return warning(`without ${missing.join(", ")}`, `Apply what ${name} manifests prints`);
  const now = session.processEnvironment.clock.now();
  for (const { caBundle } of entries) {
    const certificates = certificatesIn(decoded(caBundle));
    const state = certificates.length === 0 ? "no authority to believe" : expiredState(certificates, now);
    if (state === undefined) continue;
    return failed(
      exitCode.failed,
      `${state}: what the webhooks judge cannot be written`,
      `Run: ${name} run, in the cluster`,
    );
  }
  return ok(`${entries.length === 1 ? "1 webhook" : `${entries.length} webhooks`}, with an authority`);
}

/** One authority that holds is enough: a rotation leaves the old one beside the new. */
function expiredState(certificates: readonly string[], now: number): string | undefined {
  const ends = certificates.map(endOf);
  if (ends.some((end) => end !== undefined && end > now)) return undefined;
  return ends.every((end) => end === undefined) ? "an authority that cannot be read" : "an authority that has expired";
}

/** The certificate that replicas in the cluster share; one of your own, by --cert-dir, is not in the cluster. */
async function checkCertificate(authorities: readonly string[], context: DoctorContext): Promise<Finding> {
  const { connection, session, ownNamespace, signal } = context;
  const key = `${ownNamespace}/${session.operator.name}-webhook`;
  const secret = await connection.client.find(builtin.Secret, key, { signal });
  const text = decoded(secret?.data?.["tls.crt"] ?? "");
  if (secret === undefined || text === "") return unknown(`no Secret ${key}: none was made here yet`);
  const [leaf] = certificatesIn(text);
  const end = leaf === undefined ? undefined : endOf(leaf);
  if (leaf === undefined || end === undefined) return warning(`Secret ${key} has no certificate that can be read`);
  const left = end - session.processEnvironment.clock.now();
  if (left <= 0) return failed(exitCode.failed, `Secret ${key}: it has expired`, `Run: ${session.operator.name} run`);
  const isBelieved = authorities.length === 0 || authorities.some((authority) => signed(leaf, authority));
  if (!isBelieved) return failed(exitCode.failed, `Secret ${key}: no configuration has the authority it is signed by`);
  const state = `Secret ${key}: good for ${approximateDuration(left)}`;
  return left < soonMs ? warning(state, "It is renewed while the operator runs") : ok(state);
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

function signed(leaf: string, authority: string): boolean {
  try {
    const issuer = new X509Certificate(authority);
    return new X509Certificate(leaf).checkIssued(issuer);
  } catch {
    return false;
  }
}

function decoded(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(base64));
  } catch {
    return "";
  }
}
