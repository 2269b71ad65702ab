/**
 * Writes images as OCI layouts, in a folder for ../realnode/registry.ts, or as an archive that `ctr images import` reads. An
 * image has one layer, with the files named: the programs of a cluster are static, so it is little more than its program. No
 * container engine is involved.
 *
 * Guarantees: the same files give the same bytes.
 */
import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { dirname, join } from "node:path";
import { finish } from "../controlplane/finish.ts";

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

/** Writes a layout with these images. @param layout A folder, which is made */
export async function writeImageLayout(layout: string, images: readonly Image[]): Promise<void> {
  mkdirSync(join(layout, "blobs", "sha256"), { recursive: true });
  const manifests: unknown[] = [];
  for (const image of images) manifests.push(await writeImage(layout, image));
  writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
}

/** @param path The archive; a folder of that name with `.new` behind it is used meanwhile. */
export async function writeImageArchive(path: string, image: Image): Promise<void> {
  const layout = mkdtempSync(`${path}.new`);
  try {
    await writeImageLayout(layout, [image]);
    await tar(layout, path);
  } finally {
    rmSync(layout, { recursive: true, force: true });
  }
}

/** Writes the blobs of an image. @returns its entry in the index */
async function writeImage(layout: string, image: Image): Promise<object> {
  const blobPath = (digest: string) => join(layout, "blobs", "sha256", digest);
  const work = mkdtempSync(`${layout}.image`);
  const layer = join(work, "layer.tar");
  try {
    await writeLayer(join(work, "root"), layer, image);
    const [diffId, size] = [await sha256Of(layer), statSync(layer).size];
    renameSync(layer, blobPath(diffId));
    const blob = (value: unknown, mediaType: string) => {
      const text = JSON.stringify(value);
      const digest = createHash("sha256").update(text).digest("hex");
      writeFileSync(blobPath(digest), text);
      return { mediaType, digest: `sha256:${digest}`, size: text.length };
    };
    const platform = { os: "linux", architecture: arch() === "x64" ? "amd64" : arch() };
    const config = blob({
      ...platform,
      config: {
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
        ...(image.user === undefined ? {} : { User: image.user }),
      },
      rootfs: { type: "layers", diff_ids: [`sha256:${diffId}`] },
    }, "application/vnd.oci.image.config.v1+json");
    const layers = [{ mediaType: "application/vnd.oci.image.layer.v1.tar", digest: `sha256:${diffId}`, size }];
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const manifest = blob({ schemaVersion: 2, mediaType, config, layers }, mediaType);
    return { ...manifest, platform, annotations: { "io.containerd.image.name": image.name } };
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
