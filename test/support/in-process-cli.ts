/**
 * Runs CLI commands inside the test process, which is faster than starting `aos`. A few tests also
 * start the program, to verify that both behave the same.
 */
import type { OwnCommand } from '../../adapters/cli/composition.js';
import { EXIT_CODES, printFailure, printResult } from '../../adapters/cli/output.js';
import { parseCommand } from '../../adapters/cli/usage.js';
import { loadConfig } from '../../config/load.js';
import { compose } from '../../config/compose/compose.js';
import { composition } from '../../config/compose/composition.js';
import type { CommandOutcome } from './service.js';

/** Excludes the commands that signal the end of a start to V8. */
const COMMANDS: Readonly<Record<string, () => Promise<OwnCommand>>> = {
  doctor: async () => (await import('../../adapters/cli/doctor/index.js')).doctorCommand,
  backup: async () => (await import('../../adapters/cli/archive-commands.js')).backupCommand,
  restore: async () => (await import('../../adapters/cli/archive-commands.js')).restoreCommand,
  export: async () => (await import('../../adapters/cli/archive-commands.js')).exportCommand,
  import: async () => (await import('../../adapters/cli/archive-commands.js')).importCommand,
  'plugin new': async () => (await import('../../adapters/cli/plugin-new.js')).pluginNewCommand,
};

/** Runs a start that should fail; a successful one is stopped with exit code 0. */
async function startAndStop(env: NodeJS.ProcessEnv): Promise<number> {
  const service = await compose('serve', {
    configuration: await loadConfig({ env: { ...env, SVC_LOG_LEVEL: 'error' } }),
  });
  await service.boot();
  await service.stop();
  return EXIT_CODES.ok;
}

async function runCommand(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<number> {
  if (words[0] === 'serve') return startAndStop(env);
  const length = [2, 1].find((n) => words.slice(0, n).join(' ') in COMMANDS) ?? 0;
  const spec = await COMMANDS[words.slice(0, length).join(' ')]?.();
  if (spec === undefined) throw new Error(`aos ${words.join(' ')} is not run in this process`);
  const { args, options, json } = parseCommand(spec, words.slice(length));
  const result = await spec.run({ args, options, stdin: () => Promise.resolve('') }, composition);
  printResult(result, json);
  return result.exit ?? EXIT_CODES.ok;
}

/**
 * Runs `aos …` to its end, one call at a time, because environment and output of the process are
 * replaced meanwhile.
 */
export async function runCliInProcess(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<CommandOutcome> {
  const finished: CommandOutcome = { code: null, stdout: '', stderr: '' };
  const own = process.env;
  const kept = (name: 'stdout' | 'stderr') => (text: string | Uint8Array) => {
    finished[name] += String(text);
    return true;
  };
  process.env = env;
  process.stdout.write = kept('stdout');
  process.stderr.write = kept('stderr');
  try {
    finished.code = await runCommand(env, words);
  } catch (error) {
    finished.code = printFailure(error, words.includes('--json'));
  } finally {
    process.env = own;
    // Without an own property, the stream falls back to the method of its prototype.
    Reflect.deleteProperty(process.stdout, 'write');
    Reflect.deleteProperty(process.stderr, 'write');
  }
  return finished;
}

/**
 * Runs `aos … --json` in this process and parses the output.
 * @throws when the command fails
 */
export async function runCliJsonInProcess<T = Record<string, unknown>>(
  env: NodeJS.ProcessEnv,
  words: readonly string[],
): Promise<T> {
  const { code, stdout, stderr } = await runCliInProcess(env, [...words, '--json']);
  if (code !== 0) throw new Error(`aos ${words.join(' ')} → ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}
