/** io.k8s.api.authentication.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
BoundObjectReference		kind:s apiVersion:s name:s uid:<types.UID>s
SelfSubjectReview	{"x-kubernetes-group-version-kind":[{"group":"authentication.k8s.io","kind":"SelfSubjectReview","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta status:@authentication/v1.SelfSubjectReviewStatus
SelfSubjectReviewStatus		userInfo:@authentication/v1.UserInfo
TokenRequest	{"x-kubernetes-group-version-kind":[{"group":"authentication.k8s.io","kind":"TokenRequest","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!@authentication/v1.TokenRequestSpec status:@authentication/v1.TokenRequestStatus
TokenRequestSpec		audiences:![s;a expirationSeconds:*!l boundObjectRef:*!@authentication/v1.BoundObjectReference
TokenRequestStatus		token:!s expirationTimestamp:!t
TokenReview	{"x-kubernetes-group-version-kind":[{"group":"authentication.k8s.io","kind":"TokenReview","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@authentication/v1.TokenReviewSpec status:@authentication/v1.TokenReviewStatus
TokenReviewSpec		token:rs audiences:[s;a
TokenReviewStatus		authenticated:b user:@authentication/v1.UserInfo audiences:[s;a error:s
UserInfo		username:s uid:s groups:[s;a extra:{<v1.ExtraValue>[s
`;
