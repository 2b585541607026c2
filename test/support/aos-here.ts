/**
 * The command line in the process of its test: what a command does and says, for a tenth of what a start of the program
 * costs. That `aos` itself says and does the same, a few starts of each of these tests show (`aos` of service.ts).
 */
import { EXIT, printFailure, printResult } from '../../adapters/cli/output.js';
import { parse } from '../../adapters/cli/usage.js';
import { loadConfig } from '../../config/load.js';
import type { CommandSpec } from '../../kernel/contract.js';
import { compose } from '../../config/compose/compose.js';
import type { Finished } from './service.js';

/** Not those that tell V8 that a start is over. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandSpec>>> = {
  doctor: async () => (await import('../../adapters/cli/doctor.js')).doctor,
  backup: async () => (await import('../../adapters/cli/moving.js')).backup,
  restore: async () => (await import('../../adapters/cli/moving.js')).restore,
  export: async () => (await import('../../adapters/cli/moving.js')).exportCommand,
  import: async () => (await import('../../adapters/cli/moving.js')).importCommand,
  'plugin new': async () => (await import('../../adapters/cli/plugin-new.js')).pluginNew,
};

/** A start that fails; one that does not is stopped, with 0. */
async function start(env: NodeJS.ProcessEnv): Promise<number> {
  const service = await compose('serve', {
    configuration: await loadConfig({ env: { ...env, SVC_LOG_LEVEL: 'error' } }),
  });
  await service.boot();
  await service.stop();
  return EXIT.ok;
}

async function run(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<number> {
  if (words[0] === 'serve') return start(env);
  const length = [2, 1].find((n) => words.slice(0, n).join(' ') in COMMANDS) ?? 0;
  const spec = await COMMANDS[words.slice(0, length).join(' ')]?.();
  if (spec === undefined) throw new Error(`aos ${words.join(' ')} is not run in this process`);
  const { args, options, json } = parse(spec, words.slice(length));
  const result = await spec.run({ args, options, stdin: () => Promise.resolve('') });
  printResult(result, json);
  return result.exit ?? EXIT.ok;
}

/** `aos …` to its end, one at a time: meanwhile the settings of this process are its, and what is printed too. */
export async function aosHere(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<Finished> {
  const finished: Finished = { code: null, stdout: '', stderr: '' };
  const own = process.env;
  const kept = (name: 'stdout' | 'stderr') => (text: string | Uint8Array) => {
    finished[name] += String(text);
    return true;
  };
  process.env = env;
  process.stdout.write = kept('stdout');
  process.stderr.write = kept('stderr');
  try {
    finished.code = await run(env, words);
  } catch (error) {
    finished.code = printFailure(error, words.includes('--json'));
  } finally {
    process.env = own;
    // What they write by is not theirs alone, but of every stream.
    Reflect.deleteProperty(process.stdout, 'write');
    Reflect.deleteProperty(process.stderr, 'write');
  }
  return finished;
}

/** `aos … --json` in this process, parsed. @throws when it fails */
export async function aosJsonHere<T = Record<string, unknown>>(
  env: NodeJS.ProcessEnv,
  words: readonly string[],
): Promise<T> {
  const { code, stdout, stderr } = await aosHere(env, [...words, '--json']);
  if (code !== 0) throw new Error(`aos ${words.join(' ')} → ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}
