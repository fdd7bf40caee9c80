// Mutants of src/secrets/helpers, and of what carries values in and out of rt's commands.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/secrets/helpers/git.ts": [
    {
      fault: "an action that nobody knows is a failure",
      text: "if (!perform) return 0;",
      becomes: "if (!perform) return 1;",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "the user that git names is not asked for",
      text: `if (user !== undefined) return user === "" ? NOBODY : user;`,
      becomes: "",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "two paths of one host are one",
      text: 'return `git:${protocol}://${host}${path === "" ? "" : `/${path}`}`;',
      becomes: "return `git:${protocol}://${host}`;",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "http and https are one",
      text: 'return `git:${protocol}://${host}${path === "" ? "" : `/${path}`}`;',
      becomes: 'return `git:https://${host}${path === "" ? "" : `/${path}`}`;',
      tests: ["secrets/helper-git"],
    },
    {
      fault: "a password that expires this second is handed out",
      text: `"password_expiry_utc") ?? Infinity) * 1000 <= Date.now()`,
      becomes: `"password_expiry_utc") ?? Infinity) * 1000 < Date.now() - 600_000`,
      tests: ["secrets/helper-git"],
    },
    {
      fault: "an expired password goes with the token that renews it",
      text: `pick(stored, isExpired ? [] : ["password"])`,
      becomes: `pick(stored, ["password"])`,
      tests: ["secrets/helper-git"],
    },
    {
      fault: "what renews a password is kept back",
      text: `const rest = pick(stored, ["password_expiry_utc", "oauth_refresh_token"]);`,
      becomes: `const rest = pick(stored, ["password_expiry_utc"]);`,
      tests: ["secrets/helper-git"],
    },
    {
      fault: "a rejection without a user removes the first alone",
      text: "const users = user === undefined ? (await store.list(service)).map(({ name }) => name) : [user || NOBODY];",
      becomes:
        "const users = user === undefined ? (await store.list(service)).map(({ name }) => name).slice(0, 1) : [user || NOBODY];",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "a credential without a user is told with the user *",
      text: `...(user === NOBODY ? [] : [["username", user]])`,
      becomes: `...[["username", user]]`,
      tests: ["secrets/helper-git"],
    },
    {
      fault: "what is stored already is written again",
      text: "if ((await secrets.get(service, user)) !== text) await",
      becomes: "await",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "an input that goes on after its blank line is waited for",
      text: `return text.includes("\\n\\n") || text.includes("\\n\\r\\n") || text[0] === 0x0a;`,
      becomes: "return text.length < 0;",
      tests: ["secrets/helper-git"],
    },
  ],
  "src/secrets/helpers/docker.ts": [
    {
      fault: "a failure that docker is told ends with 0",
      text: "    return 1;\n  }\n}\n\nconst ACTIONS",
      becomes: "    return 0;\n  }\n}\n\nconst ACTIONS",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "the list has other tools' credentials in it",
      text: ".filter(({ service }) => service.startsWith(PREFIX))",
      becomes: ".filter(({ service }) => service !== PREFIX)",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "a login without a user is stored",
      text: "  if (!user) throw new Refusal(NO_USER);\n",
      becomes: "",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "no server is one",
      text: `  if (server === "") throw new Refusal(NO_SERVER);\n  return server;`,
      becomes: "  return server;",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "of several users one is guessed",
      text: "if (users.length > 1)",
      becomes: "if (users.length > 100)",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "a line break around the server's name is a part of it",
      text: "(await readInput()).trim()",
      becomes: "await readInput()",
      tests: ["secrets/helper-docker"],
    },
  ],
  "src/secrets/helpers/docker-config.ts": [
    {
      fault: "uninstalling takes another program's store away",
      text: "parseConfig(text, config)[STORE] === OWN",
      becomes: "parseConfig(text, config)[STORE] !== undefined",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "uninstalling leaves the link",
      text: "  if (isOwnLink(link)) rmSync(link);\n  console.log(",
      becomes: "  console.log(",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "a new configuration can be read by others",
      text: "return { place: path, mode: 0o600 };",
      becomes: "return { place: path, mode: 0o644 };",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "passwords that stay in the file are not spoken of",
      text: "if (hasPasswords(members.auths))",
      becomes: "if (members.auths === null)",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "a list is taken for a configuration",
      text: " || Array.isArray(value)) throw wrong;",
      becomes: ") throw wrong;",
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "a draft stays where the configuration could not be written",
      text: `    if (draft && code !== "EEXIST") rmSync(draft, { force: true });\n`,
      becomes: "",
      tests: ["secrets/helper-docker"],
    },
  ],
  "src/secrets/helpers/json-members.ts": [
    {
      fault: "a bracket in a text counts",
      text: `/"(?:[^"\\\\]|\\\\.)*"|[{}[\\],:]/g`,
      becomes: `/"[\\w.:\\/-]*"|[{}[\\],:]/g`,
      tests: ["secrets/helper-docker"],
    },
    {
      fault: "a member that is taken away from the end leaves its comma",
      text: "json.slice(0, before ? before.end : ",
      becomes: "json.slice(0, before ? member.start : ",
      tests: ["secrets/helper-docker"],
    },
  ],
  "src/secrets/helpers/git-config.ts": [
    {
      fault: "a rt that has moved is asked twice",
      text: "    removeOwn(scope, before);\n    runGit",
      becomes: "    runGit",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "installing twice moves the line behind others",
      text: "if (before.filter((each) => OWN.test(each)).length !== 1 || !asked.includes(line)) {",
      becomes: "if (before.length >= 0) {",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "--local means the user's configuration",
      text: `  const scope = isLocal ? "--local" : "--global";\n  const before`,
      becomes: `  const scope = "--global";\n  const before`,
      tests: ["secrets/helper-git"],
    },
    {
      fault: "that others are asked as well is not said",
      text: "if (others.length > 0)",
      becomes: "if (others.length < 0)",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "helpers that git has forgotten are spoken of",
      text: "const others = asked.filter",
      becomes: "const others = before.filter",
      tests: ["secrets/helper-git"],
    },
    {
      fault: "rt stays where git forgets it",
      text: "!asked.includes(line)",
      becomes: "!before.includes(line)",
      tests: ["secrets/helper-git"],
    },
  ],
  "src/secrets/helpers/aws.ts": [
    {
      fault: "erasing what is not there is a success",
      text: `if (action === "erase") return (await secrets.delete(SERVICE, profile)) ? 0 : reportAbsent(profile);`,
      becomes: `if (action === "erase") return (await secrets.delete(SERVICE, profile), 0);`,
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "an expiration that is no time never comes",
      text: "if (Expiration !== undefined && Number.isNaN(Date.parse(Expiration)))",
      becomes: "if (Expiration === null)",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "half a pair of keys is stored",
      text: "if (!isText(AccessKeyId) || !isText(SecretAccessKey))",
      becomes: "if (!isText(AccessKeyId))",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "the session token is lost",
      text: "    ...(SessionToken && { SessionToken }),\n",
      becomes: "",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "a fourth word is passed over",
      text: "if (more.length > 0) throw new WordsError(`${ENTERED} has more than three words`);",
      becomes: "",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "giving up at the question stores nothing and is a success",
      text: "if (keys === null) return INTERRUPTED;",
      becomes: "if (keys === null) return 0;",
      tests: ["secrets/helper-tools"],
    },
  ],
  "src/secrets/helpers/npm.ts": [
    {
      fault: "the port that a protocol has anyway makes it another registry",
      text: "host.endsWith(port) ? host.slice(0, -port.length) : host",
      becomes: 'host === port ? "" : host',
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "443 is the port of every protocol",
      text: '"http://": ":80"',
      becomes: '"http://": ":443"',
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "a token with a scheme of its own gets another",
      text: `action === "header" && !/^[A-Za-z]+ /.test(token)`,
      becomes: `action === "header"`,
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "a registry with and without its last slash are two",
      text: `url.pathname.replace(/\\/*$/, "/")`,
      becomes: "url.pathname",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "a registry's capitals make it another",
      text: "[0]!.toLowerCase();",
      becomes: "[0]!;",
      tests: ["secrets/helper-tools"],
    },
    {
      fault: "an address with a user in it is a registry",
      text: "if (!url || /[@?#\\s]/.test(rest))",
      becomes: "if (!url || /[?#\\s]/.test(rest))",
      tests: ["secrets/helper-tools"],
    },
  ],
  "src/secrets/helpers/command.ts": [
    {
      fault: "a word too many is passed over",
      text: "(operand === undefined) !== (wanted === undefined) || more.length > 0",
      becomes: "(operand === undefined) !== (wanted === undefined)",
      tests: ["secrets/helper-tools", "secrets/helper-git"],
    },
    {
      fault: "--local is taken by tools without a project's configuration",
      text: `if (isLocal && tool !== "git")`,
      becomes: `if (isLocal && tool === "aws")`,
      tests: ["secrets/helper-docker", "secrets/helper-tools", "secrets/helper-git"],
    },
    {
      fault: "--install and --uninstall together install",
      text: `if (options.has("install") && options.has("uninstall"))`,
      becomes: `if (options.size > 9)`,
      tests: ["secrets/helper-docker", "secrets/helper-tools", "secrets/helper-git"],
    },
  ],
  "src/secrets/helpers/helper-io.ts": [
    {
      fault: "a store's question is read from a terminal",
      text: "if (await isTerminal(0))",
      becomes: 'if ((await isTerminal(0)) && tool === "")',
      tests: ["secrets/helper-git", "secrets/helper-docker"],
    },
    {
      fault: "another rt on PATH is written into configurations",
      text: "return realpathSync(found) === realpathSync(process.execPath) ? found : process.execPath;",
      becomes: "return found;",
      tests: ["secrets/helper-git", "secrets/helper-docker"],
    },
  ],
  "src/secrets/streams.ts": [
    {
      fault: "an input of just as many bytes as may be is refused",
      text: "if (bytes.length > LARGEST_INPUT)",
      becomes: "if (bytes.length >= LARGEST_INPUT)",
      tests: ["secrets/helper-git", "secrets/command", "secrets/command-faults"],
    },
    {
      fault: "what is no UTF-8 is read with other characters",
      text: `new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)`,
      becomes: `new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)`,
      tests: ["secrets/command", "secrets/command-faults", "secrets/helper-git"],
    },
    {
      fault: "what is printed stays in memory",
      text: "    throw new WordsError(`Standard output could not be written (${code})`);\n  } finally {\n    bytes.fill(0);",
      becomes: "    throw new WordsError(`Standard output could not be written (${code})`);\n  } finally {",
      tests: ["secrets/zeroing"],
    },
    {
      fault: "what is read stays in memory as it grows",
      text: "      bytes.fill(0);\n      chunk.fill(0);",
      becomes: "",
      tests: ["secrets/zeroing"],
    },
    {
      fault: "what was read stays in memory",
      text: "    throw new WordsError(`Standard input could not be read (${code})`);\n  } finally {\n    bytes.fill(0);",
      becomes: "    throw new WordsError(`Standard input could not be read (${code})`);\n  } finally {",
      tests: ["secrets/zeroing"],
    },
    {
      fault: "an output that is full is a success",
      text: "    throw new WordsError(`Standard output could not be written (${code})`);\n",
      becomes: "",
      tests: ["secrets/command-faults", "secrets/command"],
    },
  ],
  "src/secrets/confirm-prompt.ts": [
    {
      fault: "an empty answer is a yes",
      text: "/^\\s*y(?:es)?\\s*$/i",
      becomes: "/^\\s*(?:y(?:es)?)?\\s*$/i",
      tests: ["secrets/command", "secrets/import", "secrets/prompt"],
    },
    {
      fault: "a pipe answers yes",
      text: "if (!(await isTerminal(0)) || !(await isTerminal(2)))",
      becomes: 'if (!(await isTerminal(2)) && question === "")',
      tests: ["secrets/command", "secrets/import", "secrets/prompt"],
    },
  ],
} satisfies MutantTable;
