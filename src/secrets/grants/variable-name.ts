// Validates the variable name of a secret: a name for every shell, and none that controls programs.
//
// Invariants:
// - Names that decide which code runs (LD_PRELOAD, NODE_OPTIONS), where programs are found (PATH) or how rt behaves (RT_...,
//   npm_lifecycle_...) are rejected. A value from a store or a command must not have such power.

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Upper case: case sensitivity differs between systems and programs. */
const CONTROLLING = new Set(
  `PATH PATHEXT HOME USERPROFILE SHELL COMSPEC SYSTEMROOT WINDIR TMPDIR TMP TEMP TERM __PROTO__
  IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 CDPATH GLOBIGNORE ZDOTDIR
  NODE NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_REPL_EXTERNAL_MODULE NODE_V8_COVERAGE
  NODE_CHANNEL_FD NODE_ENV INIT_CWD PORT FORCE_COLOR NO_COLOR CI
  PYTHONPATH PYTHONHOME PYTHONSTARTUP PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS
  JDK_JAVA_OPTIONS CLASSPATH
  GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_EXEC_PATH GIT_DIR GIT_WORK_TREE GIT_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF
  GIT_PROXY_COMMAND GIT_TEMPLATE_DIR SSH_ASKPASS SUDO_ASKPASS EDITOR VISUAL PAGER BROWSER
  DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_STATE_HOME SSL_CERT_FILE SSL_CERT_DIR`.split(
    /\s+/,
  ),
);
const CONTROLLING_PREFIXES = ["LD_", "DYLD_", "BUN_", "RT_", "GIT_CONFIG", "BASH_FUNC_", "NPM_"];
/** Exempts credentials from the prefixes: BUN_AUTH_TOKEN, NPM_TOKEN. */
const CREDENTIAL = /(?:TOKEN|PASSWORD|PASSWD|SECRET|AUTH|KEY|OTP)$/;

/** Returns the fault of a name as the end of a sentence, or undefined for a valid name. */
export function variableNameFault(name: string): string | undefined {
  if (!NAME.test(name)) return "is not a variable name: use letters, digits and _, without a leading digit";
  const upperCase = name.toUpperCase();
  const isControlling =
    CONTROLLING.has(upperCase) ||
    (CONTROLLING_PREFIXES.some((prefix) => upperCase.startsWith(prefix)) && !CREDENTIAL.test(upperCase));
  return isControlling ? "controls programs, so a secret cannot have this name" : undefined;
}
