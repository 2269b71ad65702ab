/**
 * Writes images as archives in OCI's layout, which `ctr images import` reads: one layer, with the files named. The
 * programs of a cluster are static, so an image is little more than its program. No container engine is involved.
 *
 * Guarantees: the same files give the same bytes.
 */
import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { finish } from "./finish.ts";

/** An image. */
export interface Image {
  /** Its full name, with registry and tag. */
  readonly name: string;
  /** Paths in the image, and the files that they are copied from. */
  readonly files: Readonly<Record<string, string>>;
  /** @default none: what runs it names the command */
  readonly entrypoint?: readonly string[];
  /** UID:GID. @default root */
  readonly user?: string;
}

/** @param path The archive; a folder of that name with `.new` behind it is used meanwhile. */
export async function writeImageArchive(path: string, image: Image): Promise<void> {
  const work = mkdtempSync(`${path}.new`);
  try {
    const blobs = join(work, "layout", "blobs", "sha256");
    mkdirSync(blobs, { recursive: true });
    const layer = join(work, "layer.tar");
    await writeLayer(join(work, "root"), layer, image);
    const [diffId, layerSize] = [await sha256Of(layer), statSync(layer).size];
    renameSync(layer, join(blobs, diffId));
    const blob = (value: unknown, mediaType: string) => {
      const text = JSON.stringify(value);
      const digest = createHash("sha256").update(text).digest("hex");
      writeFileSync(join(blobs, digest), text);
      return { mediaType, digest: `sha256:${digest}`, size: text.length };
    };
    const platform = { os: "linux", architecture: process.arch === "x64" ? "amd64" : process.arch };
    const config = blob({
      ...platform,
      config: {
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
        ...(image.user === undefined ? {} : { User: image.user }),
      },
      rootfs: { type: "layers", diff_ids: [`sha256:${diffId}`] },
    }, "application/vnd.oci.image.config.v1+json");
    const layers = [{
      mediaType: "application/vnd.oci.image.layer.v1.tar",
      digest: `sha256:${diffId}`,
      size: layerSize,
    }];
    const manifestType = "application/vnd.oci.image.manifest.v1+json";
    const manifest = blob({ schemaVersion: 2, mediaType: manifestType, config, layers }, manifestType);
    const annotations = { "io.containerd.image.name": image.name };
    const index = { schemaVersion: 2, manifests: [{ ...manifest, platform, annotations }] };
    writeFileSync(join(work, "layout", "index.json"), JSON.stringify(index));
    writeFileSync(join(work, "layout", "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await tar(join(work, "layout"), path);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function writeLayer(root: string, layer: string, { files }: Image): Promise<void> {
  mkdirSync(join(root, "tmp"), { recursive: true });
  for (const [to, from] of Object.entries(files)) {
    mkdirSync(join(root, dirname(to)), { recursive: true });
    await finish("cp", ["--dereference", from, join(root, to)]);
  }
  await tar(root, layer);
}

async function tar(folder: string, path: string): Promise<void> {
  const fixed = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"];
  await finish("tar", [...fixed, "-C", folder, "-cf", path, "."]);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}
