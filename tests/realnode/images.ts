/**
 * The images that every node can pull: pause, and a stand-in for nginx, which serves HTTP on port 80 (Kubernetes' own test
 * program `agnhost netexec`). They are written as one OCI layout, which gateway.ts serves.
 */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { run } from "../controlplane/run.ts";
import { pauseImage } from "./config.ts";
import type { Programs } from "./programs.ts";

/** An image with one program. */
interface StandIn {
  readonly image: string;
  readonly program: string;
  readonly entrypoint: readonly string[];
}

/** The image that Foo's Deployments use. */
export const nginxImage = "docker.io/library/nginx:latest";

/** Writes the layout. */
export async function writeImages(layout: string, programs: Programs): Promise<void> {
  const standIns: readonly StandIn[] = [
    { image: pauseImage, program: join(programs.pause, "pause"), entrypoint: ["/program"] },
    {
      image: nginxImage,
      program: join(programs.kubernetes, "agnhost"),
      entrypoint: ["/program", "netexec", "--http-port=80", "--udp-port=-1"],
    },
  ];
  mkdirSync(join(layout, "blobs", "sha256"), { recursive: true });
  const manifests: unknown[] = [];
  for (const standIn of standIns) manifests.push(await writeImage(layout, standIn));
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
}

/** Writes the blobs of an image, and returns its entry in the index. */
async function writeImage(layout: string, { image, program, entrypoint }: StandIn): Promise<object> {
  const layer = await tarOf(layout, program);
  const blob = (bytes: Uint8Array | string, mediaType: string) => {
    const digest = sha256(bytes);
    writeFileSync(join(layout, "blobs", "sha256", digest), bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const config = JSON.stringify({
    architecture: arch() === "arm64" ? "arm64" : "amd64",
    os: "linux",
    config: { Entrypoint: entrypoint },
    rootfs: { type: "layers", diff_ids: [`sha256:${sha256(layer)}`] },
  });
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType,
    config: blob(config, "application/vnd.oci.image.config.v1+json"),
    layers: [blob(layer, "application/vnd.oci.image.layer.v1.tar")],
  });
  return { ...blob(manifest, mediaType), annotations: { "io.containerd.image.name": image } };
}

/** A tar file with /program and /tmp, without times and owners. */
async function tarOf(layout: string, program: string): Promise<Uint8Array> {
  const root = join(layout, "root");
  mkdirSync(join(root, "tmp"), { recursive: true });
  copyFileSync(program, join(root, "program"));
  const tar = join(layout, "root.tar");
  const same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  const made = await run("tar", ["--create", "--file", tar, ...same, "--directory", root, "tmp", "program"]);
  if (made.kind === "missing" || made.code !== 0) throw new Error(`Cannot write the image of ${program}: tar failed`);
  const bytes = readFileSync(tar);
  for (const path of [root, tar]) rmSync(path, { recursive: true });
  return bytes;
}

function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}
