/**
 * The daemons of a real node, in the order in which they start, as command lines.
 */
import { join } from "node:path";
import process from "node:process";
import { apiServerArgs, controllerManagerArgs, etcdArgs, overridden } from "../../src/cluster/control_plane/mod.ts";
import { apiAddress, auditLog, type Machine, machineDir, type NodeDescription } from "./layout.ts";

/** A program that init.sh starts. */
export interface NodeDaemon {
  readonly name: string;
  readonly command: readonly string[];
}

/** The ports inside. */
export const ports = { etcd: 2379, apiServer: 6443 } as const;
/** What the daemons inside call the API server. */
export const innerServer = `https://127.0.0.1:${ports.apiServer}`;

/** The daemons that run before the API server is ready. */
export function firstDaemons({ dir, machines, programs }: NodeDescription): readonly NodeDaemon[] {
  const gateway = join(import.meta.dirname ?? ".", "gateway.ts");
  const program = (name: string) => join(programs.controlPlane, name);
  return [
    { name: "gateway", command: [process.execPath, "run", "-A", "--no-check", "--no-config", gateway, dir] },
    { name: "etcd", command: [program("etcd"), ...etcdArgs(dir, ports)] },
    { name: "kube-apiserver", command: [program("kube-apiserver"), ...apiServer(dir)] },
    ...machines.map((machine) => ({
      name: `containerd-${machine.name}`,
      command: [join(programs.containerd, "containerd"), "--config", join(machineDir(dir, machine), "containerd.toml")],
    })),
  ];
}

/** The daemons that use the API server. */
export function furtherDaemons({ dir, machines, programs }: NodeDescription): readonly NodeDaemon[] {
  const manager = overridden(controllerManagerArgs(dir), ["--controllers=*", `--kubeconfig=${clientConfig(dir)}`]);
  const scheduler = [`--kubeconfig=${join(dir, "kubeconfig", "kube-scheduler")}`, "--secure-port=0"];
  return [
    { name: "kube-controller-manager", command: [join(programs.controlPlane, "kube-controller-manager"), ...manager] },
    {
      name: "kube-scheduler",
      command: [join(programs.kubernetes, "kube-scheduler"), ...scheduler, "--leader-elect=false"],
    },
    { name: "kube-proxy", command: [join(programs.kubernetes, "kube-proxy"), `--config=${join(dir, "proxy.yaml")}`] },
    ...machines.map((machine) => ({
      name: `kubelet-${machine.name}`,
      command: [join(programs.kubernetes, "kubelet"), ...kubelet(dir, machine)],
    })),
  ];
}

/** The kubeconfig of kube-controller-manager: the one of the control plane, with the address inside. */
export function clientConfig(dir: string): string {
  return join(dir, "kubeconfig", "kube-controller-manager-inside");
}

function apiServer(dir: string): readonly string[] {
  const pki = (file: string) => join(dir, "pki", file);
  const overrides = [
    "--bind-address=0.0.0.0",
    `--advertise-address=${apiAddress}`,
    "--endpoint-reconciler-type=lease", // Pods reach it through the Service "kubernetes"
    `--kubelet-client-certificate=${pki("apiserver-kubelet.crt")}`,
    `--kubelet-client-key=${pki("apiserver-kubelet.key")}`,
    `--kubelet-certificate-authority=${pki("ca.crt")}`,
    "--kubelet-preferred-address-types=InternalIP",
    "--enable-admission-plugins=NodeRestriction",
    `--audit-policy-file=${join(dir, "audit.yaml")}`,
    `--audit-log-path=${auditLog(dir)}`,
  ];
  return apiServerArgs(dir, { ports, overrides, hasControllers: true });
}

function kubelet(dir: string, machine: Machine): readonly string[] {
  const own = machineDir(dir, machine);
  return [
    `--config=${join(own, "kubelet.yaml")}`,
    `--kubeconfig=${join(dir, "kubeconfig", machine.name)}`,
    `--root-dir=/var/lib/kubelet-${machine.name}`,
    `--cert-dir=${join(own, "pki")}`,
    `--hostname-override=${machine.name}`,
    `--node-ip=${machine.address}`,
  ];
}
