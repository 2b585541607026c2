/**
 * Help, version and usage errors load nothing else, to stay fast (contract 95, command line). Exit
 * codes: 0, 1 (error), 64 (usage); 2 for the tick.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { arePluginsConfigured } from '../../config/plugin-detection.js';
import type { Composition } from './composition.js';
import { exitSoon, ignoreClosedReaders } from './process-exit.js';
import { EXIT_CODES, printFailure } from './output.js';
import { OWN_COMMANDS } from './own-commands.js';
import { readBuiltCommands, type CommandSummary } from './table.js';
import { findHelp, matchCommand, formatOverview, formatUnknownCommand } from './help.js';
import { formatHelp, parseCommand, UsageError } from './usage.js';

const joinWords = (words: readonly string[]): string => words.filter((word) => !word.startsWith('-')).join(' ');

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT_CODES.ok;
}

async function readVersion(): Promise<string> {
  const text = await readFile(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

async function runCommand(
  composition: Composition,
  { command, rest }: { command: CommandSummary; rest: readonly string[] },
): Promise<number> {
  if (parseCommand(command, rest).help) return print(formatHelp(command));
  return performCommand(composition, command.name, rest);
}

async function performCommand(composition: Composition, name: string, rest: readonly string[]): Promise<number> {
  return (await import('./perform.js')).perform(composition, name, rest);
}

const VERSION_WORDS = new Set(['--version', '-v', 'version']);
const HELP_WORDS = new Set(['--help', '-h', 'help']);

async function runMain(words: readonly string[], composition: Composition): Promise<number> {
  const [first = '', ...others] = words;
  const json = words.includes('--json');
  if (VERSION_WORDS.has(first) && others.every((word) => word === '--json'))
    return print(json ? JSON.stringify({ version: await readVersion() }) : await readVersion());
  const written = await readBuiltCommands();
  const known = matchCommand(written, words);
  const hasPlugins = await arePluginsConfigured();
  if (known !== null && (!hasPlugins || Object.hasOwn(OWN_COMMANDS, known.command.name)))
    return runCommand(composition, known);
  const { commands, whole } = hasPlugins
    ? await (await import('./perform.js')).loadCommandTable(composition)
    : { commands: written, whole: true };
  const found = matchCommand(commands, words);
  if (found !== null) return runCommand(composition, found);
  if (words.length === 0) throw new UsageError('a command is missing', formatOverview(commands));
  const named = words.filter((word) => !HELP_WORDS.has(word) && !word.startsWith('-'));
  if (words.some((word) => HELP_WORDS.has(word))) {
    const help = named.length === 0 ? formatOverview(commands) : findHelp(commands, named);
    if (help !== null) return print(help);
  }
  // If plugins could not be loaded, this may be a plugin's command: the failing start reports why.
  if (!whole) return performCommand(composition, joinWords(words.slice(0, 2)), words.slice(2));
  if (named.length === 0) throw new UsageError(`unknown option ${first}; run "aos help" for the list`, null);
  throw new UsageError(formatUnknownCommand(commands, named), null);
}

/** Runs one command, prints its result or failure, and sets the exit code. */
export async function runCommandLine(words: readonly string[], composition: Composition): Promise<void> {
  ignoreClosedReaders();
  try {
    process.exitCode = await runMain(words, composition);
  } catch (error) {
    process.exitCode = printFailure(error, words.includes('--json'));
  }
  exitSoon();
}
