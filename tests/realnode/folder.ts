/**
 * Fills the folder of a real node before its daemons start: what a control plane has (../controlplane/folder.ts), and
 *
 *   bin/ cni/        links to the programs
 *   nodes/NAME/      configuration and data of a Node's containerd and kubelet
 *   daemons/         a script per daemon; pids/ and ended/ are init.sh's
 *   images/ hosts/   the registry's images, and where containerd finds it
 *   var/ tmp/ home/  what is seen as /var/lib, /var/log, TMPDIR and HOME
 */
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import type { CertificateAuthority, IssueOptions } from "../controlplane/certificate_authority.ts";
import type { Description } from "../controlplane/description.ts";
import { contextName, fillFolder, writePrivate } from "../controlplane/folder.ts";
import { kubeconfigText } from "../controlplane/kubeconfig.ts";
import { auditPolicy, cniConfig, containerdConfig, kubeletConfig, proxyConfig, registryHosts } from "./config.ts";
import { firstDaemons, furtherDaemons, innerServer, type NodeDaemon } from "./daemons.ts";
import { hierarchyLines } from "./hierarchies.ts";
import { writeImages } from "./images.ts";
import { machineDir, type NodeDescription } from "./layout.ts";
import type { NodePrograms } from "./programs.ts";

const folders = [
  ...["bin", "cni", "nodes", "daemons", "pids", "ended", "hosts/_default", "tmp", "home", "var/lib/cni", "var/log"],
];

/** Writes everything that keeper.sh, init.sh and the daemons read. */
export async function fillNodeFolder(
  node: NodeDescription,
  controlPlane: Description,
  authority: CertificateAuthority,
): Promise<void> {
  const { dir, machines: [first], machines, programs } = node;
  if (first === undefined) throw new TypeError("Cannot start a real node: it has no machine");
  await fillFolder(controlPlane, authority);
  for (const name of folders) mkdirSync(join(dir, name), { recursive: true });
  await writeCertificates(node, authority);
  await writeImages(join(dir, "images"), programs);
  linkPrograms(dir, programs);
  for (const machine of machines) {
    const own = machineDir(dir, machine);
    for (const name of ["cni", "containerd", "pki"]) mkdirSync(join(own, name), { recursive: true });
    writeFileSync(join(own, "containerd.toml"), containerdConfig(dir, machine));
    writeFileSync(join(own, "kubelet.yaml"), kubeletConfig(dir, machine));
    writeFileSync(join(own, "cni", "10-pods.conflist"), cniConfig(machine));
  }
  writeFileSync(join(dir, "hosts", "_default", "hosts.toml"), registryHosts);
  writeFileSync(join(dir, "proxy.yaml"), proxyConfig(dir, first));
  writeFileSync(join(dir, "audit.yaml"), auditPolicy);
  writeFileSync(join(dir, "resolv.conf"), "nameserver 10.96.0.10\n");
  writeFileSync(join(dir, "hierarchies"), hierarchyLines(node.id));
  writeFileSync(join(dir, "nodes.txt"), machines.map(({ name, address }) => `${name} ${address}\n`).join(""));
  for (const daemon of [...firstDaemons(node), ...furtherDaemons(node)]) writeDaemon(dir, daemon);
}

/** A component and the user that it is, in its certificate and its kubeconfig. */
async function writeCertificates({ dir, machines }: NodeDescription, authority: CertificateAuthority): Promise<void> {
  const write = async (name: string, options: IssueOptions) => {
    const pair = await authority.issue(options);
    writePrivate(join(dir, "pki", `${name}.crt`), pair.certificate);
    writePrivate(join(dir, "pki", `${name}.key`), pair.key);
    return pair;
  };
  const client = async (name: string, options: IssueOptions) => {
    const credentials = { kind: "certificate", pair: await write(name, options) } as const;
    const fields = { name: contextName, server: innerServer, ca: authority.certificate, namespace: undefined };
    writePrivate(join(dir, "kubeconfig", name), kubeconfigText({ ...fields, credentials }));
  };
  await write("apiserver-kubelet", { commonName: "kube-apiserver-kubelet", organizations: ["system:masters"] });
  await client("kube-controller-manager-inside", {
    commonName: "kube-controller-manager",
    organizations: ["system:masters"],
  });
  await client("kube-scheduler", { commonName: "system:kube-scheduler" });
  await client("kube-proxy", { commonName: "system:kube-proxy" });
  for (const { name, address } of machines) {
    const subject = { commonName: `system:node:${name}`, organizations: ["system:nodes"] };
    await client(name, subject);
    await write(`${name}-serving`, { ...subject, usage: "server", hosts: [name, address] });
  }
}

function linkPrograms(dir: string, programs: NodePrograms): void {
  for (const folder of [programs.containerd, programs.runc, programs.controlPlane]) {
    for (const name of readdirSync(folder)) symlinkSync(join(folder, name), join(dir, "bin", name));
  }
  for (const name of readdirSync(programs.cni)) symlinkSync(join(programs.cni, name), join(dir, "cni", name));
  const usr = join(programs.debian, "usr");
  const libraries = join(usr, "lib", `${arch() === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`);
  const nft = `#!/bin/sh\nLD_LIBRARY_PATH=${quoted(libraries)} exec ${quoted(join(usr, "sbin", "nft"))} "$@"\n`;
  writeProgram(join(dir, "bin", "nft"), nft);
}

/** A script that stores its process id, as the node sees it, and becomes the daemon. */
function writeDaemon(dir: string, { name, command }: NodeDaemon): void {
  const pid = quoted(join(dir, "pids", name));
  writeProgram(join(dir, "daemons", name), `#!/bin/sh\necho $$ >${pid}\nexec ${command.map(quoted).join(" ")}\n`);
}

function writeProgram(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** A word of a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
