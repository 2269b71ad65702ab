/** Loads a module that a test has written. */

/** Returns the exports of the module at `url`. */
export async function loadModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  return await import(url);
}
