/**
 * The configuration files of a Node's containerd and kubelet, and of kube-proxy, with the reason for each difference
 * from the defaults. Kubernetes' files are JSON, which is YAML.
 */
import { join } from "node:path";
import { containerdSocket, type Machine, machineDir, podRange, registryPort } from "./layout.ts";

/** The image of the containers that hold the namespaces of a Pod. */
export const pauseImage = "registry.k8s.io/pause:3.10.1";

/** containerd's config.toml. */
export function containerdConfig(dir: string, machine: Machine): string {
  const cri = (section: string) => `plugins.'io.containerd.cri.v1.${section}`;
  const runc = `${cri("runtime'")}.containerd.runtimes.runc`;
  return lines([
    "version = 3",
    `root = ${quoted(join(machineDir(dir, machine), "containerd"))}`,
    `state = ${quoted(`/run/containerd-${machine.name}`)}`,
    `disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri"]`,
    "[grpc]",
    `address = ${quoted(containerdSocket(dir, machine))}`,
    `[${cri("images'")}]`,
    `snapshotter = "overlayfs"`,
    `[${cri("images'")}.pinned_images]`,
    `sandbox = ${quoted(pauseImage)}`,
    `[${cri("images'")}.registry]`,
    `config_path = ${quoted(join(dir, "hosts"))}`,
    `[${cri("runtime'")}]`,
    "restrict_oom_score_adj = true", // a machine in a sandbox may lack CAP_SYS_RESOURCE; then no Pod would start
    `[${cri("runtime'")}.cni]`,
    `bin_dirs = [${quoted(join(dir, "cni"))}]`,
    `conf_dir = ${quoted(join(machineDir(dir, machine), "cni"))}`,
    `[${cri("runtime'")}.containerd]`,
    `default_runtime_name = "runc"`,
    `[${runc}]`,
    `runtime_type = "io.containerd.runc.v2"`,
    `[${runc}.options]`,
    `BinaryName = ${quoted(join(dir, "bin", "runc"))}`,
    "SystemdCgroup = false",
  ]);
}

/** All images come from the registry of gateway.ts. */
export const registryHosts = lines([
  `server = "http://127.0.0.1:${registryPort}"`,
  `[host."http://127.0.0.1:${registryPort}"]`,
  `capabilities = ["pull", "resolve"]`,
]);

/** The network of Pods: a route per Pod, without a bridge, and nothing that leaves the node. */
export function cniConfig(machine: Machine): string {
  const ipam = { type: "host-local", ranges: [[{ subnet: machine.podRange }]], routes: [{ dst: "0.0.0.0/0" }] };
  const plugins = [{ type: "ptp", ipMasq: false, ipam }];
  return JSON.stringify({ cniVersion: "1.0.0", name: `pods-${machine.name}`, plugins });
}

/** KubeletConfiguration. */
export function kubeletConfig(dir: string, machine: Machine): string {
  const pki = (file: string) => join(dir, "pki", file);
  const none = "0%"; // the disk of the machine is not the test's
  return JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: machine.address,
    healthzPort: 0,
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${machine.name}`,
    containerRuntimeEndpoint: `unix://${containerdSocket(dir, machine)}`,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: pki("ca.crt") },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: pki(`${machine.name}-serving.crt`),
    tlsPrivateKeyFile: pki(`${machine.name}-serving.key`),
    clusterDomain: "cluster.local",
    clusterDNS: ["10.96.0.10"],
    resolvConf: join(dir, "resolv.conf"),
    volumePluginDir: join(machineDir(dir, machine), "volume-plugins"),
    podLogsDir: `/var/log/pods-${machine.name}`,
    failSwapOn: false,
    oomScoreAdj: 0,
    rotateCertificates: false,
    evictionHard: {
      "memory.available": none,
      "nodefs.available": none,
      "nodefs.inodesFree": none,
      "imagefs.available": none,
      "imagefs.inodesFree": none,
      "pid.available": none,
    },
    imageGCHighThresholdPercent: 100,
    nodeStatusUpdateFrequency: "5s",
  });
}

/** KubeProxyConfiguration: all Nodes share one network, so one kube-proxy serves them. */
export function proxyConfig(dir: string, machine: Machine): string {
  return JSON.stringify({
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    hostnameOverride: machine.name,
    clusterCIDR: podRange,
    clientConnection: { kubeconfig: join(dir, "kubeconfig", "kube-proxy") },
    healthzBindAddress: "127.0.0.1:10256",
    metricsBindAddress: "127.0.0.1:10249",
    oomScoreAdj: 0,
    // A Pod that calls itself through a Service; otherwise this works only on the Node of the kube-proxy.
    nftables: { masqueradeAll: true },
    // Zero leaves the machine's settings as they are.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  });
}

/** Who asked for what, and the answer's code; no bodies. */
export const auditPolicy = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
});

function lines(values: readonly string[]): string {
  return values.join("\n") + "\n";
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
