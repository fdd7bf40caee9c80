// Embeds the native programs of platform/native/linux/compiled as base64 of their compressed bytes. The engine cannot read an embedded
// file without node:fs, which takes longer to load than a run of many scripts may wait.
import type { BunPlugin } from "bun";

export const nativePrograms: BunPlugin = {
  name: "rt-native-programs",
  setup(build) {
    build.onLoad({ filter: /[\\/]compiled[\\/]\w+[\\/]\w+\.bin$/ }, async ({ path }) => {
      const packed = Bun.gzipSync(await Bun.file(path).bytes());
      return { contents: `export default ${JSON.stringify(packed.toBase64())};`, loader: "js" };
    });
  },
};
