/** What was asked of V8 for new objects, by the command line of Node or by the environment. */

/** As Node takes it: with `-` or `_`. */
const ASKED = /--max[-_]semi[-_]space[-_]size=(\d+)/;

/**
 * Of `--max-semi-space-size`, in MB; 0: nothing was asked.
 * @param words of Node, before the name of the program
 */
export function newSpaceMb(env: NodeJS.ProcessEnv = process.env, words: readonly string[] = process.execArgv): number {
  const [, asked] = ASKED.exec([env['NODE_OPTIONS'], ...words].join(' ')) ?? [];
  return Number(asked ?? 0);
}
