/** The flags of ingress: what the owner of the operator allows. */
import { flag, logger, type OperatorController, withFlags, z } from "../../mod.ts";
import { ingressManager } from "./controller.ts";
import { parseClassRule, parseHostRule } from "./rules.ts";

/** Texts, each parsed; what `parse` throws is said to who typed it. */
function parsed<T>(parse: (text: string) => T) {
  return z.array(z.string()).optional().transform((texts, context) =>
    texts?.flatMap((text) => {
      try {
        return [parse(text)];
      } catch (error) {
        context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
        return [];
      }
    })
  );
}

const flags = z.object({
  ingressClass: flag(parsed(parseClassRule), {
    flags: "--ingress-class <class>",
    about:
      'class of the Ingresses, instead of "ingress"; NAMESPACE=CLASS for one namespace; may be given several times',
    example: "--ingress-class nginx --ingress-class team-a=internal",
    arity: "list",
  }),
  allowedHosts: flag(parsed(parseHostRule), {
    flags: "--allowed-hosts <host>",
    about:
      "host[/path] that Services may claim, *.NAME for all below one; NAMESPACE=HOST for one namespace; may be given " +
      "several times; without it every host may be claimed",
    example: "--allowed-hosts team-a=*.a.example.com --allowed-hosts example.com/shop",
    arity: "list",
  }),
});

export const ingressController: OperatorController = withFlags(
  ingressManager(),
  flags,
  ({ flags: { ingressClass: classes, allowedHosts: hosts } }) => {
    if (hosts === undefined) logger("ingress").warn("every Service may claim every host: --allowed-hosts is not given");
    return ingressManager({ classes, hosts });
  },
);
