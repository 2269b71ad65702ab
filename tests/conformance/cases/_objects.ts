/** Minimal valid objects that cases send, and their paths. */
import type { CaseRun } from "../case_run.ts";

/** An object of any kind, as a case writes it. */
export type Body = Record<string, unknown>;

/** The path of a resource or an object in the case's namespace. @param resource `PLURAL` or `GROUP/VERSION/PLURAL` */
export function at(run: CaseRun, resource: string, name = ""): string {
  const slash = resource.lastIndexOf("/");
  const root = slash < 0 ? "/api/v1" : `/apis/${resource.slice(0, slash)}`;
  return `${root}/namespaces/${run.namespace}/${resource.slice(slash + 1)}${name === "" ? "" : `/${name}`}`;
}

export function configMap(name: string, data: Body = { key: "value" }, metadata: Body = {}): Body {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export function secret(name: string, rest: Body = { stringData: { key: "value" } }): Body {
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, ...rest };
}

export function podSpec(rest: Body = {}): Body {
  return { containers: [{ name: "main", image: "example.invalid/main:1" }], ...rest };
}

export function pod(name: string, spec: Body = {}, metadata: Body = {}): Body {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: podSpec({ automountServiceAccountToken: false, ...spec }),
  };
}

export function template(app: string, spec: Body = {}): Body {
  return { metadata: { labels: { app } }, spec: podSpec(spec) };
}

export function workload(kind: string, name: string, spec: Body = {}): Body {
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  };
}

export function deployment(name: string, spec: Body = {}): Body {
  return workload("Deployment", name, { replicas: 0, ...spec });
}

export function service(name: string, spec: Body = {}): Body {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
  };
}

export function job(name: string, spec: Body = {}): Body {
  const pods = { spec: podSpec({ restartPolicy: "Never" }) };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { template: pods, ...spec } };
}

export function lease(name: string, spec: Body = { holderIdentity: "me", leaseDurationSeconds: 15 }): Body {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec };
}

export function role(
  name: string,
  rules: readonly Body[] = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
) {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name }, rules };
}

export function ingress(name: string, spec: Body = {}): Body {
  const backend = { service: { name: "web", port: { number: 80 } } };
  const paths = [{ path: "/", pathType: "Prefix", backend }];
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name },
    spec: { rules: [{ host: "example.com", http: { paths } }], ...spec },
  };
}

/** A PKCS#10 request for the user jane: PEM in base64, as a CertificateSigningRequest holds it. */
export const signingRequest =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISk1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWFtRnVaVEJaTUJN" +
  "R0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQktGNkg0M3ZVUHFDNlBJVGlhOWxRelVIK3BJOENGWG01bnZoc3RKNDY0V0dk" +
  "VG5ISDdydmk0M08wVFV1ClZoc1MweVp2anRvVlNaSVpHM1RxcGtzL2tDQ2dBREFLQmdncWhrak9QUVFEQWdOSUFEQkZBaUJ4QUo4" +
  "K1puMU0KUEZ3MzM1eUJmQWJCYUFrK0dCUEZtOG5oTXhtdGJwZjE4UUloQVBReEUramhnanJtL0lsQ2xSOGxML3V0UUx1KwpoOHpI" +
  "c2tkbk91MTBTUnBsCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
