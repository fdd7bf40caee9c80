// A server of the Remote Execution API that completes every action at once, so that only rt's time remains. Prints its address.
import { openReapiServer } from "../../test/support/servers/reapi-server.ts";

const server = await openReapiServer({ executesNothing: true });
console.log(server.url);
