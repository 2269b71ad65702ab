/** The flags of `new`. */
import { z } from "zod";
import { flagSyntax } from "../flag.ts";
import { text } from "../flag_values.ts";

export const newFlags = z.object({
  kind: text().optional().register(flagSyntax, {
    flags: "-k, --kind <kind>",
    about: "the kind of object it looks after (default: the name in UpperCamelCase)",
    example: "--kind WebSite",
  }),
  group: text().prefault("example.dev").register(flagSyntax, {
    flags: "-g, --group <domain>",
    about: "API group of the kind: a domain that is yours",
    example: "--group shop.example.com",
  }),
  owns: z.array(text()).default([]).register(flagSyntax, {
    flags: "--owns <kind>",
    about:
      "what one of its objects becomes: ConfigMap, CronJob, Deployment, Service, StatefulSet (default: Deployment)",
    arity: "list",
    example: "--owns Deployment --owns Service",
  }),
  dir: text().optional().register(flagSyntax, {
    flags: "-d, --dir <folder>",
    about: "where the files go; made if it is not there (default: a folder of the controller's name)",
    completes: "directory",
    example: "--dir operators/website",
  }),
  library: text().optional().register(flagSyntax, {
    flags: "--library <folder>",
    about: "a clone of Pintle (default: the one that this program comes from)",
    completes: "directory",
    example: "--library ../pintle",
  }),
  dryRun: z.boolean().default(false).register(flagSyntax, {
    flags: "--dry-run",
    about: "print the files instead of writing them",
  }),
});

/** What the flags say. */
export type NewFlags = z.output<typeof newFlags>;
