/** The flags of `image`, and SOURCE_DATE_EPOCH. */
import { z } from "zod";
import { type Environment, processFacts } from "../../runtime/mod.ts";
import { commandLineOnly, flag, text, UsageError } from "../flags/mod.ts";
import { type Platform, platformNames, platforms } from "./platforms.ts";

/** All flags. */
export const imageFlags = z.object({
  entry: flag(text().prefault("main.ts"), {
    ...commandLineOnly,
    flags: "--entry <file>",
    about: "main module of the operator",
    completes: "file",
    example: "--entry src/main.ts",
  }),
  platform: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--platform <list>",
    about: `platforms, separated by commas: ${platformNames.join(", ")} (default: linux on this kind of processor)`,
    choices: [...platformNames, platformNames.join(",")],
    example: "--platform linux/amd64,linux/arm64",
  }),
  output: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--output <file>",
    about: "the archive (default: dist/, the name of the project and .image.tar)",
    completes: "file",
    example: "--output website.tar",
  }),
  image: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--image <name>",
    about: "name of the image (default: name and version of the project)",
    example: "--image registry.example.com/operator:1.2.3",
  }),
  stamp: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--stamp <version>",
    about: "version of the program (default: the one in deno.json or package.json)",
    example: "--stamp 1.2.3",
  }),
  label: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--label <key=value>",
    about: "a further label, or another value; no value removes a label",
    arity: "list",
    example: "--label org.opencontainers.image.source=https://git.example.com/operator",
  }),
  binary: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--binary <file>",
    about: "a compiled program instead of compiling the main module, one for each platform",
    arity: "list",
    completes: "file",
    example: "--binary dist/website",
  }),
  mirror: flag(mirrorUrl().optional(), {
    flags: "--mirror <url>",
    about:
      "mirror of Debian's archive, above its folders or with {archive} for them (default: that of this machine's apt)",
    example: "--mirror https://mirror.example.com",
  }),
});

/** The values of the flags. */
export type ImageFlags = z.output<typeof imageFlags>;

function mirrorUrl(): z.ZodType<string, string> {
  return z.string().superRefine((value, context) => {
    const url = URL.parse(value);
    if (url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "") return;
    context.addIssue({ code: "custom", message: "it is not a URL that begins with http:// or https://" });
  });
}

/** The platforms that were asked for, each once, in the order of the command line. @throws UsageError */
export function platformsOf({ platform }: Pick<ImageFlags, "platform">): readonly Platform[] {
  const { arch } = processFacts();
  const names = (platform ?? `linux/${arch}`).split(",");
  return [...new Set(names)].map((name) => {
    const found = platformNames.find((known) => known === name);
    if (found !== undefined) return platforms[found];
    throw new UsageError(
      `Cannot write an image for "${name}": the platforms are ${platformNames.join(" and ")}`,
      "Example: --platform linux/amd64,linux/arm64",
    );
  });
}

/** The time of the image and its files: SOURCE_DATE_EPOCH in seconds, else the epoch. @throws UsageError */
export function createdAt(environment: Environment): Date {
  const seconds = environment.SOURCE_DATE_EPOCH ?? "0";
  // Tar has room for 33 bits.
  if (/^\d{1,10}$/.test(seconds) && Number(seconds) < 2 ** 33) return new Date(Number(seconds) * 1000);
  throw new UsageError(
    `Cannot use SOURCE_DATE_EPOCH "${seconds}": it is not a number of seconds since 1970`,
    "Example: SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)",
  );
}
