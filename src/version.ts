// The version of rt, from package.json: the bundler puts the text here.
import { version } from "../package.json";

export const VERSION: string = version;
