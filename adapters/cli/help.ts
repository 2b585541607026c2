import { EXIT_CODES } from './output.js';
import type { CommandSummary } from './table.js';
import { findNearest, formatRows, formatHelp } from './usage.js';

const getFirstWord = ({ name }: CommandSummary): string => name.split(' ')[0] ?? '';

export function matchCommand(
  commands: readonly CommandSummary[],
  words: readonly string[],
): { command: CommandSummary; rest: string[] } | null {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = commands.find((c) => c.name === name);
    if (command !== undefined) return { command, rest: words.slice(length) };
  }
  return null;
}

const formatList = (commands: readonly CommandSummary[]): string[] =>
  formatRows([...commands].sort((a, b) => (a.name < b.name ? -1 : 1)).map((c) => [c.name, c.summary] as const));

export function formatOverview(commands: readonly CommandSummary[]): string {
  return [
    'AOS, the Application Operations Service.',
    '',
    'Usage: aos <command> [options]',
    '',
    'Commands:',
    ...formatList(commands),
    '',
    'Options:',
    ...formatRows([
      ['    --json', 'Print exactly one JSON document'],
      ['-h, --help', 'Show help; `aos help <command>` shows help for one command'],
      ['-v, --version', 'Show the version'],
    ]),
    '',
    `Exit codes: ${EXIT_CODES.ok} success, ${EXIT_CODES.error} failure, ${EXIT_CODES.skipped} nothing done or difference found, ${EXIT_CODES.usage} wrong usage.`,
  ].join('\n');
}

export function findHelp(commands: readonly CommandSummary[], words: readonly string[]): string | null {
  const found = matchCommand(commands, words);
  if (found !== null) return formatHelp(found.command);
  const group = words.length === 1 ? commands.filter((c) => getFirstWord(c) === words[0]) : [];
  if (group.length === 0) return null;
  return [`Usage: aos ${words[0]} <command> [options]`, '', 'Commands:', ...formatList(group)].join('\n');
}

export function formatUnknownCommand(commands: readonly CommandSummary[], words: readonly string[]): string {
  const [first = ''] = words;
  const group = commands.filter((c) => getFirstWord(c) === first).map(({ name }) => name);
  if (group.length > 0 && words.length === 1) return `"aos ${first}" needs one of: ${formatActions(group)}`;
  const typed = words.slice(0, 2).join(' ');
  const known = commands.map(({ name }) => name);
  const near =
    findNearest(typed, group.length > 0 ? group : known) ??
    (group.length > 0 ? null : findNearest(first, [...new Set(commands.map(getFirstWord))]));
  if (near !== null) return `unknown command "${typed}"; did you mean "${near}"?`;
  if (group.length > 0) return `unknown command "${typed}"; "aos ${first}" has ${formatActions(group)}`;
  return `unknown command "${typed}"; run "aos help" for the list`;
}

const formatActions = (names: readonly string[]): string => names.map((name) => name.split(' ')[1] ?? name).join(', ');
