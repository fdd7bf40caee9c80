// Finds the rule for a script in a table of rtfig.toml: `build` for any package, or `web#build`.

/** Returns the rule; one for a specific package takes precedence. */
export function ruleNamed<Rule extends { readonly name: string }>(
  rules: readonly Rule[],
  packageName: string,
  scriptName: string,
): Rule | undefined {
  return (
    rules.find(({ name }) => name === `${packageName}#${scriptName}`) ??
    rules.find(({ name }) => name === scriptName)
  );
}
