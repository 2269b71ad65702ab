/** The kinds of the group certificates.k8s.io. */
import type { KindGroup } from "../rules/mod.ts";
import { signingRequestRow, signingRequestRules } from "./certificate_signing_requests.ts";

export { type CertificateSubject, certificateSubject } from "./pem.ts";

/** The kinds of the group certificates.k8s.io. */
export const certificateKinds: KindGroup = {
  rules: {
    "CertificateSigningRequest.certificates.k8s.io": signingRequestRules,
  },
  rows: {
    "certificatesigningrequests.certificates.k8s.io": signingRequestRow,
  },
};
