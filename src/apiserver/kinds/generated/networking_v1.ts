/** io.k8s.api.networking.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
HTTPIngressPath		path:s pathType:*!r<v1.PathType>s;eExact,ImplementationSpecific,Prefix backend:!r@networking/v1.IngressBackend
HTTPIngressRuleValue		paths:!r[@networking/v1.HTTPIngressPath;a
IPAddress	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"IPAddress","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:r@networking/v1.IPAddressSpec
IPAddressList	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"IPAddressList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@networking/v1.IPAddress
IPAddressSpec		parentRef:*r@networking/v1.ParentReference
IPBlock		cidr:!rs except:[s;a
Ingress	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"Ingress","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@networking/v1.IngressSpec status:@networking/v1.IngressStatus
IngressBackend		service:*@networking/v1.IngressServiceBackend resource:*@core/v1.TypedLocalObjectReference
IngressClass	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"IngressClass","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@networking/v1.IngressClassSpec
IngressClassList	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"IngressClassList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@networking/v1.IngressClass
IngressClassParametersReference		apiGroup:*s kind:!rs name:!rs scope:*!s namespace:*s
IngressClassSpec		controller:s parameters:*@networking/v1.IngressClassParametersReference
IngressList	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"IngressList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@networking/v1.Ingress
IngressLoadBalancerIngress		ip:s hostname:s ports:[@networking/v1.IngressPortStatus;a
IngressLoadBalancerStatus		ingress:[@networking/v1.IngressLoadBalancerIngress;a
IngressPortStatus		port:!ri protocol:!r<v1.Protocol>s;eSCTP,TCP,UDP error:*s
IngressRule		host:s http:*@networking/v1.HTTPIngressRuleValue;R
IngressServiceBackend		name:!rs port:@networking/v1.ServiceBackendPort
IngressSpec		ingressClassName:*s defaultBackend:*@networking/v1.IngressBackend tls:[@networking/v1.IngressTLS;a rules:[@networking/v1.IngressRule;a
IngressStatus		loadBalancer:@networking/v1.IngressLoadBalancerStatus
IngressTLS		hosts:[s;a secretName:s
NetworkPolicy	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"NetworkPolicy","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@networking/v1.NetworkPolicySpec
NetworkPolicyEgressRule		ports:[@networking/v1.NetworkPolicyPort;a to:[@networking/v1.NetworkPolicyPeer;a
NetworkPolicyIngressRule		ports:[@networking/v1.NetworkPolicyPort;a from:[@networking/v1.NetworkPolicyPeer;a
NetworkPolicyList	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"NetworkPolicyList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@networking/v1.NetworkPolicy
NetworkPolicyPeer		podSelector:*@meta/v1.LabelSelector namespaceSelector:*@meta/v1.LabelSelector ipBlock:*@networking/v1.IPBlock
NetworkPolicyPort		protocol:*<v1.Protocol>s;eSCTP,TCP,UDP port:*o endPort:*i
NetworkPolicySpec		podSelector:!@meta/v1.LabelSelector ingress:[@networking/v1.NetworkPolicyIngressRule;a egress:[@networking/v1.NetworkPolicyEgressRule;a policyTypes:[<v1.PolicyType>s;a;EEgress,Ingress
ParentReference		group:s resource:rs namespace:s name:rs
ServiceBackendPort	{"x-kubernetes-map-type":"atomic"}	name:s number:i
ServiceCIDR	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"ServiceCIDR","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta spec:@networking/v1.ServiceCIDRSpec status:@networking/v1.ServiceCIDRStatus
ServiceCIDRList	{"x-kubernetes-group-version-kind":[{"group":"networking.k8s.io","kind":"ServiceCIDRList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@networking/v1.ServiceCIDR
ServiceCIDRSpec		cidrs:[s;a
ServiceCIDRStatus		conditions:[@meta/v1.Condition;Mtype;ktype;pmerge
`;
