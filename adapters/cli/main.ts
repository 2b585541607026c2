/**
 * `aos`: the command line. Help, version and usage errors load nothing else, to stay fast (contract
 * 95, command line). Exit codes: 0, 1 (error), 64 (usage); 2 for the tick.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pluginsAreNamed } from '../../config/plugins-named.js';
import { endSoon, outliveReaders } from './ending.js';
import { EXIT, printFailure } from './output.js';
import { OWN } from './own.js';
import { writtenTable, type CommandFace } from './table.js';
import { helpFor, matchCommand, formatOverview, formatUnknownCommand } from './help.js';
import { helpOf, parse, UsageError } from './usage.js';

const plain = (words: readonly string[]): string => words.filter((word) => !word.startsWith('-')).join(' ');

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}

async function version(): Promise<string> {
  const text = await readFile(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

async function run({ command, rest }: { command: CommandFace; rest: readonly string[] }): Promise<number> {
  if (parse(command, rest).help) return print(helpOf(command));
  return perform(command.name, rest);
}

async function perform(name: string, rest: readonly string[]): Promise<number> {
  return (await import('./perform.js')).perform(name, rest);
}

const VERSION = new Set(['--version', '-v', 'version']);
const HELP = new Set(['--help', '-h', 'help']);

async function main(words: readonly string[]): Promise<number> {
  const [first = '', ...others] = words;
  const json = words.includes('--json');
  if (VERSION.has(first) && others.every((word) => word === '--json'))
    return print(json ? JSON.stringify({ version: await version() }) : await version());
  const written = await writtenTable();
  const known = matchCommand(written, words);
  const asked = await pluginsAreNamed();
  if (known !== null && (!asked || Object.hasOwn(OWN, known.command.name))) return run(known);
  const { commands, whole } = asked
    ? await (await import('./perform.js')).askedTable()
    : { commands: written, whole: true };
  const found = matchCommand(commands, words);
  if (found !== null) return run(found);
  if (words.length === 0) throw new UsageError('a command is missing', formatOverview(commands));
  const named = words.filter((word) => !HELP.has(word) && !word.startsWith('-'));
  if (words.some((word) => HELP.has(word))) {
    const help = named.length === 0 ? formatOverview(commands) : helpFor(commands, named);
    if (help !== null) return print(help);
  }
  // If plugins could not be loaded, this may be a plugin's command: the failing start reports why.
  if (!whole) return perform(plain(words.slice(0, 2)), words.slice(2));
  if (named.length === 0) throw new UsageError(`unknown option ${first}; run "aos help" for the list`, null);
  throw new UsageError(formatUnknownCommand(commands, named), null);
}

/** Runs one command, prints its result or failure, and sets the exit code. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  outliveReaders();
  try {
    process.exitCode = await main(words);
  } catch (error) {
    process.exitCode = printFailure(error, words.includes('--json'));
  }
  endSoon();
}
