/** Decides for which platform a program is, and whether it could start in an image of that platform. */
import { UsageError } from "../flags/mod.ts";
import { type ElfProgram, readElf } from "./elf.ts";
import { type Platform, platformNames, platforms } from "./platforms.ts";
import { librariesOf } from "./root_file_system.ts";

const advice = "Compile it with: compile --target linux-x64 or linux-arm64";

/** The platform of a program. @param shown What an error names @throws UsageError when images have no such platform */
export function platformOfProgram(shown: string, bytes: Uint8Array): Platform {
  const program = elfOf(shown, bytes);
  const found = platformNames.map((name) => platforms[name]).find(({ machine }) => machine === program.machine);
  if (found === undefined) {
    throw new UsageError(
      `Cannot put "${shown}" into an image: it is for another processor than ${platformNames.join(" and ")}`,
      advice,
    );
  }
  return found;
}

/** @throws UsageError when a program could not start in an image of `platform` */
export function assertStarts(shown: string, bytes: Uint8Array, platform: Platform): void {
  const { machine, loader, libraries } = elfOf(shown, bytes);
  const refuse = (state: string) => new UsageError(`Cannot put "${shown}" into an image: ${state}`, advice);
  if (machine !== platform.machine) throw refuse(`it is not for ${platform.name}`);
  if (loader !== undefined && loader !== platform.loader.path) {
    throw refuse(`it needs the loader ${loader}, and the image has ${platform.loader.path}`);
  }
  const present = librariesOf(platform);
  const missing = libraries.filter((name) => !present.has(name));
  if (missing.length > 0) throw refuse(`it needs ${missing.join(", ")}, which the image does not have`);
}

function elfOf(shown: string, bytes: Uint8Array): ElfProgram {
  const refusal = () => new UsageError(`Cannot put "${shown}" into an image: it is not a program for Linux`, advice);
  try {
    const program = readElf(bytes);
    if (program !== undefined) return program;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw refusal();
}
