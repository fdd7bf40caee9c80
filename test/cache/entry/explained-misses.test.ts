// The reason of a cache miss names all differences from the nearest entry, files of the project first.
import { expect, test } from "bun:test";
import { createProject } from "../../support/project.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

test.skipIf(!CAN_TRACE)(
  "the reason of a miss names each changed file before variables, and the table of the rule, which does not count",
  async () => {
    const row = (env: string) => `[tasks.t]\ncache = true\nenv = [${env}]\n`;
    await using folder = await createProject({ outside: "1" });
    const outside = folder.join("outside");
    await using project = await cachedProject(
      { t: `cat one two ${outside}` },
      { one: "1", two: "1", "rtfig.toml": row('"LEVEL"') },
      "",
    );
    const why = async (env: Record<string, string>) => {
      const { stderr } = await project.rt(["run", "--why", "t"], env);
      const [, reason] = /^t: cache (?:hit|miss): (.*)$/m.exec(stderr) ?? [];
      return reason?.replaceAll(project.path, "$PROJECT");
    };
    expect(await why({ LEVEL: "1" })).toBe("no earlier run");
    await project.write({ one: "2", two: "2" });
    await folder.write({ outside: "2" });
    expect(await why({ LEVEL: "2" })).toBe(
      `$PROJECT/one changed; $PROJECT/two changed; ${outside} changed; the variable LEVEL changed`,
    );
    await project.write({ two: "3", "rtfig.toml": row('"LEVEL", "OTHER"') });
    expect(await why({ LEVEL: "2" })).toBe("$PROJECT/two changed; its rule in [tasks.t] changed");
    await project.write({ "rtfig.toml": '[run.cache]\nt = { env = ["LEVEL", "OTHER"] }\n' });
    expect(await why({ LEVEL: "2" })).toStartWith("all ");
  },
);
