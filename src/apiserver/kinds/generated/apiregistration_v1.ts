/** io.k8s.kube-aggregator.pkg.apis.apiregistration.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
APIService	{"x-kubernetes-group-version-kind":[{"group":"apiregistration.k8s.io","kind":"APIService","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@apiregistration/v1.APIServiceSpec status:@apiregistration/v1.APIServiceStatus
APIServiceCondition		type:!r<v1.APIServiceConditionType>s status:!r<v1.ConditionStatus>s lastTransitionTime:t reason:s message:s
APIServiceList	{"x-kubernetes-group-version-kind":[{"group":"apiregistration.k8s.io","kind":"APIServiceList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@apiregistration/v1.APIService
APIServiceSpec		service:*@apiregistration/v1.ServiceReference group:s version:s insecureSkipTLSVerify:b caBundle:y;a groupPriorityMinimum:!ri versionPriority:!ri
APIServiceStatus		conditions:[@apiregistration/v1.APIServiceCondition;Mtype;ktype;pmerge
ServiceReference		namespace:s name:s port:*i
`;
