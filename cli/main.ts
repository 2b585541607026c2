#!/usr/bin/env node
/**
 * `aos`: the command line. Nothing is loaded before it is known what is asked: help, the version and wrong words cost
 * no start (contract 95, command line). Exit 0, 1 (error), 64 (usage); the tick's 2.
 */
import './engine-flags.js';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pluginsAreNamed } from '../config/plugins-named.js';
import type { CommandSpec } from '../kernel/contract.js';
import { endAfterFailure } from './ending.js';
import { EXIT, printFailure, printResult } from './output.js';
import { OWN } from './own.js';
import { askedTable, writtenTable, type CommandFace } from './table.js';
import { helpOf, parse, usageOf, UsageError } from './usage.js';

async function stdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk as string;
  return text.replace(/\r?\n$/, '');
}

/** Of a file that a command reads. */
const MAX_FILE = 16 * 1024 * 1024;

async function read(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > MAX_FILE) throw new Error(`${path} is larger than 16 MiB`);
  return readFile(path, 'utf8');
}

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

async function execute(spec: CommandSpec, rest: readonly string[]): Promise<number> {
  const { args, options, json } = parse(spec, rest);
  if (spec.name === 'serve') return (await import('./serve.js')).runServer(json);
  const result = await spec.run({ args, options, stdin, read });
  printResult(result, json);
  return result.exit ?? EXIT.ok;
}

function overview(commands: readonly CommandFace[]): string {
  const rows = [...commands]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((c) => `  ${c.name.padEnd(20)} ${c.summary}`);
  return ['Usage: aos <command> [options] [--json]', '       aos --version', '', ...rows].join('\n');
}

/** Runs the command of a plugin on the real store. */
async function runMounted(name: string, rest: readonly string[]): Promise<number> {
  const { withService } = await import('./service.js');
  return withService({}, async ({ kernel }) => {
    const found = kernel.commands().find(({ spec }) => spec.name === name);
    if (found === undefined) throw new Error(`there is no command "${name}"`);
    if (found.reason !== null) throw new Error(`the command's plugin has failed: ${found.reason}`);
    return execute(found.spec, rest);
  });
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
  const own = OWN[command.name];
  return own === undefined ? runMounted(command.name, rest) : execute(await own(), rest);
}

async function main(words: readonly string[]): Promise<number> {
  if (words.length === 1 && words[0] === '--version') return print(await version());
  const written = await writtenTable();
  const known = match(written, words);
  const asked = await pluginsAreNamed();
  if (known !== null && (!asked || Object.hasOwn(OWN, known.command.name))) return run(known);
  const { commands, whole } = asked ? await askedTable() : { commands: written, whole: true };
  const found = match(commands, words);
  if (found !== null) return run(found);
  const near = commands.filter((c) => c.name.split(' ')[0] === words[0]);
  const help = near.length > 0 ? near.map(usageOf).join('\n') : overview(commands);
  if (words[0] === 'help' || words.includes('--help') || words.includes('-h')) return print(help);
  if (words.length === 0) throw new UsageError('a command is missing', help);
  // With the table unknown it may be a plugin's command: the failing start says what keeps it from being one.
  if (!whole) return runMounted(plain(words.slice(0, 2)), words.slice(2));
  throw new UsageError(`there is no command "${plain(words)}"`, help);
}

const words = process.argv.slice(2);
try {
  process.exitCode = await main(words);
} catch (error) {
  process.exitCode = printFailure(error, words.includes('--json'));
  endAfterFailure();
}
