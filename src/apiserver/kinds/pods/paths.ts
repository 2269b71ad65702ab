/** Paths of files within a volume or a container: they may not lead out of it. */
import type { FieldPath, Problems } from "../problems.ts";

/** A path that may not go up. */
export function checkNoBacksteps(path: string, place: FieldPath, problems: Problems): void {
  if (hasBacksteps(path)) problems.invalid(place, path, "must not contain '..'");
}

/** True for a path that goes up. */
export function hasBacksteps(path: string): boolean {
  return path.split("/").includes("..");
}

/** A relative path that may not go up. */
export function checkDescending(path: string, place: FieldPath, problems: Problems): void {
  if (path.startsWith("/")) problems.invalid(place, path, "must be a relative path");
  checkNoBacksteps(path, place, problems);
}

/** The path of a file that a volume makes: names that begin with two dots are its own. */
export function checkFilePath(path: string, place: FieldPath, problems: Problems): void {
  checkDescending(path, place, problems);
  if (path.startsWith("..") && !path.startsWith("../")) problems.invalid(place, path, "must not start with '..'");
}
