/** io.k8s.api.authorization.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
FieldSelectorAttributes		rawSelector:s requirements:[@meta/v1.FieldSelectorRequirement;a
LabelSelectorAttributes		rawSelector:s requirements:[@meta/v1.LabelSelectorRequirement;a
LocalSubjectAccessReview	{"x-kubernetes-group-version-kind":[{"group":"authorization.k8s.io","kind":"LocalSubjectAccessReview","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@authorization/v1.SubjectAccessReviewSpec status:@authorization/v1.SubjectAccessReviewStatus
NonResourceAttributes		path:s verb:s
NonResourceRule		verbs:!r[s;a nonResourceURLs:[s;a
ResourceAttributes		namespace:s verb:s group:s version:s resource:s subresource:s name:s fieldSelector:*@authorization/v1.FieldSelectorAttributes labelSelector:*@authorization/v1.LabelSelectorAttributes
ResourceRule		verbs:!r[s;a apiGroups:[s;a resources:[s;a resourceNames:[s;a
SelfSubjectAccessReview	{"x-kubernetes-group-version-kind":[{"group":"authorization.k8s.io","kind":"SelfSubjectAccessReview","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@authorization/v1.SelfSubjectAccessReviewSpec status:@authorization/v1.SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec		resourceAttributes:*@authorization/v1.ResourceAttributes nonResourceAttributes:*@authorization/v1.NonResourceAttributes
SelfSubjectRulesReview	{"x-kubernetes-group-version-kind":[{"group":"authorization.k8s.io","kind":"SelfSubjectRulesReview","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@authorization/v1.SelfSubjectRulesReviewSpec status:@authorization/v1.SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec		namespace:s
SubjectAccessReview	{"x-kubernetes-group-version-kind":[{"group":"authorization.k8s.io","kind":"SubjectAccessReview","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:!r@authorization/v1.SubjectAccessReviewSpec status:@authorization/v1.SubjectAccessReviewStatus
SubjectAccessReviewSpec		resourceAttributes:*@authorization/v1.ResourceAttributes nonResourceAttributes:*@authorization/v1.NonResourceAttributes user:s groups:[s;a extra:{<v1.ExtraValue>[s uid:s
SubjectAccessReviewStatus		allowed:!rb denied:b reason:s evaluationError:s
SubjectRulesReviewStatus		resourceRules:!r[@authorization/v1.ResourceRule;a nonResourceRules:!r[@authorization/v1.NonResourceRule;a incomplete:!rb evaluationError:s
`;
