#!/usr/bin/env node
/**
 * `aos`: the command line. Commands of the service itself are in this folder; those of a domain (`token`, `user`,
 * `project` …) come from the plugins. Exit 0, 1 (error), 64 (usage); the tick's 2 (contract 95, command line).
 */
import './engine-flags.js';
import type { CommandSpec } from '../kernel/contract.js';
import { blueprint } from '../main.js';
import { backup, exportCommand, importCommand, restore } from './moving.js';
import { doctor } from './doctor.js';
import { endAfterFailure } from './ending.js';
import { licenseKeyRotate, releaseKeyRotate } from './keys.js';
import { migrate } from './migrate.js';
import { EXIT, printFailure, printResult } from './output.js';
import { pluginList } from './plugin.js';
import { pluginNew } from './plugin-new.js';
import { runServer, serve } from './serve.js';
import { withService } from './service.js';
import { tick } from './tick.js';
import { helpOf, parse, usageOf, UsageError } from './usage.js';

const BUILTIN: readonly CommandSpec[] = [
  serve,
  migrate,
  tick,
  doctor,
  backup,
  restore,
  exportCommand,
  importCommand,
  pluginList,
  pluginNew,
  releaseKeyRotate,
  licenseKeyRotate,
];

async function stdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk as string;
  return text.replace(/\r?\n$/, '');
}

/** The command whose name the words begin with, and the words after it. */
function match<T extends { name: string }>(
  commands: readonly T[],
  words: readonly string[],
): { command: T; rest: string[] } | null {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.find((c) => c.name === name);
    if (command !== undefined) return { command, rest: words.slice(length) };
  }
  return null;
}

async function execute(spec: CommandSpec, rest: readonly string[]): Promise<number> {
  const { args, options, json, help } = parse(spec, rest);
  if (help) {
    process.stdout.write(`${helpOf(spec)}\n`);
    return EXIT.ok;
  }
  if (spec === serve) return runServer(json);
  const result = await spec.run({ args, options, stdin });
  printResult(result, json);
  return result.exit ?? EXIT.ok;
}

function overview(commands: readonly CommandSpec[]): string {
  const rows = [...commands]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((c) => `  ${c.name.padEnd(20)} ${c.summary}`);
  return ['Usage: aos <command> [options] [--json]', '', ...rows].join('\n');
}

/**
 * Every command, from a service that touches nothing. Null with a configuration or plugins that are at fault: then the
 * help lists the service's own, and another command's start says what is wrong.
 */
async function commandTable(): Promise<readonly CommandSpec[] | null> {
  try {
    const service = await blueprint();
    await service.boot({ migrate: false });
    await service.stop();
    return [...BUILTIN, ...service.kernel.commands().map(({ spec }) => spec)];
  } catch (error) {
    process.stderr.write(`commands of plugins are not known: ${(error as Error).message.split('\n')[0]}\n`);
    return null;
  }
}

/** Runs the command of a plugin on the real store. */
function runMounted(name: string, rest: readonly string[]): Promise<number> {
  return withService({}, async ({ kernel }) => {
    const found = kernel.commands().find(({ spec }) => spec.name === name);
    if (found === undefined) throw new Error(`there is no command "${name}"`);
    if (found.reason !== null) throw new Error(`the command's plugin has failed: ${found.reason}`);
    return execute(found.spec, rest);
  });
}

const plain = (words: readonly string[]): string => words.filter((word) => !word.startsWith('-')).join(' ');

/** Help and wrong words end here, before any store is opened (contract 95, command line). */
async function main(words: readonly string[]): Promise<number> {
  const own = match(BUILTIN, words);
  if (own !== null) return execute(own.command, own.rest);
  const table = await commandTable();
  const commands = table ?? BUILTIN;
  const found = match(commands, words);
  if (found !== null) {
    const { help } = parse(found.command, found.rest);
    return help ? execute(found.command, found.rest) : runMounted(found.command.name, found.rest);
  }
  const near = commands.filter((c) => c.name.split(' ')[0] === words[0]);
  const help = near.length > 0 ? near.map(usageOf).join('\n') : overview(commands);
  if (words[0] === 'help' || words.includes('--help') || words.includes('-h')) {
    process.stdout.write(`${help}\n`);
    return EXIT.ok;
  }
  if (words.length === 0) throw new UsageError('a command is missing', help);
  // With the table unknown it may be a plugin's command: the failing start says what keeps it from being one.
  if (table === null) return runMounted(plain(words.slice(0, 2)), words.slice(2));
  throw new UsageError(`there is no command "${plain(words)}"`, help);
}

const words = process.argv.slice(2);
try {
  process.exitCode = await main(words);
} catch (error) {
  process.exitCode = printFailure(error, words.includes('--json'));
  endAfterFailure();
}
