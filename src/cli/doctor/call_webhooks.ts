/**
 * Calls each published webhook, and finds the one that is dead. A URL is called from this machine, as the API server would:
 * over TLS, with the published authorities only. A Service is called through the API server, because its address means
 * something only in the cluster: with a dry run of a sample, which the API server itself passes to the webhook; or, where
 * there is no such sample, through its proxy for Services, which does not check the certificate.
 *
 * Guarantees: nothing is stored. The reviews are dry runs, and webhooks that declare side effects are not called.
 */
import { apiVersionOf, builtin, type KubeObject, type Resource } from "../../api/mod.ts";
import {
  ApiError,
  type Client,
  isAlreadyExists,
  isForbidden,
  isNotFound,
  isUnreachable,
  type NewObject,
} from "../../client/mod.ts";
import {
  type AdmissionOperation,
  admissionProbe,
  conversionProbe,
  probeWebhook,
  problemOf,
  type Webhook,
} from "../../webhook/mod.ts";
import { exitCode } from "../command/mod.ts";
import { type Check, type DoctorContext, failed, type Finding, ok, unknown, warning } from "./check.ts";
import type { PublishedWebhook } from "./published_webhooks.ts";

/** What a call has shown. */
type CallResult =
  | { readonly kind: "alive"; readonly how: string }
  | { readonly kind: "dead"; readonly problem: string }
  /** Nothing was shown. */
  | { readonly kind: "unclear"; readonly reason: string };

/** Calls the webhooks of a configuration. @returns One check for each */
export async function callWebhooks(
  published: readonly PublishedWebhook[],
  context: DoctorContext,
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const webhook of published) {
    if (webhook.clientConfig.url === undefined && webhook.clientConfig.service === undefined) continue;
    checks.push({
      about: "webhook",
      subject: webhook.name,
      ...findingOf(webhook, await call(webhook, context), context),
    });
  }
  return checks;
}

function findingOf(webhook: PublishedWebhook, result: CallResult, { session }: DoctorContext): Finding {
  const where = addressOf(webhook);
  switch (result.kind) {
    case "alive":
      return ok(`responds at ${where}, ${result.how}`);
    case "unclear":
      return unknown(`not called at ${where}: ${result.reason}`);
    case "dead": {
      const { service } = webhook.clientConfig;
      const advice = service === undefined
        ? `Start what serves it; a killed local run is cleaned up by: ${session.operator.name} doctor --fix`
        : `See: kubectl get endpointslices -n ${service.namespace} -l kubernetes.io/service-name=${service.name}`;
      const state = `dead at ${where}: ${result.problem}`;
      return webhook.failurePolicy === "Ignore"
        ? warning(`${state}; the API server ignores that, and writes are not reviewed`, advice)
        : failed(exitCode.failed, state, advice);
    }
    default:
      return result satisfies never;
  }
}

function addressOf({ clientConfig: { url, service } }: PublishedWebhook): string {
  if (service === undefined) return url ?? "";
  const { namespace, name, port = 443, path = "/" } = service;
  return `Service ${namespace}/${name}:${port}${path}`;
}

async function call(webhook: PublishedWebhook, context: DoctorContext): Promise<CallResult> {
  if (!webhook.canDryRun) return { kind: "unclear", reason: "it declares side effects" };
  const { url } = webhook.clientConfig;
  if (url !== undefined) return await callUrl(url, webhook, context);
  const review = await askApiServer(webhook, context);
  return review.kind === "unclear" ? await callThroughProxy(webhook, context) : review;
}

async function callUrl(
  url: string,
  webhook: PublishedWebhook,
  { controllers, session, signal, namespaces }: DoctorContext,
): Promise<CallResult> {
  const { clock } = session.processEnvironment;
  const { ca, timeoutMs } = webhook;
  const body = reviewFor(webhook, { own: ownWebhookOf(webhook, controllers), controllers, namespaces });
  const problem = problemOf(await probeWebhook(url, body, { ca, timeoutMs, clock, signal }));
  return problem === undefined ? { kind: "alive", how: "called from this machine" } : { kind: "dead", problem };
}

/** The webhook of this program with that name; undefined for one of another version of the program. */
function ownWebhookOf(
  { name }: PublishedWebhook,
  controllers: DoctorContext["controllers"],
): Exclude<Webhook, { kind: "converting" }> | undefined {
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  return webhooks.filter((webhook) => webhook.kind !== "converting").find((webhook) => webhook.name === name);
}

/** A review without effect, about a sample of the kind where there is one. */
function reviewFor(
  webhook: PublishedWebhook,
  { own, controllers, namespaces }: Pick<DoctorContext, "controllers" | "namespaces"> & {
    readonly own: ReturnType<typeof ownWebhookOf>;
  },
): string {
  if (webhook.converts !== undefined) return conversionProbe(webhook.converts.versions.at(0) ?? "");
  const resource = own?.resource ?? { ...webhook.reviews, kind: "Unknown", plural: "unknown" };
  const operations: readonly AdmissionOperation[] = own?.operations ?? ["CREATE"];
  const operation = operations.includes("CREATE") ? "CREATE" : operations[0] ?? "CREATE";
  const object = own === undefined ? undefined : sampleOf(own.resource, { controllers, namespaces });
  return admissionProbe({ resource, operation, object, namespace: object?.metadata.namespace });
}

/** A sample of the kind, in the first namespace of the check. */
function sampleOf(
  resource: Resource,
  { controllers, namespaces }: Pick<DoctorContext, "controllers" | "namespaces">,
): KubeObject | undefined {
  const samples = controllers.flatMap((controller) => controller.samples ?? []);
  const sample = samples.find(({ apiVersion, kind }) =>
    apiVersion === apiVersionOf(resource) && kind === resource.kind
  );
  if (sample === undefined || resource.scope === "Cluster") return sample;
  const namespace = sample.metadata.namespace ?? namespaces[0] ?? "default";
  return { ...sample, metadata: { ...sample.metadata, namespace } };
}

/** Makes the API server itself call the webhook, and reads what it says about that. */
async function askApiServer(webhook: PublishedWebhook, context: DoctorContext): Promise<CallResult> {
  const { connection: { client }, controllers, signal } = context;
  if (webhook.converts !== undefined) return await listAllVersions(webhook.converts, client, signal);
  const own = ownWebhookOf(webhook, controllers);
  const sample = own === undefined ? undefined : sampleOf(own.resource, context);
  if (own === undefined || sample === undefined) return { kind: "unclear", reason: "there is no sample of its kind" };
  if (!own.operations.includes("CREATE") || webhook.isConditional) {
    return { kind: "unclear", reason: "a dry run of the sample may not reach it" };
  }
  const resource: Resource<KubeObject> = { ...own.resource, _type: undefined };
  const how = `called by the API server in a dry run of ${sample.kind} "${sample.metadata.name}"`;
  try {
    await client.create(resource, sample as NewObject<typeof resource>, { dryRun: true, signal });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const text = error.status.message ?? error.message;
    if (text.includes(`failed calling webhook "${webhook.name}"`)) return { kind: "dead", problem: text };
    if (text.includes(`"${webhook.name}" denied the request`)) return { kind: "alive", how };
    // Existing objects are noticed after the review, all other errors before it or by another webhook.
    if (!isAlreadyExists(error)) return { kind: "unclear", reason: text };
  }
  // The API server goes on without a webhook whose policy is Ignore.
  if (webhook.failurePolicy === "Ignore") return { kind: "unclear", reason: "its failures are ignored" };
  return { kind: "alive", how };
}

/** Reads an object in each version: those that are stored in another one are converted. */
async function listAllVersions(
  { plural, versions }: NonNullable<PublishedWebhook["converts"]>,
  client: Client,
  signal: AbortSignal,
): Promise<CallResult> {
  for (const version of versions) {
    try {
      await client.raw(`/apis/${version}/${plural}?limit=1`, {
        signal,
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const text = error.status.message ?? error.message;
      if (/conversion webhook for .* failed/.test(text)) return { kind: "dead", problem: text };
    }
  }
  return { kind: "unclear", reason: "no object had to be converted" };
}

/** Sends the review to the Service through the API server. */
async function callThroughProxy(webhook: PublishedWebhook, context: DoctorContext): Promise<CallResult> {
  const { connection: { client }, controllers, namespaces, signal } = context;
  const { namespace = "", name = "", port = 443, path = "/" } = webhook.clientConfig.service ?? {};
  try {
    if (await client.find(builtin.Service, `${namespace}/${name}`, { signal }) === undefined) {
      return { kind: "dead", problem: "the Service does not exist" };
    }
    const body = reviewFor(webhook, { own: ownWebhookOf(webhook, controllers), controllers, namespaces });
    const proxy = `/api/v1/namespaces/${namespace}/services/https:${name}:${port}/proxy${path}`;
    const text = await client.raw(proxy, { method: "POST", body, signal });
    const problem = problemOf({ kind: "response", status: 200, text });
    if (problem !== undefined) return { kind: "dead", problem };
    return { kind: "alive", how: "called through the API server, which does not check its certificate" };
  } catch (error) {
    if (isForbidden(error)) {
      return { kind: "unclear", reason: `this user may not create services/proxy in ${namespace}` };
    }
    if (isNotFound(error)) return { kind: "unclear", reason: "the API server's proxy for Services responds with 404" };
    if (error instanceof ApiError) return { kind: "dead", problem: error.status.message ?? error.message };
    if (isUnreachable(error)) return { kind: "unclear", reason: error.message };
    throw error;
  }
}
