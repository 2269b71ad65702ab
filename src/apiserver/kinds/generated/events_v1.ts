/** io.k8s.api.events.v1: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
Event	{"x-kubernetes-group-version-kind":[{"group":"events.k8s.io","kind":"Event","version":"v1"}]}	kind:s apiVersion:s metadata:!@meta/v1.ObjectMeta eventTime:!ru series:*@events/v1.EventSeries reportingController:s reportingInstance:s action:s reason:s regarding:@core/v1.ObjectReference related:*@core/v1.ObjectReference note:s type:s deprecatedSource:@core/v1.EventSource deprecatedFirstTimestamp:t deprecatedLastTimestamp:t deprecatedCount:i
EventList	{"x-kubernetes-group-version-kind":[{"group":"events.k8s.io","kind":"EventList","version":"v1"}]}	kind:s apiVersion:s metadata:@meta/v1.ListMeta items:!r[@events/v1.Event
EventSeries		count:!ri lastObservedTime:!ru
`;
