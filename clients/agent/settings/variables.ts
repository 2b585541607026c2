/** `${VAR}` and `%VAR%` in paths of setup.json. Unknown ones stay as they are (contract 90, setup.json). */
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}|%([A-Za-z_][A-Za-z0-9_]*)%/g;

/** The agent's own settings, passwords among them, are no variables. */
export const withVariables = (text: string, env: Readonly<Record<string, string | undefined>>): string =>
  text.replace(VARIABLE, (whole: string, unix: string | undefined, windows: string | undefined) => {
    const name = unix ?? windows ?? '';
    return /^SVC_/i.test(name) ? whole : (env[name] ?? whole);
  });
