#!/usr/bin/env node
/**
 * `aos`: the command line. Commands of the service itself are in this folder; those of a domain (`token`, `user`,
 * `project` …) come from the plugins. Exit 0, 1 (error), 64 (usage); the tick's 2 (contract 95, command line).
 */
import type { CommandSpec } from '../kernel/contract.js';
import { doctor } from './doctor.js';
import { endAfterFailure } from './ending.js';
import { migrate } from './migrate.js';
import { EXIT, printFailure, printResult } from './output.js';
import { pluginList } from './plugin.js';
import { serve } from './serve.js';
import { withService } from './service.js';
import { tick } from './tick.js';
import { helpOf, parse, usageOf, UsageError } from './usage.js';

const BUILTIN: readonly CommandSpec[] = [serve, migrate, tick, doctor, pluginList];

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

async function main(words: readonly string[]): Promise<number> {
  const own = match(BUILTIN, words);
  if (own !== null) return execute(own.command, own.rest);
  // Wrong words are found before the store is touched by them, but a plugin's commands are known only after setup.
  return withService({}, async ({ kernel }) => {
    const mounted = kernel.commands();
    const commands = [...BUILTIN, ...mounted.map((m) => m.spec)];
    const found = match(commands, words);
    if (found !== null) {
      const reason = mounted.find((m) => m.spec === found.command)?.reason ?? null;
      if (reason !== null) throw new Error(`the command's plugin has failed: ${reason}`);
      return execute(found.command, found.rest);
    }
    if (words.length === 0 || words[0] === 'help' || words[0] === '--help') {
      process.stdout.write(`${overview(commands)}\n`);
      return words.length === 0 ? EXIT.usage : EXIT.ok;
    }
    const near = commands.filter((c) => c.name.split(' ')[0] === words[0]);
    const help = near.length > 0 ? near.map(usageOf).join('\n') : overview(commands);
    throw new UsageError(`there is no command "${words.filter((w) => !w.startsWith('-')).join(' ')}"`, help);
  });
}

const words = process.argv.slice(2);
try {
  process.exitCode = await main(words);
} catch (error) {
  process.exitCode = printFailure(error, words.includes('--json'));
  endAfterFailure();
}
