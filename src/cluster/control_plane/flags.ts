/**
 * The command lines of the servers of a real control plane for tests, with the reason for each difference from the defaults.
 *
 * What tests observe is as in a real cluster: RBAC, all default admission plugins, service account tokens, flow
 * control. Changed are speed (no fsync, short etcd heartbeats, no client-side limits) and features that a cluster
 * without nodes and cloud does not need.
 */
import { joinPath } from "../../runtime/mod.ts";

/** The ports of one control plane, all on the loopback address. */
export interface Ports {
  readonly etcd: number;
  readonly apiServer: number;
}

/** The address every server listens on. */
export const loopback = "127.0.0.1";

/** Controllers for nodes and their volumes, which such a cluster does not have; they would only read and log. */
const controllersOff = [
  "horizontal-pod-autoscaler-controller",
  "node-ipam-controller",
  "node-lifecycle-controller",
  "persistentvolume-attach-detach-controller",
  "persistentvolume-expander-controller",
  "taint-eviction-controller",
  "ttl-controller",
] as const;

/** etcd's flags. Its peer port is any free one, because no other member joins. */
export function etcdArgs(dir: string, ports: Ports): readonly string[] {
  const clientUrl = `http://${loopback}:${ports.etcd}`;
  return [
    `--data-dir=${joinPath(dir, "etcd")}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=http://${loopback}:0`,
    "--unsafe-no-fsync", // the data lives as long as the test
    `--quota-backend-bytes=${8 * 2 ** 30}`, // more than etcd's 2 GiB: 200,000 objects and their history are more
    "--heartbeat-interval=20", // ms; a single member waits one election timeout before it serves
    "--election-timeout=200",
  ];
}

/** What kube-apiserver's flags depend on. */
export interface ApiServerFlags {
  readonly ports: Ports;
  /** Replace flags of the same name and add others. */
  readonly overrides: readonly string[];
  /** Whether controllers create the service accounts that admission requires for Pods. */
  readonly hasControllers: boolean;
}

/** kube-apiserver's flags. */
export function apiServerArgs(dir: string, { ports, overrides, hasControllers }: ApiServerFlags): readonly string[] {
  const pki = (file: string) => joinPath(dir, "pki", file);
  return overridden([
    `--etcd-servers=http://${loopback}:${ports.etcd}`,
    `--bind-address=${loopback}`,
    `--secure-port=${ports.apiServer}`,
    `--tls-cert-file=${pki("apiserver.crt")}`,
    `--tls-private-key-file=${pki("apiserver.key")}`,
    `--client-ca-file=${pki("ca.crt")}`,
    `--authentication-config=${joinPath(dir, "authentication.yaml")}`,
    `--token-auth-file=${joinPath(dir, "tokens.csv")}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction", // as kubeadm and kind do
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${pki("sa.pub")}`,
    `--service-account-signing-key-file=${pki("sa.key")}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    "--endpoint-reconciler-type=none", // it rejects a loopback address every ten seconds
    "--allow-privileged=true",
    "--shutdown-watch-termination-grace-period=2s", // without it open watches delay its end for a minute
    ...(hasControllers ? [] : ["--disable-admission-plugins=ServiceAccount"]),
  ], overrides);
}

/** kube-controller-manager's flags. */
export function controllerManagerArgs(dir: string): readonly string[] {
  const pki = (file: string) => joinPath(dir, "pki", file);
  return [
    `--kubeconfig=${joinPath(dir, "kubeconfig", "kube-controller-manager")}`,
    "--secure-port=0", // its metrics are not used
    "--leader-elect=false",
    `--controllers=*,${controllersOff.map((name) => `-${name}`).join(",")}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--service-account-private-key-file=${pki("sa.key")}`,
    `--cluster-signing-cert-file=${pki("ca.crt")}`,
    `--cluster-signing-key-file=${pki("ca.key")}`,
    "--kube-api-qps=1000", // the default of 20 delays namespace deletion and garbage collection
    "--kube-api-burst=2000",
  ];
}

/** Allows anonymous health checks and nothing else. Version 1.30 and later read v1beta1. */
export const authenticationConfig = `apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
anonymous:
  enabled: true
  conditions:
  - path: /livez
  - path: /readyz
  - path: /healthz
`;

/** Replaces the flags of the same names, and adds the others. */
export function overridden(args: readonly string[], overrides: readonly string[]): readonly string[] {
  const names = new Set(overrides.map(flagName));
  return [...args.filter((arg) => !names.has(flagName(arg))), ...overrides];
}

function flagName(arg: string): string {
  return arg.split("=", 1)[0] ?? arg;
}
