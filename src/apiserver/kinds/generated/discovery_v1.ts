/** io.k8s.api.discovery.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
Endpoint		addresses:!r[s;S conditions:@discovery/v1.EndpointConditions hostname:*s targetRef:*@core/v1.ObjectReference deprecatedTopology:{s nodeName:*s zone:*s hints:*@discovery/v1.EndpointHints
EndpointConditions		ready:*b serving:*b terminating:*b
EndpointHints		forZones:[@discovery/v1.ForZone;a forNodes:[@discovery/v1.ForNode;a
EndpointPort	{"x-kubernetes-map-type":"atomic"}	name:*s protocol:*<v1.Protocol>s;eSCTP,TCP,UDP port:*i appProtocol:*s
EndpointSlice	{"x-kubernetes-group-version-kind":[{"group":"discovery.k8s.io","kind":"EndpointSlice","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ObjectMeta addressType:!r<v1.AddressType>s;eFQDN,IPv4,IPv6 endpoints:![@discovery/v1.Endpoint;a ports:![@discovery/v1.EndpointPort;a
EndpointSliceList	{"x-kubernetes-group-version-kind":[{"group":"discovery.k8s.io","kind":"EndpointSliceList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@discovery/v1.EndpointSlice
ForNode		name:!rs
ForZone		name:!rs
`;
