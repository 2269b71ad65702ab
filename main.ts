/** The program `controller`: Pintle's own controllers behind one command line. */
import process from "node:process";
import { fooController } from "./src/controllers/foo/mod.ts";
import { nodepoolController, nodepoolWebhooks } from "./src/controllers/nodepool/mod.ts";
import { operatorCli, withWebhooks } from "./src/mod.ts";

process.exit(
  await operatorCli({
    name: "controller",
    controllers: [fooController, withWebhooks(nodepoolController, nodepoolWebhooks)],
  }),
);
