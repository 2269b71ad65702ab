/**
 * `--graph`: the controllers of a graph instead of those of the operator. A graph is a file, or a folder of files, with
 * ResourceGraphDefinitions and objects of them.
 */
import { CommandError, exitCode, type Session } from "../command/mod.ts";
import { readDocuments } from "../documents/mod.ts";
import { commandLineOnly, flag, text } from "../flags/mod.ts";

/** The flag of commands that select controllers. */
export const graphFlag = flag(text().optional(), {
  ...commandLineOnly,
  flags: "--graph <path>",
  about: "instead of the controllers of this program, those of the graphs in a file or folder",
  example: "--graph webapp.yaml",
  completes: "file",
});

/** Lets a session use the controllers of its graph, if its command line names one. */
export async function useGraph(
  { flags: { graph }, session }: { readonly flags: { readonly graph?: string }; readonly session: Session },
): Promise<void> {
  if (graph !== undefined) await useGraphFile(graph, session);
}

/** Lets a session use the controllers of a graph. @throws CommandError with the file and the line when it is not valid */
export async function useGraphFile(path: string, session: Session): Promise<void> {
  // Standard input is the connection between the processes of some commands.
  if (path === "-") throw cannotRead(path, "standard input is not supported. Name a file or a folder");
  const { stdin } = session.processEnvironment;
  const [documents, { GraphError, graphControllers }] = await Promise.all([
    readDocuments(path, { stdin, cannotRead }),
    import("../../graph/mod.ts"),
  ]);
  try {
    const controllers = graphControllers(documents);
    if (controllers.length === 0) throw cannotRead(path, "it has no ResourceGraphDefinition. Add one");
    session.useGraph(path, controllers);
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    throw new CommandError(error.message, { code: exitCode.failed, cause: error });
  }
}

function cannotRead(place: string, state: string): CommandError {
  return new CommandError(`Cannot read the graph "${place}": ${state}`, { code: exitCode.failed });
}
