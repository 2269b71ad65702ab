/** Where the repository is. */
import { dirname } from "node:path";

export const root: string = dirname(import.meta.dirname ?? ".");
