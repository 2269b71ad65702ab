/**
 * Writes images as one tar archive: an OCI image layout, with the `manifest.json` that older versions of docker read.
 *
 * Guarantees: `index.json` has one entry, the index of the platforms, because podman refuses more; the entry has both
 * annotations from which containerd, docker and podman take the name; the same images give the same bytes.
 *
 * The index also has a bill of materials for each platform, as an artifact whose `subject` is the image. Whoever pushes the
 * index pushes the bills, and the registry lists each one as a referrer of its image (OCI distribution 1.1).
 */
import { packTar, type TarEntry } from "modern-tar";
import type { ImageName } from "./image_name.ts";
import { digestOf, type Layer } from "./layer.ts";
import type { Platform } from "./platforms.ts";

/** The image of one platform. */
export interface Image {
  readonly platform: Platform;
  readonly layers: readonly Layer[];
  /** Path of the program. */
  readonly entrypoint: string;
  readonly user: string;
  readonly environment: readonly string[];
  readonly workingDirectory: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  readonly billOfMaterials: BillOfMaterialsFile;
}

/** What is inside of an image, for scanners and for people. */
export interface BillOfMaterialsFile {
  readonly name: string;
  /** CycloneDX as JSON. */
  readonly text: string;
}

/** A finished archive. */
export interface OciArchive {
  readonly bytes: Uint8Array;
  /** The digest that a registry will show. */
  readonly digest: string;
  /** Of each platform. */
  readonly images: readonly { readonly platform: string; readonly digest: string; readonly compressedBytes: number }[];
}

const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  empty: "application/vnd.oci.empty.v1+json",
  billOfMaterials: "application/vnd.cyclonedx+json",
} as const;

/**
 * The platform of what is no image, as BuildKit writes it: containerd, podman and crane choose an entry by its platform, and
 * take one without a platform for an image of any.
 */
const noPlatform = { architecture: "unknown", os: "unknown" } as const;

/** A reference to a blob, as OCI writes it. */
interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string; readonly os: string };
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The blobs of an archive; equal blobs are stored once. */
class Blobs {
  readonly #bytes = new Map<string, Uint8Array>();

  add(mediaType: string, content: Uint8Array | object): Descriptor {
    const bytes = content instanceof Uint8Array ? content : json(content);
    const digest = digestOf(bytes);
    this.#bytes.set(digest, bytes);
    return { mediaType, digest, size: bytes.length };
  }

  /** Sorted by digest. */
  entries(): readonly (readonly [digest: string, bytes: Uint8Array])[] {
    return [...this.#bytes].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** A descriptor of an image with those of its parts. */
interface StoredImage {
  readonly image: Image;
  readonly manifest: Descriptor;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  /** The artifact with the bill of materials. */
  readonly billOfMaterials: Descriptor;
}

/** Writes an archive. `docker load` of versions that know no platforms gets the first image. */
export async function packOciArchive(name: ImageName, images: readonly Image[]): Promise<OciArchive> {
  const blobs = new Blobs();
  const stored = images.map((image) => store(image, blobs));
  const [first] = stored;
  if (first === undefined) throw new TypeError("Cannot write an archive: there is no image");
  const top = blobs.add(mediaTypes.index, {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [...stored.map(({ manifest }) => manifest), ...stored.map(({ billOfMaterials }) => billOfMaterials)],
    annotations: first.image.labels,
  });
  const annotations = { "io.containerd.image.name": name.full, "org.opencontainers.image.ref.name": name.tag };
  const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [{ ...top, annotations }] };
  const dockerManifest = [{
    Config: pathOf(first.config.digest),
    RepoTags: [name.short],
    Layers: first.layers.map(({ digest }) => pathOf(digest)),
  }];
  const bytes = await packTar([
    folder("blobs/"),
    folder("blobs/sha256/"),
    ...blobs.entries().map(([digest, content]) => file(pathOf(digest), content)),
    file("index.json", json(index)),
    file("manifest.json", json(dockerManifest)),
    file("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
  ]);
  return { bytes, digest: top.digest, images: stored.map(factsOf) };
}

function factsOf({ image, manifest, config, layers }: StoredImage): OciArchive["images"][number] {
  const compressedBytes = [manifest, config, ...layers].reduce((sum, { size }) => sum + size, 0);
  return { platform: image.platform.name, digest: manifest.digest, compressedBytes };
}

function store(image: Image, blobs: Blobs): StoredImage {
  const { platform: { architecture }, labels } = image;
  const config = blobs.add(mediaTypes.config, configOf(image));
  const layers = image.layers.map(({ bytes }) => blobs.add(mediaTypes.layer, bytes));
  const manifest = blobs.add(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config,
    layers,
    annotations: labels,
  });
  const billOfMaterials = storeBillOfMaterials(image, manifest, blobs);
  return { image, manifest: { ...manifest, platform: { architecture, os: "linux" } }, config, layers, billOfMaterials };
}

/** An artifact as OCI describes one without settings of its own: its config is `{}`. */
function storeBillOfMaterials({ billOfMaterials, createdAt }: Image, subject: Descriptor, blobs: Blobs): Descriptor {
  const { name, text } = billOfMaterials;
  const artifactType = mediaTypes.billOfMaterials;
  const blob = blobs.add(artifactType, new TextEncoder().encode(text));
  const manifest = blobs.add(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    artifactType,
    config: blobs.add(mediaTypes.empty, {}),
    layers: [{ ...blob, annotations: { "org.opencontainers.image.title": name } }],
    subject,
    annotations: { "org.opencontainers.image.created": secondsOf(createdAt) },
  });
  return { ...manifest, artifactType, platform: noPlatform };
}

function configOf(image: Image): object {
  const created = secondsOf(image.createdAt);
  return {
    created,
    architecture: image.platform.architecture,
    os: "linux",
    config: {
      User: image.user,
      Env: image.environment,
      Entrypoint: [image.entrypoint],
      WorkingDir: image.workingDirectory,
      Labels: image.labels,
    },
    rootfs: { type: "layers", diff_ids: image.layers.map(({ diffId }) => diffId) },
    history: image.layers.map(({ about }) => ({ created, created_by: "controller image", comment: about })),
  };
}

function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

function pathOf(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}

const epoch = { mtime: new Date(0), uid: 0, gid: 0, uname: "", gname: "" } as const;

function folder(name: string): TarEntry {
  return { header: { ...epoch, name, type: "directory", mode: 0o755, size: 0 } };
}

function file(name: string, body: Uint8Array): TarEntry {
  return { header: { ...epoch, name, type: "file", mode: 0o644, size: body.length }, body };
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
