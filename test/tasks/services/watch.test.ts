// Services in watch mode.
import { expect, test } from "bun:test";
import { startLive } from "../../options/live.ts";
import { ask, createServices, logOf, serve } from "./server.ts";

test("a watched service survives the restart of its dependents, and restarts when its inputs change", async () => {
  await using project = await createServices(
    { db: serve("db"), test: `cat input.ts; ${ask("db")}` },
    '[tasks.db]\nservice = true\ninputs = ["conf", "!conf/cache"]\n[tasks.test]\ndepends-on = ["db"]\n',
    { "input.ts": "first\n", "conf/db": "1", "conf/cache": "1", ".gitignore": "log\n*.port\n*.pid\n" },
  );
  await using live = startLive({
    args: ["--watch", "run", "test"],
    cwd: project.path,
    env: { NO_COLOR: "1" },
  });
  await live.see("test: first");
  await live.see("test: Exited with code 0");
  await project.write({ "conf/cache": "2", "input.ts": "second\n" });
  await live.see("test: second");
  await live.see("test: Exited with code 0");
  expect(await logOf(project)).toEqual(["db started"]);
  await project.write({ "conf/db": "2" });
  await live.see("db: Ready");
  await live.see("test: second");
  await live.see("test: Exited with code 0");
  expect(await logOf(project)).toEqual(["db started", "db ended", "db started"]);
  live.kill("SIGINT");
  await live.ended;
  expect(live.others()).toEqual([]);
});
