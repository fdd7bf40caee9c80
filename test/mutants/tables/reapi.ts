// Mutants of src/reapi.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/reapi/outputs.ts": [
    {
      fault: "an output may be one that was not asked for",
      text: "if (!allowed.has(path)) throw",
      becomes: "if (path === undefined) throw",
      tests: ["reapi/messages"],
    },
    {
      fault: "a link may lead up from what may be a link itself",
      text: "(hasGoneDown || --level < 0)",
      becomes: "--level < 0",
      tests: ["reapi/messages"],
    },
    {
      fault: "a name in a tree may lead out of it",
      text: `name === ".." || /[/\\0]/.test(name)`,
      becomes: `/\\0/.test(name)`,
      tests: ["reapi/messages"],
    },
  ],
  "src/reapi/input-root.ts": [
    {
      fault: "names are sorted as UTF-16",
      text: "return Buffer.compare(Buffer.from(a), Buffer.from(b));",
      becomes: "return a < b ? -1 : 1;",
      tests: ["reapi/messages"],
    },
  ],
  "src/reapi/blob-uploader.ts": [
    {
      fault: "what another sends is not waited for",
      text: "await Promise.all(new Set(blobs.map(({ digest }) => this.#known.get(digest.hash))));",
      becomes: "",
      tests: ["reapi/uploads"],
    },
    {
      fault: "what is late overwrites what is known of the same, unread",
      text: "if (!known.has(digest.hash)) known.set(digest.hash, Promise.resolve());",
      becomes: "known.set(digest.hash, Promise.resolve());",
      tests: ["reapi/uploads"],
    },
    {
      fault: "what could not be sent counts as sent",
      text: "if (known.get(name) === sending) known.delete(name);",
      becomes: "void name;",
      tests: ["reapi/uploads"],
    },
    {
      fault: "what the server has is asked for in each run",
      text: "if (!this.#seen.has(name)) return false;",
      becomes: "return false;",
      tests: ["run/remote-memory"],
    },
    {
      fault: "a server that has lost something is believed to have it",
      text: "    this.#seen.forget();\n",
      becomes: "",
      tests: ["run/remote-memory"],
    },
    {
      fault: "what is large is sent without a question",
      text: "sizeOf(fresh) <= LITTLE",
      becomes: "true",
      tests: ["run/remote-memory"],
    },
    {
      fault: "what is new is asked for",
      text: "this.#store.upload(fresh, isNew)",
      becomes: "this.#store.upload(fresh, false)",
      tests: ["run/remote-memory"],
    },
    {
      fault: "a tree that the server has is asked for in each run",
      text: "this.#send(tree.blobs, false).then(() => this.#seen.note([name]))",
      becomes: "this.#send(tree.blobs, false)",
      tests: ["run/remote-memory"],
    },
  ],
  "src/reapi/blob-presence-cache.ts": [
    {
      fault: "what was seen counts for ever",
      text: "time > today - LIFE",
      becomes: "true",
      tests: ["reapi/sightings"],
    },
    {
      fault: "what will be seen counts",
      text: "time <= today && ",
      becomes: "",
      tests: ["reapi/sightings"],
    },
    {
      fault: "the memory grows without end",
      text: "      .slice(-MOST)\n",
      becomes: "",
      tests: ["reapi/sightings"],
    },
    {
      fault: "what was forgotten is still on the disk",
      text: "if (this.#seen.size > 0) this.#news = Number.POSITIVE_INFINITY;",
      becomes: "",
      tests: ["reapi/sightings"],
    },
    {
      fault: "all is written for a little that is new",
      text: "this.#news === 0 || this.#news * WORTH < this.#seen.size",
      becomes: "this.#news === 0",
      tests: ["reapi/sightings"],
    },
  ],
  "src/remote-execution/persisted-state.ts": [
    {
      fault: "what one instance has, another has",
      text: "JSON.stringify([url, instance, headers, tls])",
      becomes: "JSON.stringify([url, headers, tls])",
      tests: ["run/remote-memory"],
    },
    {
      fault: "what is shown to one is shown to all",
      text: "JSON.stringify([url, instance, headers, tls])",
      becomes: "JSON.stringify([url, instance, tls])",
      tests: ["run/remote-memory"],
    },
    {
      fault: "without a place for a memory nothing runs",
      text: "  } catch {}\n",
      becomes: "  } finally {}\n",
      tests: ["run/remote-memory"],
    },
    {
      fault: "what cannot be remembered ends the run",
      text: "    } catch {\n      // The next run asks again.\n    }",
      becomes: "    } finally {\n    }",
      tests: ["run/remote-memory"],
    },
  ],
  "src/remote-execution/workspace-files.ts": [
    {
      fault: "what cannot be looked at counts as gone",
      text: `    if (state.kind === "absent" && !GONE.includes(state.code)) throw unreadable(file, state.code);\n`,
      becomes: "",
      tests: ["run/remote"],
    },
    {
      fault: "what is remembered is read again",
      text: "const hash = this.#hashes.find(file, state);",
      becomes: "const hash = undefined;",
      tests: ["run/remote-memory"],
    },
    {
      fault: "a memory that is not true is gone by for ever",
      text: "    this.#hashes.forget();\n",
      becomes: "",
      tests: ["run/remote-memory"],
    },
  ],
  "src/remote-execution/action-execution.ts": [
    {
      fault: "a failure that a server has kept is told again for ever",
      text: "const known = found?.exitCode === 0 ? found : undefined;",
      becomes: "const known = found;",
      tests: ["run/remote"],
    },
    {
      fault: "a server that has kept a failure is asked for it as the execution",
      text: "const usesKnown = attempt.usesKnown && found === undefined;",
      becomes: "const { usesKnown } = attempt;",
      tests: ["run/remote"],
    },
  ],
  "src/remote-execution/inputs.ts": [
    {
      fault: "an input that means everything takes credentials along",
      text: "if (isMeant(glob, names)) found.push",
      becomes: "found.push",
      tests: ["run/remote"],
    },
    {
      fault: "credentials that are named as inputs are not sent",
      text: "return own.every((name) => parts.some((part) => new Bun.Glob(part).match(name)));",
      becomes: "return false;",
      tests: ["run/remote"],
    },
    {
      fault: "a repository's own folder is an input like others",
      text: "name === REPOSITORY || (at ===",
      becomes: "(at ===",
      tests: ["run/remote"],
    },
    {
      fault: "what others have made is taken from the disk",
      text: "for (const one of each.found) found.set(one.input.path, one);",
      becomes: "",
      tests: ["run/remote-many"],
    },
    {
      fault: "credentials are sent",
      text: "if (!CREDENTIALS.test(path)) paths.add(path);",
      becomes: "paths.add(path);",
      tests: ["run/remote"],
    },
  ],
  "src/remote-execution/remote-run.ts": [
    {
      fault: "the run ends before what was made is in place",
      text: "await this.#placed(this.#ended.keys());",
      becomes: "",
      tests: ["run/remote-many"],
    },
    {
      fault: "a script starts here before what it reads is in place",
      text: "await this.#placed(this.#before(task));",
      becomes: "",
      tests: ["run/remote-many"],
    },
    {
      fault: "a failure takes with it what had ended before",
      text: "    this.#executions.abort();\n  }\n\n  abandon",
      becomes: "    this.abandon();\n  }\n\n  abandon",
      tests: ["run/remote-many"],
    },
    {
      fault: "--force takes what the server knows",
      text: "!this.#remote.isForced",
      becomes: "true",
      tests: ["run/remote-many"],
    },
  ],
  "src/tasks/execution/placement.ts": [
    {
      fault: "what has secrets leaves",
      text: `if (obstacle !== undefined) return { place: "here", why: obstacle };`,
      becomes: "void obstacle;",
      tests: ["run/remote-many"],
    },
    {
      fault: "what the file keeps here leaves",
      text: "if (isDeclared === false)",
      becomes: "if (false)",
      tests: ["run/remote-many"],
    },
  ],
  "src/reapi/grpc/grpc-call.ts": [
    {
      fault: "a connection that is lost counts more than what the server has said",
      text: "this.#end(this.#status ?? this.#describeLoss())",
      becomes: "this.#end(this.#describeLoss())",
      tests: ["reapi/channel"],
    },
    {
      fault: "a call that is over still counts for its connection",
      text: "    this.#connection.leave(this);\n",
      becomes: "",
      tests: ["reapi/channel"],
    },
    {
      fault: "a call that is over listens on",
      text: '    this.#signal.removeEventListener("abort", this.#abort);\n',
      becomes: "",
      tests: ["reapi/channel"],
    },
    {
      fault: "who has the last message breaks the rest off",
      text: "    this.#timer = setTimeout(this.#abort, GRACE);\n",
      becomes: "    this.#abort();\n",
      tests: ["reapi/channel"],
    },
    {
      fault: "who is told of the loss forgets what the server has said",
      text: "this.#end(this.#status ?? status);",
      becomes: "this.#end(status);",
      tests: ["reapi/channel"],
    },
    {
      fault: "the server is not held back",
      text: "if (this.#waitingBytes > MOST_WAITING) this.#stream.pause();",
      becomes: "",
      tests: ["reapi/channel"],
    },
    {
      fault: "what is sent is not held back",
      text: "      await this.#write(message);",
      becomes: "      void this.#write(message);",
      tests: ["reapi/channel"],
    },
    {
      fault: "a call has no time limit",
      text: "if (patience !== undefined)\n      this.#timer",
      becomes: "if (patience === -1)\n      this.#timer",
      tests: ["reapi/channel"],
    },
    {
      fault: "half a message at the end is no error",
      text: "if (this.#frames.isMidway) throw",
      becomes: "if (this.#frames === undefined) throw",
      tests: ["reapi/channel"],
    },
  ],
  "src/reapi/grpc/connection.ts": [
    {
      fault: "the environment decides whether a server is verified",
      text: "rejectUnauthorized: true",
      becomes: "rejectUnauthorized: false",
      tests: ["run/remote"],
    },
    {
      fault: "headers are kept in the tables of a connection",
      text: "[sensitiveHeaders]: [...secret]",
      becomes: "[sensitiveHeaders]: []",
      tests: ["reapi/channel"],
    },
    {
      fault: "a server that is silent is never given up",
      text: 'this.#timer = setTimeout(() => this.#lose("it does not answer any more"), this.#patience.pong);',
      becomes: "",
      tests: ["reapi/channel"],
    },
    {
      fault: "a server gets more calls than it takes",
      text: "this.#followers.size < this.#mostCalls",
      becomes: "this.#followers.size >= 0",
      tests: ["reapi/channel"],
    },
  ],
  "src/reapi/grpc/grpc-frames.ts": [
    {
      fault: "a message may be of any length",
      text: "if (length > this.#most) throw",
      becomes: "if (length === -1) throw",
      tests: ["reapi/channel"],
    },
  ],
  "src/reapi/grpc/grpc-status.ts": [
    {
      fault: "what says nothing is a success",
      text: "if (text === undefined) return undefined;",
      becomes: 'if (text === undefined) return { code: Code.OK, message: "" };',
      tests: ["reapi/channel"],
    },
  ],
  "src/reapi/cas-client.ts": [
    {
      fault: "content is believed",
      text: "if (!isOf(digest, bytes)) throw",
      becomes: "if (bytes === undefined) throw",
      tests: ["run/remote"],
    },
  ],
} satisfies MutantTable;
