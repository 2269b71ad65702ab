/** The program `controller` as main.ts makes it, and all that it loads later loaded at once: nobody waits for a file. */
import { subcommands } from "../../src/cli/operator_cli.ts";
import type { Operator } from "../../src/cli/mod.ts";
import { ecsbindingController } from "../../src/controllers/ecsbinding/mod.ts";
import { fooController } from "../../src/controllers/foo/mod.ts";
import { ingressController } from "../../src/controllers/ingress/mod.ts";
import { nodepoolController, nodepoolWebhooks } from "../../src/controllers/nodepool/mod.ts";
import { podsController } from "../../src/controllers/pods/mod.ts";
import { withWebhooks } from "../../src/mod.ts";

await Promise.all(subcommands.map(({ load }) => load()));

export const operator: Operator = {
  name: "controller",
  version: "1.0.0",
  controllers: [
    fooController,
    podsController,
    ecsbindingController,
    withWebhooks(nodepoolController, nodepoolWebhooks),
    ingressController,
  ],
};
