/** io.k8s.apimachinery.pkg.runtime: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
RawExtension	{"type":"object"}	
`;
