#!/usr/bin/env node
/**
 * `aos`: the command line. Nothing is loaded before it is known what is asked: help, the version and wrong words cost
 * no start (contract 95, command line). Exit 0, 1 (error), 64 (usage); the tick's 2.
 */
import './engine-flags.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pluginsAreNamed } from '../config/plugins-named.js';
import { endAfterFailure, outliveReaders } from './ending.js';
import { EXIT, printFailure } from './output.js';
import { OWN } from './own.js';
import { program } from './program.js';
import { writtenTable, type CommandFace } from './table.js';
import { helpOf, parse, usageOf, UsageError } from './usage.js';

/** The command whose name the words begin with, and the words after it. */
function match(
  commands: readonly CommandFace[],
  words: readonly string[],
): { command: CommandFace; rest: string[] } | null {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.find((c) => c.name === name);
    if (command !== undefined) return { command, rest: words.slice(length) };
  }
  return null;
}

function overview(commands: readonly CommandFace[]): string {
  const rows = [...commands]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((c) => `  ${c.name.padEnd(20)} ${c.summary}`);
  return ['Usage: aos <command> [options] [--json]', '       aos --version', '', ...rows].join('\n');
}

const plain = (words: readonly string[]): string => words.filter((word) => !word.startsWith('-')).join(' ');

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}

async function version(): Promise<string> {
  const text = await readFile(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

async function run({ command, rest }: { command: CommandFace; rest: readonly string[] }): Promise<number> {
  // Wrong words end here, before anything is started.
  if (parse(command, rest).help) return print(helpOf(command));
  return perform(command.name, rest);
}

async function perform(name: string, rest: readonly string[]): Promise<number> {
  return (await program()).perform(name, rest);
}

async function main(words: readonly string[]): Promise<number> {
  if (words.length === 1 && words[0] === '--version') return print(await version());
  const written = await writtenTable();
  const known = match(written, words);
  const asked = await pluginsAreNamed();
  if (known !== null && (!asked || Object.hasOwn(OWN, known.command.name))) return run(known);
  const { commands, whole } = asked ? await (await program()).askedTable() : { commands: written, whole: true };
  const found = match(commands, words);
  if (found !== null) return run(found);
  const near = commands.filter((c) => c.name.split(' ')[0] === words[0]);
  const help = near.length > 0 ? near.map(usageOf).join('\n') : overview(commands);
  if (words[0] === 'help' || words.includes('--help') || words.includes('-h')) return print(help);
  if (words.length === 0) throw new UsageError('a command is missing', help);
  // With the table unknown it may be a plugin's command: the failing start says what keeps it from being one.
  if (!whole) return perform(plain(words.slice(0, 2)), words.slice(2));
  throw new UsageError(`there is no command "${plain(words)}"`, help);
}

const words = process.argv.slice(2);
outliveReaders();
try {
  process.exitCode = await main(words);
} catch (error) {
  process.exitCode = printFailure(error, words.includes('--json'));
  endAfterFailure();
}
