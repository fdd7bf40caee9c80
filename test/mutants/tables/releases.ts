// Mutants of what an upgrade believes: signatures, addresses, archives, versions.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/cli/upgrade/minisign.ts": [
    {
      fault: "another's comment is believed",
      text: "isSigned(prehash(content), key, signature) &&\n    isSigned(Buffer.concat([signature, signedComment]), key, overAll)",
      becomes: "isSigned(prehash(content), key, signature)",
      tests: ["upgrade/fuzz", "upgrade/refusals"],
    },
    {
      fault: "another's content is believed",
      text: "isSigned(prehash(content), key, signature) &&\n    isSigned(Buffer",
      becomes: "isSigned(Buffer",
      tests: ["upgrade/fuzz", "upgrade/refusals"],
    },
    {
      fault: "a signature may be written in two ways",
      text: ` && bytes.toString("base64") === text`,
      becomes: "",
      tests: ["upgrade/fuzz", "upgrade/refusals"],
    },
    {
      fault: "only the first key signs",
      text: "keys.map(readPublicKey).find(",
      becomes: "keys.slice(0, 1).map(readPublicKey).find(",
      tests: ["upgrade/upgrade", "upgrade/refusals", "upgrade/fuzz"],
    },
  ],
  "src/cli/upgrade/release-source.ts": [
    {
      fault: "https leads to http",
      text: `(url.protocol === "https:" && next.protocol !== "https:")`,
      becomes: "false",
      tests: ["upgrade/refusals", "upgrade/upgrade", "upgrade/connection"],
    },
    {
      fault: "addresses may lead on for ever",
      text: "if (left === 0)",
      becomes: "if (left < -99)",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "what is downloaded has no bound",
      text: "if (length > most) throw tooLarge(describe(url), most);",
      becomes: "",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "a password in an address is shown",
      text: `shown.username = shown.password = "";`,
      becomes: "",
      tests: ["upgrade/refusals", "upgrade/upgrade", "upgrade/connection"],
    },
    {
      fault: "a file of any size is read",
      text: "if (stats.size > most) throw tooLarge(name, most);",
      becomes: "",
      tests: ["upgrade/refusals", "upgrade/upgrade"],
    },
  ],
  "src/cli/upgrade/staging-directory.ts": [
    {
      fault: "what an upgrade that goes on has made is removed",
      text: "owner !== undefined && !isTaken(Number(owner))",
      becomes: "owner !== undefined",
      tests: ["upgrade/upgrade", "upgrade/refusals"],
    },
    {
      fault: "an upgrade that is ended leaves its folder beside rt",
      text: "whenEnded(remove)",
      becomes: "whenEnded(() => {})",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "what upgrades that were killed have left stays",
      text: "    removeAbandoned(directory);\n",
      becomes: "",
      tests: ["upgrade/upgrade", "upgrade/refusals"],
    },
  ],
  "src/cli/upgrade/command.ts": [
    {
      fault: "an older release is put in the place of a newer one",
      text: "    if (signed) refuseOlder(signed.version);\n",
      becomes: "",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a program that says it is older is put in the place",
      text: "    refuseOlder(version);\n    swap",
      becomes: "    swap",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a program of another version than was signed is put in the place",
      text: "if (signed && version !== signed.version)",
      becomes: "if (signed === null)",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "--rollback takes other words",
      text: "if (isRollback && (positionals.length > 0 || sha256 !== undefined || mayBeOlder))",
      becomes: "if (isRollback && sha256 !== undefined)",
      tests: ["upgrade/refusals", "upgrade/upgrade"],
    },
  ],
  "src/cli/upgrade/archive.ts": [
    {
      fault: "a link in the place of the program is one",
      text: "if (isWanted && !entry.isFile) throw",
      becomes: "if (isWanted && entry.size < 0) throw",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "what unpacks to any size is unpacked",
      text: "if (left < 0) throw new Damage(TOO_LARGE);",
      becomes: "",
      tests: ["upgrade/refusals"],
    },
    {
      fault: "a zip archive's sums do not count",
      text: "if (length !== size || actual !== sum)",
      becomes: "if (length !== size)",
      tests: ["upgrade/fuzz", "upgrade/refusals"],
    },
    {
      fault: "a tar archive's sums do not count",
      text: "Number.parseInt(textAt(block, 148, 8), 8) !== sum || ",
      becomes: "",
      tests: ["upgrade/refusals", "upgrade/fuzz"],
    },
    {
      fault: "a second program in an archive is added to the first",
      text: "isWanted = isProgram(entry.name) && !isFound;",
      becomes: "isWanted = isProgram(entry.name);",
      tests: ["upgrade/upgrade"],
    },
    {
      fault: "a zip archive's link is a program",
      text: "if (zip[entry + 5] === UNIX && ((attributes >>> 16) & KIND) === LINK)",
      becomes: "if (zip[entry + 5] === UNIX && attributes < 0)",
      tests: ["upgrade/refusals"],
    },
  ],
} satisfies MutantTable;
