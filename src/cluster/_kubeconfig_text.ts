/** The kubeconfig of an embedded cluster, in the shape that kind writes. */

/** What stands in it. */
export interface KubeconfigParts {
  /** Of cluster, user and context. */
  readonly name: string;
  readonly url: string;
  /** PEM text. */
  readonly ca: string;
  readonly token: string;
}

/** JSON, of which every YAML parser is one. */
export function kubeconfigText({ name, url, ca, token }: KubeconfigParts): string {
  const data = new TextEncoder().encode(ca).toBase64();
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": data } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
