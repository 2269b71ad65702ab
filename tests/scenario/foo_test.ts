/** The cases of the controller foo on an API server in memory, with a virtual clock. */
import { fooCases } from "../cases/foo.ts";
import { memoryTests } from "./_memory_environment.ts";

memoryTests(fooCases, "foo");
