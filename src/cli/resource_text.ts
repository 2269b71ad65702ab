/** How people name a resource with its subresource: `foos.example.dev/status`. */

/** @param rule.resource The plural, with the subresource where there is one: `foos/status` */
export function resourceText({ group, resource }: { readonly group: string; readonly resource: string }): string {
  const [plural, subresource] = resource.split("/");
  const kind = group === "" ? plural : `${plural}.${group}`;
  return subresource === undefined ? `${kind}` : `${kind}/${subresource}`;
}
