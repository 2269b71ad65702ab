/**
 * CertificateApproval, CertificateSigning and CertificateSubjectRestriction: who approves or signs a request for a certificate
 * needs the verb `approve` or `sign` on its signer, and nobody requests a certificate of the group `system:masters` from the
 * signer of clients. Source: kubernetes `plugin/pkg/admission/certificates` of 1.36.
 */
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  isSameJson,
  type JsonObject,
  read,
} from "../model/mod.ts";
import { certificateSubject, objectAt, textAt } from "../kinds/mod.ts";
import { forbiddenError } from "./_request.ts";

const clientSigner = "kubernetes.io/kube-apiserver-client";
const masters = "system:masters";

/** Needs the verb `approve` on the signer of a request that is approved or denied. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    validate(request) {
      if (request.operation === "UPDATE" && request.subresource === "approval") {
        checkSigner(authorizer, request, "approve");
      }
    },
  };
}

/** Needs the verb `sign` on the signer of a request that gets a certificate or a condition. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "CertificateSigning",
    validate(request) {
      if (request.operation !== "UPDATE" || request.subresource !== "status") return;
      const [now, before] = [objectAt(request.object ?? {}, "status"), objectAt(request.oldObject ?? {}, "status")];
      if (["certificate", "conditions"].every((field) => isSameField(now, before, field))) return;
      checkSigner(authorizer, request, "sign");
    },
  };
}

function isSameField(left: JsonObject, right: JsonObject, field: string): boolean {
  return isSameJson(read(left, field) ?? null, read(right, field) ?? null);
}

/** @throws StatusError 403 when the user has the verb neither on the signer nor on all of its domain */
function checkSigner(authorizer: Authorizer, request: AdmissionRequest, verb: "approve" | "sign"): void {
  const signer = textAt(objectAt(request.oldObject ?? {}, "spec"), "signerName");
  const isAllowed = (name: string) =>
    authorizer.authorize({
      user: request.user,
      verb,
      isResourceRequest: true,
      group: "certificates.k8s.io",
      version: "*",
      resource: "signers",
      subresource: "",
      namespace: "",
      name,
      path: "",
    }).isAllowed;
  if (isAllowed(signer) || isAllowed(`${signer.split("/")[0]}/*`)) return;
  throw forbiddenError(request, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

/** Refuses requests for certificates of `system:masters`. */
export const certificateSubjects: AdmissionPlugin = {
  name: "CertificateSubjectRestriction",
  validate(request) {
    if (request.operation !== "CREATE" || request.subresource !== "") return;
    const spec = objectAt(request.object ?? {}, "spec");
    if (textAt(spec, "signerName") !== clientSigner) return;
    const subject = certificateSubject(textAt(spec, "request"));
    if (typeof subject === "string") throw forbiddenError(request, `failed to parse CSR: ${subject}`);
    if (!subject.organizations.includes(masters)) return;
    throw forbiddenError(request, `use of ${clientSigner} signer with ${masters} group is not allowed`);
  },
};
