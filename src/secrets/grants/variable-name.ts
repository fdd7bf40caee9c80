// Which variables a secret may be: names that every shell can use, and none that steers programs.
//
// Why not the latter: a value that comes from a store or from another program would decide which code runs (LD_PRELOAD,
// NODE_OPTIONS), where programs are looked for (PATH), or what rt itself does (RT_..., npm_lifecycle_...). No secret is of
// that kind, so such a name is a mistake, or an attempt.

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** In capitals, since systems and programs differ in whether case counts. */
const STEERING = new Set(
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
const STEERING_PREFIXES = ["LD_", "DYLD_", "BUN_", "RT_", "GIT_CONFIG", "BASH_FUNC_", "NPM_"];
/** Such a name steers nothing, whatever it begins with: BUN_AUTH_TOKEN, NPM_TOKEN. */
const CREDENTIAL = /(?:TOKEN|PASSWORD|PASSWD|SECRET|AUTH|KEY|OTP)$/;

/** What is wrong with a name, as the end of a sentence; undefined when nothing is. */
export function faultOfName(name: string): string | undefined {
  if (!NAME.test(name)) return "is no name of a variable: letters, digits and _, and no digit first";
  const capital = name.toUpperCase();
  const isSteering =
    STEERING.has(capital) ||
    (STEERING_PREFIXES.some((prefix) => capital.startsWith(prefix)) && !CREDENTIAL.test(capital));
  return isSteering ? "steers programs, so no secret can have its name" : undefined;
}
