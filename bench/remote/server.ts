// A server of the Remote Execution API that has executed everything at once: what is left is what rt takes. Prints its address.
import { openReapiServer } from "../../test/support/servers/reapi-server.ts";

const server = await openReapiServer({ executesNothing: true });
console.log(server.url);
