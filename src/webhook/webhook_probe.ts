/**
 * probeWebhook(): calls a published webhook as the API server does, and says whether it responds: HTTPS, only the published
 * authorities, a review in the body. admissionProbe() and conversionProbe() make reviews that have no effect: dry runs of
 * objects that nobody stores, and the conversion of no object.
 *
 * Caveats: this machine may reach another network than the API server.
 */
import { type Clock, scope } from "../async/mod.ts";
import { unreachable } from "../client/mod.ts";
import { apiVersionOf, type Resource } from "../api/mod.ts";
import { httpClient } from "../runtime/mod.ts";
import type { AdmissionOperation } from "./admission_review.ts";
import { fieldOf, parseJson } from "./_decode.ts";

/** What was heard of a webhook. */
export type ProbeResult =
  | { readonly kind: "response"; readonly status: number; readonly text: string }
  | { readonly kind: "unreachable"; readonly state: string };

/** Options of {@link probeWebhook}. */
export interface ProbeOptions {
  /** PEM text of the only trusted authorities. @default those of the system */
  readonly ca?: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Sends a review to the URL of a webhook. */
export async function probeWebhook(url: string, body: string, options: ProbeOptions): Promise<ProbeResult> {
  const { ca, timeoutMs, clock, signal } = options;
  using call = scope(signal, { timeoutMs, clock });
  const client = httpClient(ca === undefined ? {} : { ca });
  try {
    const headers = { "content-type": "application/json", accept: "application/json" };
    const request = new Request(url, { method: "POST", body, headers, signal: call.signal });
    const response = await client.fetch(request);
    return { kind: "response", status: response.status, text: await response.text() };
  } catch (error) {
    signal.throwIfAborted();
    const { message } = unreachable(error, "call webhook");
    return { kind: "unreachable", state: message.replace(/^Cannot call webhook: /, "") };
  } finally {
    client.close();
  }
}

/** The UID of all reviews of this file. */
const probeUid = "00000000-0000-4000-8000-000000000000";

/** What an {@link admissionProbe} asks about. */
export interface AdmissionProbe {
  readonly resource: Pick<Resource, "group" | "version" | "kind" | "plural">;
  readonly operation: AdmissionOperation;
  /** An object of the kind. @default one without a specification */
  readonly object?: object;
  /** @default a cluster-scoped object */
  readonly namespace?: string;
}

/** Returns an AdmissionReview for a dry run. */
export function admissionProbe({ resource, operation, namespace, object }: AdmissionProbe): string {
  const { group, version, kind, plural } = resource;
  const name = String(fieldOf(fieldOf(object, "metadata"), "name") ?? "probe");
  const probed = object ?? { apiVersion: apiVersionOf(resource), kind, metadata: { name, namespace } };
  const request = {
    uid: probeUid,
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    requestKind: { group, version, kind },
    requestResource: { group, version, resource: plural },
    name,
    namespace,
    operation,
    userInfo: { username: "doctor" },
    object: operation === "DELETE" ? null : probed,
    oldObject: operation === "CREATE" ? null : probed,
    dryRun: true,
    options: null,
  };
  return JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
}

/** Returns a ConversionReview without objects. */
export function conversionProbe(desiredAPIVersion: string): string {
  const request = { uid: probeUid, desiredAPIVersion, objects: [] };
  return JSON.stringify({ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request });
}

/** Says what is wrong with the response to a review of this file; undefined when a webhook has decided. */
export function problemOf(result: ProbeResult): string | undefined {
  if (result.kind === "unreachable") return result.state;
  const { status, text } = result;
  if (status !== 200) {
    return `it responds with ${status}${text === "" ? "" : ` ${JSON.stringify(text.trim().slice(0, 200))}`}`;
  }
  const parsed = parseJson(text);
  const response = parsed.kind === "parsed" ? fieldOf(parsed.value, "response") : undefined;
  return fieldOf(response, "uid") === probeUid ? undefined : "its response is not a review";
}
