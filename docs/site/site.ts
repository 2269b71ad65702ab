/**
 * `deno task site`: writes dist/site, the guide and the reference of all public names as files that any web server, or a
 * browser without one, shows. Its search needs no server either.
 *
 * TypeDoc needs the compiler's JavaScript, which TypeScript 7 no longer has; therefore the site has a lock file of its
 * own, and only those who build it fetch its programs.
 */
import process from "node:process";
import { Application, Converter, type DocumentReflection } from "typedoc";

const folder = import.meta.dirname ?? ".";

const site = await Application.bootstrapWithPlugins({ options: `${folder}/typedoc.json` });
site.converter.on(
  Converter.EVENT_CREATE_DOCUMENT,
  (_, document: DocumentReflection) => document.name = titleOf(document),
);
const project = await site.convert();
if (project === undefined) throw new Error("Cannot write the site: TypeDoc could not read the sources");
site.validate(project);
await site.generateOutputs(project);
if (site.logger.hasErrors() || site.logger.hasWarnings()) process.exitCode = 1;

/** The first heading of a page. */
function titleOf({ name, content }: DocumentReflection): string {
  return /^# (.+)$/m.exec(content.map(({ text }) => text).join(""))?.[1] ?? name;
}
