/** The command `new`. */
export { newController } from "./new.ts";
export { ownLibrary } from "./project_files.ts";
