// The version of rt, which the bundler inlines from package.json.
import { version } from "../package.json";

export const VERSION: string = version;
