/** The objects that a Website needs: a ConfigMap with the page, a Deployment that mounts it, and a Service. */
import { ConfigMap, Deployment, manifest, Service } from "../../src/mod.ts";
import type { Website } from "./website.ts";

/** The ConfigMap with the page. */
export function desiredPage(site: Website) {
  return manifest(ConfigMap, { metadata: metadataOf(site), data: { "index.html": site.spec.html } });
}

/** The Deployment of the servers. */
export function desiredServers(site: Website) {
  const labels = labelsOf(site);
  return manifest(Deployment, {
    metadata: metadataOf(site),
    spec: {
      replicas: site.spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{
            name: "server",
            image: "nginx:1.29",
            ports: [{ containerPort: 80 }],
            volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html" }],
          }],
          volumes: [{ name: "page", configMap: { name: nameOf(site) } }],
        },
      },
    },
  });
}

/** The Service in front of the servers. */
export function desiredService(site: Website) {
  const spec = { selector: labelsOf(site), ports: [{ name: "http", port: 80 }] };
  return manifest(Service, { metadata: metadataOf(site), spec });
}

function metadataOf(site: Website) {
  return { name: nameOf(site), namespace: site.metadata.namespace, labels: labelsOf(site) };
}

function labelsOf(site: Website): Readonly<Record<string, string>> {
  return { "example.dev/website": nameOf(site) };
}

function nameOf(site: Website): string {
  return site.metadata.name ?? "";
}
