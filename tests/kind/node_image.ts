/**
 * The image that kind makes its nodes of, without a registry: the Debian base, the files that kind's module has for it,
 * and programs built from Go modules. kind's own `build node-image` would fetch all of them from registries.
 *
 * Two things differ from a published image. The images of the control plane are not in it, but in a folder that the node
 * mounts and imports when it starts; and the kernel's settings of the whole machine stay as they are (own_sysctls.sh).
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { kubernetesVersion } from "../controlplane/build.ts";
import { writeImages } from "../realnode/images.ts";
import { cachedFolder } from "./cache_folder.ts";
import type { DebianFolders } from "./debian.ts";
import { finish } from "../controlplane/finish.ts";
import { type Image, writeImageArchive } from "../realnode/image_layout.ts";
import type { KindPrograms } from "./programs.ts";

/** The image, as files for `docker import` and for the node's containerd. */
export interface NodeImage {
  readonly name: string;
  /** The archive of its root file system. */
  readonly rootfs: string;
  /** What `docker import --change` is told. */
  readonly changes: readonly string[];
  /** The folder of the archives that a node imports; kind mounts it at {@link nodeImagesDir}. */
  readonly images: string;
  /** An OCI layout with a stand-in for nginx, for ../realnode/registry.ts. */
  readonly registry: string;
}

/**
 * Where nodes pull images from: the machine's own address (scripts/docker.sh), which every container reaches through its
 * gateway.
 */
export const registryAddress = { host: "192.0.2.2", port: 5000 } as const;

/** Where a node finds the images of the control plane. */
export const nodeImagesDir = "/kind/images";

const scripts = join(import.meta.dirname ?? ".", "scripts");
const { major, minor, patch } = kubernetesVersion();
const version = `v${major}.${minor}.${patch}`;

/** Makes the image, or finds it in the cache. */
export async function nodeImage(programs: KindPrograms, debian: DebianFolders): Promise<NodeImage> {
  const here = import.meta.dirname ?? ".";
  const dir = await cachedFolder({
    name: "node",
    sources: ["node_image.ts", "../realnode/image_layout.ts", "../realnode/images.ts", "scripts/own_sysctls.sh"].map((
      name,
    ) => join(here, name)),
    inputs: [JSON.stringify([programs, debian])],
    fill: async (building) => {
      process.stderr.write("kind: making the image of the node\n");
      await writeRootfs(join(building, "rootfs.tar"), { programs, debian, work: join(building, "rootfs") });
      await writeArchives(join(building, "images"), programs, debian);
      await writeImages(join(building, "registry"), programs);
    },
  });
  return {
    name: `kindest/node:${version}`,
    rootfs: join(dir, "rootfs.tar"),
    images: join(dir, "images"),
    registry: join(dir, "registry"),
    changes: [
      'ENTRYPOINT ["/usr/local/bin/own_sysctls.sh","/usr/local/bin/entrypoint","/sbin/init"]',
      "ENV container=docker",
    ],
  };
}

interface RootfsParts {
  readonly programs: KindPrograms;
  readonly debian: DebianFolders;
  /** A folder for its files, removed at the end. */
  readonly work: string;
}

async function writeRootfs(path: string, { programs, debian, work }: RootfsParts): Promise<void> {
  await finish("cp", ["-a", debian.base, work]);
  await installKindFiles(work, join(programs.kindSources, "images/base/files"));
  for (const [to, from] of Object.entries(programPaths(programs))) {
    await finish("install", ["-D", "-m", "755", from, join(work, to)]);
  }
  install(work, {
    "kind/version": version,
    "kind/manifests/.keep": "",
    "etc/kubernetes/manifests/.keep": "",
    "etc/cni/net.d/10-pods.conflist": podNetwork,
    "etc/systemd/system/kind-images.service": importUnit,
    "etc/containerd/certs.d/_default/hosts.toml": registryHosts(),
    "etc/containerd/cri-base.json": await containerSpec(programs),
  });
  for (const unit of ["kubelet", "containerd", "undo-mount-hacks", "kind-images"]) enable(work, `${unit}.service`);
  // It would register formats for the whole kernel.
  symlinkSync("/dev/null", join(work, "etc/systemd/system/systemd-binfmt.service"));
  await finish("tar", ["-C", work, "--numeric-owner", "-cf", path, "."]);
  rmSync(work, { recursive: true });
}

/** What kind's Dockerfile copies, and the units that it removes. */
async function installKindFiles(root: string, files: string): Promise<void> {
  for (const folder of ["usr/local/bin", "kind/bin"]) {
    for (const name of readdirSync(join(files, folder))) {
      await finish("install", ["-D", "-m", "755", join(files, folder, name), join(root, folder, name)]);
    }
  }
  await finish("install", ["-m", "755", join(scripts, "own_sysctls.sh"), join(root, "usr/local/bin")]);
  // The module's files are read-only; the copies are not.
  await finish("cp", ["-r", "--no-preserve=mode", join(files, "etc"), root]);
  const wanted = ["multi-user", "local-fs", "basic", "sockets"].map((name) =>
    `lib/systemd/system/${name}.target.wants`
  );
  for (const folder of wanted.filter((folder) => existsSync(join(root, folder)))) {
    const isRemoved = (name: string) => !folder.includes("sockets") || /udev|initctl/.test(name);
    for (const name of readdirSync(join(root, folder)).filter(isRemoved)) rmSync(join(root, folder, name));
  }
  const tmpfiles = "lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service";
  rmSync(join(root, tmpfiles), { force: true });
  const system = join(root, "etc/systemd/system");
  for (const name of readdirSync(system).filter((name) => name.endsWith(".wants"))) {
    rmSync(join(system, name), { recursive: true });
  }
  const journal = join(root, "etc/systemd/journald.conf");
  writeFileSync(journal, `${readFileSync(journal, "utf8")}ReadKMsg=no\n`);
  if (!existsSync(join(root, "sbin/init"))) symlinkSync("/usr/lib/systemd/systemd", join(root, "sbin/init"));
  const config = join(root, "etc/containerd/config.toml");
  writeFileSync(config, containerdConfig(readFileSync(config, "utf8")));
}

/**
 * Without CAP_SYS_RESOURCE nobody may lower an oom_score_adj. The systemd driver for cgroups is not reliable in
 * hierarchies of version 1.
 */
function containerdConfig(text: string): string {
  const edited = text.replaceAll("SystemdCgroup = true", "SystemdCgroup = false")
    .replace("restrict_oom_score_adj = false", "restrict_oom_score_adj = true");
  return `${edited}\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n`;
}

function registryHosts(): string {
  const server = `"http://${registryAddress.host}:${registryAddress.port}"`;
  return `server = ${server}\n[host.${server}]\n  capabilities = ["pull", "resolve"]\n`;
}

function programPaths(programs: KindPrograms): Readonly<Record<string, string>> {
  const { controlPlane, kubernetes, containerd, runc, cni, kubeadm } = programs;
  const inFolder = (folder: string, from: string, names: readonly string[]) =>
    names.map((name) => [`${folder}/${name}`, join(from, name)] as const);
  return Object.fromEntries([
    ...inFolder("usr/bin", kubernetes, ["kubelet"]),
    ...inFolder("usr/bin", kubeadm, ["kubeadm"]),
    ...inFolder("usr/bin", controlPlane, ["kubectl"]),
    ...inFolder("usr/local/bin", containerd, ["containerd", "containerd-shim-runc-v2", "ctr"]),
    ...inFolder("usr/local/sbin", runc, ["runc"]),
    ...inFolder("opt/cni/bin", cni, ["ptp", "loopback", "host-local"]),
  ]);
}

/** As in kind's Dockerfile: containerd's default, with a hook, and with the limits of its own process. */
async function containerSpec({ containerd }: KindPrograms): Promise<string> {
  const spec = JSON.parse(await finish(join(containerd, "ctr"), ["oci", "spec"]));
  delete spec.process.rlimits;
  const createContainer = [...spec.hooks?.createContainer ?? [], { path: "/kind/bin/mount-product-files.sh" }];
  return JSON.stringify({ ...spec, hooks: { ...spec.hooks, createContainer } });
}

/** As kind's own network driver configures a node; that driver would have to be fetched, and one node needs no routes. */
const podNetwork = JSON.stringify({
  cniVersion: "1.0.0",
  name: "pods",
  plugins: [{
    type: "ptp",
    ipMasq: false,
    ipam: { type: "host-local", ranges: [[{ subnet: "10.244.0.0/24" }]], routes: [{ dst: "0.0.0.0/0" }] },
  }],
});

/** kubelet waits for it, so that no Pod needs an image that is not there yet. */
const importUnit = `[Unit]
Description=Import the images of the control plane
Requires=containerd.service
After=containerd.service
Before=kubelet.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -ec 'for archive in ${nodeImagesDir}/*.tar; do ctr --namespace k8s.io images import "$archive"; done'
[Install]
WantedBy=multi-user.target
`;

function install(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function enable(root: string, unit: string): void {
  const wants = join(root, "etc/systemd/system/multi-user.target.wants");
  mkdirSync(wants, { recursive: true });
  symlinkSync(`/etc/systemd/system/${unit}`, join(wants, unit));
}

/** Writes an archive for each image that kubeadm names. */
async function writeArchives(dir: string, programs: KindPrograms, debian: DebianFolders): Promise<void> {
  mkdirSync(dir);
  const listed = await finish(join(programs.kubeadm, "kubeadm"), [
    ...["config", "images", "list", "--kubernetes-version", version],
  ]);
  for (const name of listed.trim().split("\n")) {
    const program = basename(name).replace(/:.*$/, "");
    const image = await imageOf(program, programs, debian);
    await writeImageArchive(join(dir, `${program}.tar`), { name: nameOf(program, name, programs), ...image });
  }
}

/** kubeadm's pause is newer than the one that kind's containerd is configured with. */
function nameOf(program: string, name: string, { kindSources }: KindPrograms): string {
  if (program !== "pause") return name;
  const config = readFileSync(join(kindSources, "images/base/files/etc/containerd/config.toml"), "utf8");
  return /sandbox_image = "(.*)"/.exec(config)?.[1] ?? name;
}

async function imageOf(
  program: string,
  programs: KindPrograms,
  debian: DebianFolders,
): Promise<Omit<Image, "name">> {
  const file = (folder: string) => ({ [`usr/local/bin/${program}`]: join(folder, program) });
  switch (program) {
    case "pause":
      return { files: { pause: join(programs.pause, "pause") }, entrypoint: ["/pause"], user: "65535:65535" };
    case "coredns":
      return { files: { coredns: join(programs.kind, "coredns") }, entrypoint: ["/coredns"] };
    case "kube-proxy":
      return { files: { ...file(programs.kubernetes), ...await nftFiles(debian) } };
    case "kube-scheduler":
      return { files: file(programs.kubernetes) };
    case "etcd":
    case "kube-apiserver":
    case "kube-controller-manager":
      return { files: file(programs.controlPlane) };
    default:
      throw new Error(`Cannot make the image ${program}: kubeadm wants it, and node_image.ts does not know it`);
  }
}

/** The program nft, which kube-proxy calls, and its libraries: paths as the loader looks for them, and what is there. */
async function nftFiles({ base }: DebianFolders): Promise<Readonly<Record<string, string>>> {
  const list = 'for path in "$1" $(ldd "$1" | grep -o "/[^ ]*"); do echo "$path $(readlink -f "$path")"; done';
  const listed = await finish("chroot", [base, "sh", "-ec", list, "sh", "/usr/sbin/nft"]);
  return Object.fromEntries(
    listed.trim().split("\n").map((line) => {
      const [path = "", file = ""] = line.split(" ");
      return [path.slice(1), join(base, file)];
    }),
  );
}
