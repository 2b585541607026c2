/** What was asked of V8 for new objects, by the command line of Node or by the environment. */

/** Of `--max-semi-space-size`, in MB; 0: nothing was asked. */
export function newSpaceMb(env: NodeJS.ProcessEnv = process.env, words: readonly string[] = process.execArgv): number {
  const options = [env['NODE_OPTIONS'], ...words].join(' ');
  return Number(/--max[-_]semi[-_]space[-_]size=(\d+)/.exec(options)?.[1] ?? 0);
}
