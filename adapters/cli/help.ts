import { EXIT } from './output.js';
import type { CommandFace } from './table.js';
import { findNearest, formatRows, helpOf } from './usage.js';

const firstWord = ({ name }: CommandFace): string => name.split(' ')[0] ?? '';

export function matchCommand(
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

const listOf = (commands: readonly CommandFace[]): string[] =>
  formatRows([...commands].sort((a, b) => (a.name < b.name ? -1 : 1)).map((c) => [c.name, c.summary] as const));

export function formatOverview(commands: readonly CommandFace[]): string {
  return [
    'AOS, the Application Operations Service.',
    '',
    'Usage: aos <command> [options]',
    '',
    'Commands:',
    ...listOf(commands),
    '',
    'Options:',
    ...formatRows([
      ['    --json', 'Print exactly one JSON document'],
      ['-h, --help', 'Show help; `aos help <command>` shows that of one command'],
      ['-v, --version', 'Show the version'],
    ]),
    '',
    `Exit codes: ${EXIT.ok} success, ${EXIT.error} failure, ${EXIT.skipped} nothing done or a difference found, ${EXIT.usage} wrong usage.`,
  ].join('\n');
}

export function helpFor(commands: readonly CommandFace[], words: readonly string[]): string | null {
  const found = matchCommand(commands, words);
  if (found !== null) return helpOf(found.command);
  const group = words.length === 1 ? commands.filter((c) => firstWord(c) === words[0]) : [];
  if (group.length === 0) return null;
  return [`Usage: aos ${words[0]} <command> [options]`, '', 'Commands:', ...listOf(group)].join('\n');
}

export function formatUnknownCommand(commands: readonly CommandFace[], words: readonly string[]): string {
  const [first = ''] = words;
  const group = commands.filter((c) => firstWord(c) === first).map(({ name }) => name);
  if (group.length > 0 && words.length === 1) return `"aos ${first}" needs one of: ${actionsOf(group)}`;
  const typed = words.slice(0, 2).join(' ');
  const known = commands.map(({ name }) => name);
  const near =
    findNearest(typed, group.length > 0 ? group : known) ??
    (group.length > 0 ? null : findNearest(first, [...new Set(commands.map(firstWord))]));
  if (near !== null) return `unknown command "${typed}"; did you mean "${near}"?`;
  if (group.length > 0) return `unknown command "${typed}"; "aos ${first}" has ${actionsOf(group)}`;
  return `unknown command "${typed}"; run "aos help" for the list`;
}

const actionsOf = (names: readonly string[]): string => names.map((name) => name.split(' ')[1] ?? name).join(', ');
