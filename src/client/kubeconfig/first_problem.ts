/**
 * firstProblemOnly: the option with which zod validates values of servers, files and plugins in this folder. A list ends at
 * its first wrong item; without it, a hostile value of some megabytes has millions of problems in memory.
 */
import type { z } from "zod";

/** Ends a list at its first wrong item. The option is missing in the public type of zod. */
export const firstProblemOnly: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };
