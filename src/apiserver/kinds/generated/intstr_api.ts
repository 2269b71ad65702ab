/** io.k8s.apimachinery.pkg.util.intstr: its types, one a line (see ../types/wire_types.ts). Written by tasks/api_kinds.ts from what a real kube-apiserver publishes. Do not edit. */
// deno-fmt-ignore-file
export const text = `
IntOrString	{"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]}	
`;
