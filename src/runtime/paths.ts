/** File paths: text only, no file system. */
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

/** `path` as seen from the folder `base`; an absolute `path` stays as it is. */
export function resolvePath(base: string, path: string): string {
  return isAbsolute(path) ? path : resolve(base, path);
}

/** Joins the parts with the system's separator. */
export function joinPath(...parts: readonly string[]): string {
  return join(...parts);
}

/** The folder a path is in. */
export function directoryOf(path: string): string {
  return dirname(path);
}

/** The folder or file `to` as seen from the folder `from`, with slashes. */
export function relativePath(from: string, to: string): string {
  return relative(from, to).replaceAll("\\", "/");
}
