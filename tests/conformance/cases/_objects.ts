/** Objects that cases send, as small as their kinds allow, and the paths they are sent to. */
import type { CaseRun } from "../case_run.ts";

/** An object of any kind, as a case writes it. */
export type Body = Record<string, unknown>;

/** `/api/v1/namespaces/NS/PLURAL[/NAME]`, or the same of a group. */
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
