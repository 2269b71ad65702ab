/**
 * The controllers of CertificateSigningRequests: one signs approved requests for the signers of Kubernetes, one approves the
 * requests of kubelets whose user may make them, and one deletes old requests. As `controller/certificates` of
 * kube-controller-manager 1.36. A cluster without an authority signs nothing.
 */
import { builtin, type Infer } from "../api/mod.ts";
import { isNotFound } from "../client/mod.ts";
import {
  controller,
  type ControllerDefinition,
  done,
  type ReconcileContext,
  requeueAfter,
  type Result,
} from "../controller/mod.ts";
import { toBase64 } from "../runtime/mod.ts";
import {
  expiryOfCertificate,
  readRequest,
  type RequestedCertificate,
  type SigningAuthority,
} from "./signing_authority.ts";

type SigningRequest = Infer<typeof builtin.CertificateSigningRequest>;
type Context = ReconcileContext<typeof builtin.CertificateSigningRequest, typeof builtin.CertificateSigningRequest>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The default of --cluster-signing-duration, which requests can only shorten. */
const longestMs = 365 * dayMs;
const shortestMs = 10 * minuteMs;

const servingSigner = "kubernetes.io/kubelet-serving";
const kubeletSigner = "kubernetes.io/kube-apiserver-client-kubelet";
const clientSigner = "kubernetes.io/kube-apiserver-client";

/** Checks of requests by their signers. */
const signers: Readonly<Record<string, (requested: RequestedCertificate, usages: readonly string[]) => string>> = {
  [servingSigner]: servingError,
  [kubeletSigner]: kubeletError,
  [clientSigner]: clientError,
};

/** Signs approved requests. @param authority undefined: signs nothing */
export function signingController(authority: SigningAuthority | undefined): ControllerDefinition {
  return controller("certificatesigningrequest-signing-controller")
    .for(builtin.CertificateSigningRequest)
    .reconcile(async (ctx) => {
      const { spec, status = {} } = ctx.object;
      const check = signers[spec.signerName];
      const isOpen = (status.certificate ?? "") === "" && isTrue(ctx.object, "Approved") &&
        !isTrue(ctx.object, "Failed");
      if (authority === undefined || check === undefined || !isOpen) return done;
      const requested = await readRequest(spec.request);
      if (requested === undefined) return done;
      const usages = spec.usages ?? [];
      const why = check(requested, usages);
      if (why !== "") {
        const failure = { type: "Failed", status: "True", reason: "SignerValidationFailure", message: why };
        await ctx.patchStatus({ conditions: [...status.conditions ?? [], failure] });
        return done;
      }
      const lifetimeMs = lifetimeOf(spec.expirationSeconds);
      const pem = await authority.sign(requested, { usages, now: ctx.clock.now(), lifetimeMs });
      await ctx.patchStatus({ certificate: toBase64(new TextEncoder().encode(pem)) });
      return done;
    });
}

function lifetimeOf(seconds: number | undefined): number {
  return seconds === undefined ? longestMs : Math.min(longestMs, Math.max(shortestMs, seconds * 1_000));
}

function isTrue({ status }: SigningRequest, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;
}

function clientError(_requested: RequestedCertificate, usages: readonly string[]): string {
  const allowed = ["digital signature", "key encipherment", "client auth"];
  const other = usages.find((usage) => !allowed.includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes("client auth") ? "" : "missing required usage for client certificate: client auth";
}

const notNodes = "subject organization is not system:nodes";
const notNode = "subject common name does not begin with system:node:";

function kubeletError(requested: RequestedCertificate, usages: readonly string[]): string {
  const { dnsNames, emails, addresses, uris } = requested;
  if (requested.organizations.join() !== "system:nodes") return notNodes;
  if (dnsNames.length > 0) return "DNS subjectAltNames are not allowed";
  if (emails.length > 0) return "Email subjectAltNames are not allowed";
  if (addresses.length > 0) return "IP subjectAltNames are not allowed";
  if (uris.length > 0) return "URI subjectAltNames are not allowed";
  if (!requested.commonName.startsWith("system:node:")) return notNode;
  return usageError(usages, "client auth");
}

function servingError(requested: RequestedCertificate, usages: readonly string[]): string {
  const { dnsNames, emails, addresses, uris } = requested;
  if (requested.organizations.join() !== "system:nodes") return notNodes;
  if (dnsNames.length === 0 && addresses.length === 0) return "DNS or IP subjectAltName is required";
  if (emails.length > 0) return "Email subjectAltNames are not allowed";
  if (uris.length > 0) return "URI subjectAltNames are not allowed";
  const why = usageError(usages, "server auth");
  if (why !== "") return why;
  return requested.commonName.startsWith("system:node:") ? "" : notNode;
}

/** RSA keys may have the usage `key encipherment`, and others need not. */
function usageError(usages: readonly string[], purpose: string): string {
  const wanted = [purpose, "digital signature", "key encipherment"].toSorted();
  const given = new Set(usages);
  const needed = wanted.filter((usage) => usage !== "key encipherment" || given.has(usage));
  const isSame = given.size === needed.length && needed.every((usage) => given.has(usage));
  return isSame ? "" : `usages did not match [${wanted.join(" ")}]`;
}

/** Who may ask for a certificate of a node: for its own, or for any. */
const recognized = [
  {
    subresource: "selfnodeclient",
    isOwn: true,
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
  },
  {
    subresource: "nodeclient",
    isOwn: false,
    message: "Auto approving kubelet client certificate after SubjectAccessReview.",
  },
] as const;

/** Approves requests of kubelets. */
export function approvingController(): ControllerDefinition {
  return controller("certificatesigningrequest-approving-controller")
    .for(builtin.CertificateSigningRequest)
    .reconcile(async (ctx) => {
      const { spec, status = {} } = ctx.object;
      const isDecided = status.conditions?.some(({ type }) => type === "Approved" || type === "Denied") ?? false;
      if (isDecided || (status.certificate ?? "") !== "" || spec.signerName !== kubeletSigner) return done;
      const requested = await readRequest(spec.request);
      if (requested === undefined || kubeletError(requested, spec.usages ?? []) !== "") return done;
      for (const { subresource, isOwn, message } of recognized) {
        if (isOwn && spec.username !== requested.commonName) continue;
        if (!await isAllowed(ctx, subresource)) continue;
        await approve(ctx, message);
        break;
      }
      return done;
    });
}

async function isAllowed(ctx: Context, subresource: string): Promise<boolean> {
  const { username, uid, groups, extra } = ctx.object.spec;
  const resourceAttributes = {
    group: "certificates.k8s.io",
    version: "*",
    resource: "certificatesigningrequests",
    subresource,
    verb: "create",
  };
  const body = JSON.stringify({
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user: username, uid, groups, extra, resourceAttributes },
  });
  const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const text = await ctx.client.raw(path, { method: "POST", body, signal: ctx.signal });
  const review: { readonly status?: { readonly allowed?: boolean } } = JSON.parse(text);
  return review.status?.allowed === true;
}

async function approve(ctx: Context, message: string): Promise<void> {
  const { metadata, status } = ctx.object;
  const approval = { type: "Approved", status: "True", reason: "AutoApproved", message };
  const value = {
    metadata: { resourceVersion: metadata.resourceVersion },
    status: { conditions: [...status?.conditions ?? [], approval] },
  };
  const options = { subresource: "approval", signal: ctx.signal };
  await ctx.client.patch(builtin.CertificateSigningRequest, `${metadata.name}`, { kind: "merge", value }, options);
}

/** Deletes requests an hour after their decision, a day after their creation when nobody decides, and expired ones. */
export function cleaningController(): ControllerDefinition {
  return controller("certificatesigningrequest-cleaner-controller")
    .for(builtin.CertificateSigningRequest)
    .reconcile(async (ctx): Promise<Result> => {
      const waitMs = await deletionTimeOf(ctx.object) - ctx.clock.now();
      if (waitMs > 0) return Number.isFinite(waitMs) ? requeueAfter(waitMs) : done;
      await ctx.client.delete(builtin.CertificateSigningRequest, `${ctx.object.metadata.name}`, { signal: ctx.signal })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      return done;
    });
}

/** Milliseconds since the epoch at which a request is deleted. */
export async function deletionTimeOf(
  { metadata, status = {} }: Pick<SigningRequest, "metadata" | "status">,
): Promise<number> {
  const { conditions = [], certificate = "" } = status;
  if (conditions.length === 0) return Date.parse(`${metadata.creationTimestamp}`) + dayMs;
  const updatedAt = (type: string) =>
    conditions.filter((condition) => condition.type === type).map(({ lastUpdateTime }) =>
      Date.parse(`${lastUpdateTime}`)
    );
  const ends = [...updatedAt("Denied"), ...updatedAt("Failed")].map((at) => at + hourMs);
  const approved = updatedAt("Approved");
  for (const at of approved) ends.push(at + (certificate === "" ? dayMs : hourMs));
  if (approved.length > 0 && certificate !== "") ends.push(await expiryOfCertificate(certificate) ?? Infinity);
  return Math.min(Infinity, ...ends.filter((at) => !Number.isNaN(at)));
}
