/**
 * Two folders of Debian packages in the user's cache: a small system, and Docker, which is only unpacked over it. The
 * machine (machine.ts) has both as its root file system; the image of the node (node_image.ts) begins with the first.
 *
 * debootstrap works in a mount namespace of its own, and Docker is fetched by the new system's apt, so nothing is
 * installed on this machine and the state of its apt stays as it is.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { debianPackages } from "../realnode/debian.ts";
import { cachedFolder, kindCache } from "./cache_folder.ts";
import { finish } from "../controlplane/finish.ts";

/** The folders. */
export interface DebianFolders {
  /** A Debian system with what kind's own base image has, and no kernel. */
  readonly base: string;
  /** Docker, containerd and runc, to lie over the base. */
  readonly docker: string;
}

const suite = "bookworm";
/** As in kind's images/base/Dockerfile, without the clients of network file systems. */
const basePackages = [
  ...["systemd", "conntrack", "iptables", "nftables", "iproute2", "ethtool", "util-linux", "mount", "kmod"],
  ...["libseccomp2", "pigz", "e2fsprogs", "bash", "ca-certificates", "curl", "jq", "procps"],
];
const dockerPackages = ["docker.io", "containerd", "runc"];
/** What no program of a node reads. */
const superfluous = ["var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale", "usr/share/man"];

/**
 * Fetches the folders, or finds them in the cache.
 *
 * @throws Error when debootstrap or apt fails.
 */
export async function debianFolders(): Promise<DebianFolders> {
  const dir = await cachedFolder({
    name: "debian",
    sources: [import.meta.filename ?? ""],
    fill: (building) => fetchInto(building, join(kindCache, "packages")),
  });
  return { base: join(dir, "base"), docker: join(dir, "docker") };
}

/** @param packages Keeps the packages for the next build. */
async function fetchInto(building: string, packages: string): Promise<void> {
  const fetched = await debianPackages(["debootstrap"]);
  if (fetched.kind === "unavailable") throw new Error(`Cannot fetch debootstrap: ${fetched.reason}`);
  process.stderr.write("kind: fetching Debian packages; once, in 2 to 4 minutes\n");
  const [base, docker] = [join(building, "base"), join(building, "docker")];
  for (const dir of [base, docker, packages]) mkdirSync(dir, { recursive: true });
  const ownMounts = ["--mount", "--propagation", "private"];
  const program = join(fetched.dir, "usr/sbin/debootstrap");
  const options = [`--cache-dir=${packages}`, "--variant=minbase", `--include=${basePackages.join(",")}`];
  await finish("unshare", [...ownMounts, program, ...options, suite, base], {
    env: { DEBOOTSTRAP_DIR: join(fetched.dir, "usr/share/debootstrap"), DEBIAN_FRONTEND: "noninteractive" },
  });
  const fetch = `cd /tmp && apt-get --quiet=2 update && apt-get --quiet=2 download ${dockerPackages.join(" ")}`;
  const unpack = 'for package in /tmp/*.deb; do dpkg-deb --extract "$package" /tmp/docker; done';
  await finish("unshare", [...ownMounts, "chroot", base, "sh", "-ec", `${fetch}\n${unpack}`]);
  // /lib of the base is a link to /usr/lib, which a folder of that name would hide.
  const [unpacked, to] = [join(base, "tmp/docker"), docker];
  await finish("cp", ["-a", `${unpacked}/etc`, `${unpacked}/usr`, to]);
  await finish("cp", ["-a", `${unpacked}/lib/.`, join(to, "usr/lib")]);
  await finish("sh", ["-ec", 'rm -rf "$1"/tmp/*', "sh", base]);
  for (const path of superfluous) rmSync(join(base, path), { recursive: true, force: true });
}
