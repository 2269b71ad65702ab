/** io.k8s.api.certificates.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
CertificateSigningRequest	{"x-kubernetes-group-version-kind":[{"group":"certificates.k8s.io","kind":"CertificateSigningRequest","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@certificates/v1.CertificateSigningRequestSpec status:@certificates/v1.CertificateSigningRequestStatus
CertificateSigningRequestCondition		type:!r<v1.RequestConditionType>s status:!r<v1.ConditionStatus>s reason:s message:s lastUpdateTime:t lastTransitionTime:t
CertificateSigningRequestList	{"x-kubernetes-group-version-kind":[{"group":"certificates.k8s.io","kind":"CertificateSigningRequestList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@certificates/v1.CertificateSigningRequest
CertificateSigningRequestSpec		request:!ry signerName:!rs expirationSeconds:*i usages:[<v1.KeyUsage>s;a;Eany,cert~sign,client~auth,code~signing,content~commitment,crl~sign,data~encipherment,decipher~only,digital~signature,email~protection,encipher~only,ipsec~end~system,ipsec~tunnel,ipsec~user,key~agreement,key~encipherment,microsoft~sgc,netscape~sgc,ocsp~signing,s/mime,server~auth,signing,timestamping username:s uid:s groups:[s;a extra:{<v1.ExtraValue>[s
CertificateSigningRequestStatus		conditions:[@certificates/v1.CertificateSigningRequestCondition;Mtype certificate:y
`;
