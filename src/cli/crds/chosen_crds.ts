/** Which definitions a command is about: those of the controllers that are named, or of all. */
import type { Crd } from "../../schema/mod.ts";
import { crdsOf } from "../custom_resources.ts";
import { selectControllers } from "../select_controllers.ts";
import type { Call } from "../subcommand.ts";

/** The definitions. @throws UsageError when a controller is not known */
export function chosenCrds({ words, session }: Pick<Call<unknown>, "words" | "session">): readonly Crd[] {
  const { operator } = session;
  const controllers = words.length === 0 ? operator.controllers : selectControllers(operator, words);
  const crds = crdsOf(controllers);
  if (crds.length === 0) session.say("nothing to do: these controllers define no kinds of their own");
  return crds;
}
