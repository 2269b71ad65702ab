/**
 * The programs of a real node: Kubernetes' own (of the version of the control plane, from its go.mod), containerd, runc
 * and the CNI plugins (from the go.mod beside this file), and pause, compiled from the C source in Kubernetes' module.
 *
 * Everything is built once into the user's cache. A missing tool is a result; a build that fails is an error.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { buildControlPlane, kubernetesModuleDir, kubernetesVersion, versionStamps } from "../controlplane/build.ts";
import { buildGoPrograms, cacheDir, fillCache, type GoBuild, type GoBuildOutcome } from "../controlplane/go_build.ts";
import { programFolders, type ProgramsOutcome, requiredVersion } from "../controlplane/programs.ts";
import { run } from "../controlplane/run.ts";
import { debianPackages } from "./debian.ts";

/** Folders of programs. */
export interface NodePrograms {
  /** etcd, kube-apiserver, kube-controller-manager, kubectl. */
  readonly controlPlane: string;
  /** kubelet, kube-scheduler, kube-proxy; agnhost, the program of Kubernetes' test images. */
  readonly kubernetes: string;
  /** containerd, containerd-shim-runc-v2, ctr. */
  readonly containerd: string;
  /** runc. */
  readonly runc: string;
  /** The CNI plugins. */
  readonly cni: string;
  /** pause, linked statically. */
  readonly pause: string;
  /** Debian's packages, unpacked: usr/sbin/nft. */
  readonly debian: string;
  /** Debian's package busybox-static, unpacked: bin/busybox or usr/bin/busybox. */
  readonly busybox: string;
}

const moduleDir = import.meta.dirname ?? ".";
const containerdModule = "github.com/containerd/containerd/v2";
const cniModule = "github.com/containernetworking/plugins/plugins";

/** kube-proxy calls nft; runc is linked with libseccomp. */
const packages = ["nftables", "libseccomp-dev"] as const;

/** The programs, built first if this machine has not built them yet (minutes, with progress on stderr). */
export async function nodePrograms(): Promise<ProgramsOutcome<NodePrograms>> {
  const controlPlane = await buildControlPlane();
  if (controlPlane.kind === "unavailable") return controlPlane;
  if (controlPlane.binaries.kubeControllerManager === undefined) {
    return { kind: "unavailable", reason: "KUBEBUILDER_ASSETS has no kube-controller-manager" };
  }
  const debian = await debianPackages(packages);
  if (debian.kind === "unavailable") return debian;
  const built = await programFolders({
    kubernetes: () => buildGoPrograms(kubernetes()),
    containerd: () => buildGoPrograms(containerd()),
    runc: () => buildGoPrograms(runc(debian.dir)),
    cni: () => buildGoPrograms(cni),
    pause: buildPause,
    busybox: () => debianPackages(["busybox-static"]),
  });
  if (built.kind === "unavailable") return built;
  const folders = { controlPlane: controlPlane.binaries.dir, debian: debian.dir };
  return { kind: "ready", programs: { ...folders, ...built.programs } };
}

function kubernetes(): GoBuild {
  const names = ["kubelet", "kube-scheduler", "kube-proxy"];
  return {
    name: "node",
    moduleDir: kubernetesModuleDir,
    programs: {
      ...Object.fromEntries(names.map((name) => [name, `k8s.io/kubernetes/cmd/${name}`])),
      agnhost: "k8s.io/kubernetes/test/images/agnhost",
    },
    ldflags: versionStamps(),
  };
}

function containerd(): GoBuild {
  const names = ["containerd", "containerd-shim-runc-v2", "ctr"];
  return {
    name: "containerd",
    moduleDir,
    programs: Object.fromEntries(names.map((name) => [name, `${containerdModule}/cmd/${name}`])),
    ldflags: [`-X ${containerdModule}/version.Version=${requiredVersion(moduleDir, containerdModule)}`],
    tags: ["no_btrfs", "no_zfs", "no_devmapper", "no_tracing", "netgo", "osusergo", "static_build"],
  };
}

/** Static, so that it runs with any root. It needs cgo for the code that enters namespaces, and for libseccomp. */
function runc(debianDir: string): GoBuild {
  const usr = join(debianDir, "usr");
  const library = join(usr, "lib", `${arch() === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`);
  return {
    name: "runc",
    moduleDir,
    programs: { runc: "github.com/opencontainers/runc" },
    ldflags: ["-linkmode=external", "-extldflags=-static"],
    tags: ["seccomp", "netgo", "osusergo", "urfave_cli_no_docs"],
    env: {
      CGO_ENABLED: "1",
      CGO_CFLAGS: `-O2 -I${join(usr, "include")}`,
      CGO_LDFLAGS: `-O2 -L${library} -lseccomp`,
      PKG_CONFIG: "true", // the two lines above say what it would
    },
  };
}

const cni: GoBuild = {
  name: "cni",
  moduleDir,
  programs: {
    ptp: `${cniModule}/main/ptp`,
    loopback: `${cniModule}/main/loopback`,
    "host-local": `${cniModule}/ipam/host-local`,
  },
};

/** Compiles Kubernetes' pause.c; the compiler's answer to a missing libc.a is the reason why there is none. */
async function buildPause(): Promise<GoBuildOutcome> {
  const { major, minor, patch } = kubernetesVersion();
  const cache = await run("go", ["list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"], { cwd: kubernetesModuleDir });
  if (cache.kind === "missing" || cache.code !== 0) return { kind: "unavailable", reason: "there is no Go" };
  const source = join(cache.stdout.trim(), "build/pause/linux/pause.c");
  const root = join(cacheDir(), "pause");
  const key = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const dir = join(root, key);
  if (existsSync(dir)) return { kind: "ready", dir };
  let reason: string | undefined;
  await fillCache(root, dir, async (building) => {
    const output = join(building, "pause");
    const args = ["-Os", "-static", "-s", `-DVERSION=v${major}.${minor}.${patch}`, "-o", output, source];
    const compiled = await run("gcc", args);
    if (compiled.kind === "missing") reason = "there is no gcc";
    else if (compiled.code !== 0) reason = `gcc cannot link statically: ${compiled.stderr.trim()}`;
    if (reason !== undefined) throw new Error(`Cannot build pause: ${reason}`);
  }).catch((error: unknown) => {
    if (reason === undefined) throw error;
  });
  return reason === undefined ? { kind: "ready", dir } : { kind: "unavailable", reason };
}

if (import.meta.main) console.log(JSON.stringify(await nodePrograms(), undefined, 2));
