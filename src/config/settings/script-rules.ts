// Rules of rtfig.toml that are named after scripts: `build`, of whichever package, or `web#build`.

/** The rule of a package's own wins. */
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
