/** The program `controller`: Pintle's own controllers behind one command line. */
import process from "node:process";
import { ecsbindingController, ecsbindingSamples } from "./src/controllers/ecsbinding/mod.ts";
import { fooController, fooSamples } from "./src/controllers/foo/mod.ts";
import { ingressController, ingressSamples } from "./src/controllers/ingress/mod.ts";
import { nodepoolController, nodepoolSamples, nodepoolWebhooks } from "./src/controllers/nodepool/mod.ts";
import { podsController, podsSamples } from "./src/controllers/pods/mod.ts";
import { operatorCli, withSamples, withWebhooks } from "./src/mod.ts";

process.exit(
  await operatorCli({
    name: "controller",
    controllers: [
      withSamples(fooController, fooSamples),
      withSamples(podsController, podsSamples),
      withSamples(ecsbindingController, ecsbindingSamples),
      withSamples(withWebhooks(nodepoolController, nodepoolWebhooks), nodepoolSamples),
      withSamples(ingressController, ingressSamples),
    ],
  }),
);
