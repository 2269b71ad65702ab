/**
 * `image` for this repository's operator: two runtimes write the same bytes, other people's libraries read them, and the
 * program starts with nothing but the files of its image. Needs no cluster; needs Go, and the network once. Run with:
 *
 *   deno test -A tests/e2e/image_test.ts
 */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import config from "../../deno.json" with { type: "json" };
import { root } from "../../tasks/_root.ts";
import { goProgram } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../testing.ts";

/** A file of an image, after all layers. */
interface ImageFile {
  readonly mode: number;
  readonly user: number;
  readonly size: number;
  readonly link?: string;
  /** The type in the tar archive: "0" file, "2" link, "5" folder. */
  readonly kind: string;
}

/** What image_reader/main.go found. */
interface Report {
  readonly entries: number;
  readonly images: readonly {
    readonly platform: string;
    readonly digest: string;
    readonly config: {
      readonly architecture: string;
      readonly created: string;
      readonly config: {
        readonly User: string;
        readonly Entrypoint: readonly string[];
        readonly Labels: Readonly<Record<string, string>>;
      };
    };
    readonly files: Readonly<Record<string, ImageFile>>;
    /** What a registry lists as referrers, after a push. */
    readonly referrers: readonly { readonly artifactType: string; readonly content: string }[];
  }[];
  readonly dockerTags: readonly string[];
  /** The digest in a registry, after a push. */
  readonly pushed: string;
  readonly containerd: readonly { readonly name: string; readonly platforms: readonly string[] }[];
}

const name = "registry.example.com/team/controller:1.2.3";
const flags = ["--platform", "linux/amd64,linux/arm64", "--image", name, "--stamp", "1.2.3", "--label", "team=web"];

/** A folder for the archives, removed after the test. */
class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "pintle-image-e2e-"));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

/** Runs a program in the repository. @returns its output */
async function call(program: string, args: readonly string[], cwd = root): Promise<string> {
  const result = await run(program, args, { cwd, env: { SOURCE_DATE_EPOCH: "1700000000" } });
  if (result.kind === "ended" && result.code === 0) return result.stdout;
  throw new Error(`Cannot run ${program} ${args.join(" ")}: ${JSON.stringify(result)}`);
}

function digestOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

test("image writes the same bytes on Deno and on Bun, and crane and containerd read them", async () => {
  using folder = new Folder();
  const [first, second] = [join(folder.path, "first.tar"), join(folder.path, "second.tar")];
  const printed = await call(process.execPath, ["run", "-A", "src/bin.ts", "image", ...flags, "--output", first]);
  await call("sh", ["tasks/bun.sh", "src/bin.ts", "image", ...flags, "--output", second]);
  assertEquals(digestOf(second), digestOf(first));
  rmSync(second);

  const moduleDir = join(root, "tests", "e2e", "image_reader");
  const reader = await goProgram({ name: "image-reader", moduleDir, programs: { reader: "pintle/image-reader" } });
  const content = join(folder.path, "content");
  mkdirSync(content);
  const report: Report = JSON.parse(await call(reader, [first, content]));
  assertEquals([report.entries, report.dockerTags], [1, [name]]);
  assertStringIncludes(printed, `, ${report.pushed}\n`);
  assertEquals(report.containerd, [{ name, platforms: ["linux/amd64", "linux/arm64"] }]);
  assertEquals(report.images.map(({ platform }) => platform), ["linux/amd64", "linux/arm64"]);
  for (const { platform, digest, config: { architecture, created, config }, files, referrers } of report.images) {
    assertEquals(`linux/${architecture}`, platform);
    assertStringIncludes(printed, digest);
    assertEquals(created, "2023-11-14T22:13:20Z");
    assertEquals([config.User, config.Entrypoint], ["65532:65532", ["/usr/local/bin/controller"]]);
    assertEquals(config.Labels.team, "web");
    assertEquals(config.Labels["org.opencontainers.image.version"], "1.2.3");
    assertFiles(files);
    assertEquals(referrers.map(({ artifactType }) => artifactType), ["application/vnd.cyclonedx+json"]);
    const [bill] = referrers.map(({ content }) => content);
    assertEquals(JSON.parse(bill ?? "").metadata.component.name, "controller");
    assertEquals(bill?.length, files["/usr/share/sbom/controller.cdx.json"]?.size);
  }
});

/** The files that programs rely on, and no file that a program could change. */
function assertFiles(files: Readonly<Record<string, ImageFile>>): void {
  const { "/tmp": tmp, "/home/nonroot": home, "/usr/local/bin/controller": program } = files;
  assertEquals([tmp?.mode, home?.mode, home?.user], [0o1777, 0o700, 65532]);
  assertEquals([program?.mode, program?.kind], [0o755, "0"]);
  assert((program?.size ?? 0) > 50_000_000);
  assert((files["/etc/ssl/certs/ca-certificates.crt"]?.size ?? 0) > 100_000);
  assert((files["/usr/share/sbom/controller.cdx.json"]?.size ?? 0) > 5_000);
  for (const packageName of ["ca-certificates", "libc6", "libgcc-s1"]) {
    assertEquals(files[`/var/lib/dpkg/status.d/${packageName}`]?.kind, "0", packageName);
  }
  const writable = Object.entries(files).filter(([, { kind, mode, user }]) =>
    kind !== "2" && ((mode & 0o022) !== 0 || user !== 0)
  );
  assertEquals(writable.map(([path]) => path).sort(), ["/home/nonroot", "/tmp"]);
}

/** Namespaces, so that nothing of this machine is mounted or changed, and a root that is read-only. */
const startInImage = `
set -eu
mkdir -p "$1/dev" "$1/proc"
mount --make-rprivate /
mount --bind "$1" "$1"
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
mount -o remount,bind,ro "$1"
shift
exec chroot --userspec=65532:65532 "$ROOT" "$@"
`;

const whyNotStarted = process.platform !== "linux" || process.getuid?.() !== 0 ? "needs root on Linux" : undefined;
const startTest = whyNotStarted === undefined ? test : (title: string) => test.skip(title, whyNotStarted);

startTest(
  "the program of an image starts with the files of its image only, as its user, on a read-only root",
  async () => {
    using folder = new Folder();
    const [archive, layout, rootFolder] = ["image.tar", "layout", "root"].map((part) => join(folder.path, part));
    await call(process.execPath, ["run", "-A", "src/bin.ts", "image", "--stamp", "1.2.3", "--output", archive ?? ""]);
    await unpack(archive ?? "", layout ?? "");
    const read = (path: string) => JSON.parse(readFileSync(join(layout ?? "", path), "utf8"));
    const blob = (digest: string) => join("blobs", digest.replace(":", "/"));
    const { manifests: [program] } = read(blob(read("index.json").manifests[0].digest));
    const { layers } = read(blob(program.digest));
    for (const { digest } of layers) await unpack(join(layout ?? "", blob(digest)), rootFolder ?? "");
    const inside = ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", startInImage, "sh", rootFolder ?? ""];
    const started = async (...args: readonly string[]) =>
      await call("env", [`ROOT=${rootFolder}`, "unshare", ...inside, "/usr/local/bin/controller", ...args]);
    assertEquals(await started("--version"), "1.2.3\n");
    assertStringIncludes(await started("manifests", "foo", "--image", name), `image: ${name}`);
    const bill = JSON.parse(readFileSync(join(rootFolder ?? "", "usr/share/sbom/controller.cdx.json"), "utf8"));
    const binary = readFileSync(join(rootFolder ?? "", "usr/local/bin/controller"));
    assertEquals(bill.metadata.component.hashes[0].content, createHash("sha256").update(binary).digest("hex"));
    const versions = new Map(bill.components.map(({ name, version }: Record<string, string>) => [name, version]));
    assertEquals(config.imports.zod, `npm:zod@${versions.get("zod")}`);
    assertEquals(config.imports.bun, `npm:bun@${versions.get("bun")}`);
    assert(versions.has("libc6"));
  },
);

async function unpack(archive: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await call("tar", ["xf", archive, "-C", folder]);
}
