/**
 * `image`: an operator as an OCI image archive, which docker, podman, containerd and kind load and skopeo and crane push.
 * There is no container engine: this program compiles the operator for each platform, takes the C library and the
 * authorities from pinned packages of Debian, and writes the archive.
 *
 * Guarantees: the same sources, version of Bun and flags give the same bytes; an existing archive is replaced as a whole, or
 * stays as it is; a program that could not start in the image is refused.
 */
import {
  directoryOf,
  fileStat,
  joinPath,
  makeDirectory,
  processFacts,
  readBytes,
  readText,
  removePath,
  resolvePath,
  writeFile,
} from "../../runtime/mod.ts";
import {
  type Call,
  CommandError,
  type ExitCode,
  exitCode,
  listenForInterrupts,
  type Session,
  subcommand,
} from "../command/mod.ts";
import {
  type BunProgram,
  compileBinary,
  describeProject,
  findBun,
  type ProjectDescription,
  readProject,
  versionOf,
} from "../compile/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { billOfMaterials, type BundledPackage, bundledPackages } from "./bill_of_materials.ts";
import { readDeb } from "./deb_archive.ts";
import { certificatesPackage, type DebianPackage, libraryPackages } from "./debian_packages.ts";
import { fetchPackage, type PackageSource } from "./fetch_package.ts";
import { createdAt, type ImageFlags, imageFlags, platformsOf } from "./image_flags.ts";
import { imageLabels, revisionOf } from "./image_labels.ts";
import { type ImageName, parseImageName, tagOf } from "./image_name.ts";
import { gzipWithBun, packLayer } from "./layer.ts";
import { type Image, type OciArchive, packOciArchive } from "./oci_archive.ts";
import type { Platform } from "./platforms.ts";
import { assertStarts, platformOfProgram } from "./program.ts";
import {
  certificatesFile,
  homeFolder,
  libraryFiles,
  systemFiles,
  type UnpackedPackage,
  userId,
} from "./root_file_system.ts";

/** The command. */
export const image = subcommand({
  description: "Writes an operator as an OCI image archive, which docker, podman, containerd and kind load. " +
    "Needs Bun, on the path or in node_modules; needs no container engine.",
  positionals: undefined,
  examples: [
    { line: "", about: "main.ts of this folder, for this kind of processor" },
    {
      line: "--platform linux/amd64,linux/arm64 --image registry.example.com/website:1.2.3 --output website.tar",
      about: "for two kinds of processors, under the name of a registry",
    },
  ],
  flags: imageFlags,
  run: writeImage,
});

/** A program for one platform. */
interface Program {
  readonly platform: Platform;
  readonly bytes: Uint8Array;
  /** What Bun put into it; unknown for a program that was compiled before. */
  readonly packages: readonly BundledPackage[];
}

/** All that is decided before anything is built. */
interface ImagePlan extends Pick<ProjectDescription, "description" | "license" | "source"> {
  /** The name of the program. */
  readonly program: string;
  readonly version: string;
  readonly bun: BunProgram;
  readonly imageName: ImageName;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  /** Makes the programs, one after the other. @param folder For files meanwhile */
  readonly programs: (folder: string, signal: AbortSignal) => AsyncIterable<Program>;
  readonly platforms: readonly Platform[];
}

async function writeImage({ flags, session }: Call<ImageFlags>): Promise<ExitCode> {
  const plan = flags.binary.length > 0 ? await planOfBinaries(flags, session) : await planOfProject(flags, session);
  const shown = flags.output ?? joinPath("dist", `${plan.program}.image.tar`);
  const output = resolvePath(processFacts().workingDirectory, shown);
  using interrupts = listenForInterrupts(session, { mode: "undo" });
  const folder = await openBuildFolder(output, shown);
  try {
    const archive = await buildImages(plan, { flags, session, folder, signal: interrupts.stop });
    await writeFile(output, archive.bytes, { mode: 0o644 }).catch((error) => {
      throw unwritable(shown, error);
    });
    printArchive(session, { shown, plan, archive });
    return exitCode.done;
  } finally {
    await removePath(folder);
  }
}

/** A folder beside the archive: there is room for the archive, so there is room for its parts. */
async function openBuildFolder(output: string, shown: string): Promise<string> {
  if ((await fileStat(output).catch(() => undefined))?.kind === "directory") {
    throw new UsageError(`Cannot write "${shown}": it is a folder`, "Name a file with --output");
  }
  try {
    await makeDirectory(directoryOf(output), 0o755);
    const folder = `${output}.building`;
    await removePath(folder);
    await makeDirectory(folder);
    return folder;
  } catch (error) {
    throw unwritable(shown, error);
  }
}

function unwritable(shown: string, error: unknown): CommandError {
  const state = error instanceof Error ? error.message : String(error);
  return new CommandError(`Cannot write "${shown}": ${state}`, {
    code: exitCode.failed,
    advice: "Name another file with --output",
    cause: error,
  });
}

/** What `planOfProject` and `planOfBinaries` have in common. */
async function planOf(
  project: ProjectDescription & { readonly version: string; readonly bun: BunProgram; readonly folder: string },
  programs: Pick<ImagePlan, "programs" | "platforms">,
  flags: ImageFlags,
  session: Session,
): Promise<ImagePlan> {
  const { version, bun, folder, description, license, source } = project;
  const program =
    [project.name, lastPart(flags.image)].find((name) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name ?? "")) ??
      "operator";
  const typed = flags.image ?? program;
  const imageName = parseImageName(typed, tagOf(version));
  if (typeof imageName === "string") {
    throw new UsageError(
      `Cannot name an image "${typed}": ${imageName}`,
      "Example: --image registry.example.com/operator:1.2.3",
    );
  }
  const { environment } = session;
  const facts = {
    title: program,
    version,
    description,
    license,
    source,
    revision: await revisionOf(folder, environment),
  };
  const labels = imageLabels(facts, flags.label);
  return {
    ...{ program, version, bun, imageName, labels, createdAt: createdAt(environment) },
    ...{ description, license, source },
    ...programs,
  };
}

/** `website` of `registry.example.com/team/website:1.2.3`. */
function lastPart(image: string | undefined): string | undefined {
  return image?.split("/").at(-1)?.split(":")[0];
}

/** The operator of this folder, which is compiled for each platform. */
async function planOfProject(flags: ImageFlags, session: Session): Promise<ImagePlan> {
  const platforms = platformsOf(flags);
  const project = await readProject(flags, session);
  const entryFolder = directoryOf(project.entry);
  async function* programs(folder: string, signal: AbortSignal): AsyncIterable<Program> {
    for (const platform of platforms) {
      session.info(`compiling for ${platform.name}`);
      const built = joinPath(folder, platform.architecture);
      await makeDirectory(built);
      const { binary, metafile } = await compileBinary(
        project,
        { target: platform.target, folder: built, signal },
        session,
      );
      const bytes = await readBytes(binary);
      assertStarts(binary, bytes, platform);
      const packages = await bundledPackages(await readText(metafile), entryFolder);
      await removePath(built);
      yield { platform, bytes, packages };
    }
  }
  return await planOf({ ...project, folder: entryFolder }, { programs, platforms }, flags, session);
}

/** Programs that were compiled before: each one says which platform it is for. */
async function planOfBinaries(flags: ImageFlags, session: Session): Promise<ImagePlan> {
  const { workingDirectory } = processFacts();
  const found: Program[] = [];
  for (const shown of flags.binary) {
    const bytes = await readBytes(resolvePath(workingDirectory, shown)).catch((error) => {
      throw new UsageError(
        `Cannot read the program "${shown}": ${error.message}`,
        "Name a compiled program with --binary",
      );
    });
    const platform = platformOfProgram(shown, bytes);
    if (found.some((other) => other.platform === platform)) {
      throw new UsageError(
        `Cannot put "${shown}" into the image: another program is for ${platform.name}, too`,
        "Name one",
      );
    }
    found.push({ platform, bytes, packages: [] });
  }
  for (const [index, { platform, bytes }] of found.entries()) assertStarts(flags.binary[index] ?? "", bytes, platform);
  const platforms = found.map(({ platform }) => platform);
  for (const { name } of flags.platform === undefined ? [] : platformsOf(flags)) {
    if (platforms.some((platform) => platform.name === name)) continue;
    throw new UsageError(`Cannot write the image for ${name}: no --binary is for it`, `Run: compile --target ...`);
  }
  const project = await describeProject(workingDirectory);
  const facts = {
    ...project,
    version: versionOf(flags, project),
    bun: await findBun(workingDirectory, session.environment),
    folder: workingDirectory,
  };
  async function* programs(): AsyncIterable<Program> {
    yield* found;
  }
  return await planOf(facts, { programs, platforms }, flags, session);
}

/** What an image is built with. */
interface BuildContext {
  readonly flags: ImageFlags;
  readonly session: Session;
  readonly folder: string;
  readonly signal: AbortSignal;
}

async function buildImages(plan: ImagePlan, context: BuildContext): Promise<OciArchive> {
  const { flags, session, folder, signal } = context;
  const { environment, processEnvironment: { clock } } = session;
  const onDownload = (text: string) => session.info(text);
  const source: PackageSource = { environment, mirror: flags.mirror, clock, onDownload, signal };
  // What the network may refuse comes before what takes long.
  const certificates = await unpacked(certificatesPackage, source);
  const libraries = new Map<Platform, readonly UnpackedPackage[]>();
  for (const platform of plan.platforms) {
    const packages: UnpackedPackage[] = [];
    for (const wanted of libraryPackages[platform.name]) packages.push(await unpacked(wanted, source));
    libraries.set(platform, packages);
  }
  const options = { modifiedAt: plan.createdAt, compress: gzipWithBun(plan.bun.path, folder) };
  const system = await packLayer(systemFiles(certificates), { ...options, about: "users and TLS authorities" });
  const images: Image[] = [];
  for await (const program of plan.programs(folder, signal)) {
    signal.throwIfAborted();
    const { platform, bytes } = program;
    const libraryLayer = libraryFiles(platform, libraries.get(platform) ?? []);
    const path = `usr/local/bin/${plan.program}`;
    const billOfMaterials = {
      name: `${plan.program}.cdx.json`,
      text: `${JSON.stringify(billOf(plan, program), undefined, 2)}\n`,
    };
    const programFiles = new Map([
      [path, { kind: "file", content: bytes, mode: 0o755 } as const],
      [`usr/share/sbom/${billOfMaterials.name}`, { kind: "file", content: billOfMaterials.text } as const],
    ]);
    const layers = [
      system,
      await packLayer(libraryLayer, { ...options, about: "the C library" }),
      await packLayer(programFiles, { ...options, about: `${plan.program} ${plan.version}` }),
    ];
    images.push({ ...settingsOf(plan, path), platform, layers, billOfMaterials });
  }
  return await packOciArchive(plan.imageName, images);
}

async function unpacked(wanted: DebianPackage, source: PackageSource): Promise<UnpackedPackage> {
  return { name: wanted.name, content: await readDeb(await fetchPackage(wanted, source)) };
}

function settingsOf(
  { labels, createdAt }: ImagePlan,
  path: string,
): Omit<Image, "platform" | "layers" | "billOfMaterials"> {
  return {
    entrypoint: `/${path}`,
    user: `${userId}:${userId}`,
    environment: ["PATH=/usr/local/bin:/usr/bin:/bin", `HOME=${homeFolder}`, `SSL_CERT_FILE=${certificatesFile}`],
    workingDirectory: homeFolder,
    labels,
    createdAt,
  };
}

function billOf({ program, version, license, bun }: ImagePlan, { bytes, packages, platform }: Program) {
  return billOfMaterials({
    name: program,
    version,
    license,
    binary: bytes,
    bunVersion: packages.length === 0 ? undefined : bun.version,
    packages,
    systemPackages: [certificatesPackage, ...libraryPackages[platform.name]],
  });
}

function printArchive(
  session: Session,
  { shown, plan, archive }: { readonly shown: string; readonly plan: ImagePlan; readonly archive: OciArchive },
): void {
  const mebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  session.print(`${shown}: ${plan.imageName.short}, ${mebibytes(archive.bytes.length)}, ${archive.digest}`);
  for (const { platform, digest, compressedBytes } of archive.images) {
    session.print(`  ${platform}: ${mebibytes(compressedBytes)} compressed, ${digest}`);
  }
}
