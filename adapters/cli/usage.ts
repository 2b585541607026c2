import { parseArgs } from 'node:util';
import type { CommandSpec } from '../../kernel/contract/index.js';

/**
 * Wrong usage. `message` is one sentence; `help` shows the usage, null if the sentence suffices.
 */
export class UsageError extends Error {
  override name = 'UsageError';
  constructor(
    message: string,
    readonly help: string | null,
  ) {
    super(message);
  }
}

type CommandUsage = Pick<CommandSpec, 'name' | 'args' | 'options'>;
type OptionSpec = NonNullable<CommandSpec['options']>[string];

const listOptions = (spec: CommandUsage): [string, OptionSpec][] => Object.entries(spec.options ?? {});
const getPlaceholder = ({ value = 'text' }: OptionSpec): string => `<${value}>`;
const findPositional = (spec: CommandUsage): [string, OptionSpec] | undefined =>
  listOptions(spec).find(([, one]) => one.positional);

export function formatUsage(spec: CommandUsage): string {
  const args = (spec.args ?? []).map((arg) => (arg.endsWith('?') ? `[<${arg.slice(0, -1)}>]` : `<${arg}>`));
  const options = listOptions(spec).map(([name, option]) => {
    if (option.positional === true) return getPlaceholder(option);
    const text = option.type === 'boolean' ? `--${name}` : `--${name} ${getPlaceholder(option)}`;
    if (option.repeatable === true) return `--${name} ${getPlaceholder(option)}…`;
    return option.required === true ? text : `[${text}]`;
  });
  const positional = findPositional(spec) === undefined ? [] : options.splice(0, 1);
  return ['aos', spec.name, ...positional, ...args, ...options, '[--json]'].join(' ');
}

export function formatRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`.trimEnd());
}

export function formatHelp(spec: Omit<CommandSpec, 'run'>): string {
  const options = listOptions(spec).map(([name, option]): [string, string] => {
    const { type, summary, env, short } = option;
    const head = type === 'boolean' ? `--${name}` : `--${name} ${getPlaceholder(option)}`;
    return [
      `${short === undefined ? '   ' : `-${short},`} ${head}`,
      env === undefined ? summary : `${summary} (environment: ${env})`,
    ];
  });
  const common: [string, string][] = [
    ['    --json', 'Print exactly one JSON document'],
    ['-h, --help', 'Show this help'],
  ];
  return [spec.summary, '', `Usage: ${formatUsage(spec)}`, '', 'Options:', ...formatRows([...options, ...common])].join(
    '\n',
  );
}

export interface ParsedCommand {
  args: string[];
  options: Record<string, string | boolean | undefined>;
  json: boolean;
  help: boolean;
}

function formatOptionFault(spec: CommandUsage, error: Error): string {
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(error.message) ?? [];
  if (unknown !== undefined) {
    const near = findNearest(unknown, [...listOptions(spec).map(([name]) => `--${name}`), '--json', '--help']);
    return `unknown option ${unknown}${near === null ? '' : `; did you mean ${near}?`}`;
  }
  const [, short, lacks] =
    /^Option '(?:-\w, )?(--[\w-]+) <value>' (argument missing|argument is ambiguous)/.exec(error.message) ?? [];
  if (short !== undefined && lacks !== undefined) return `${short} requires a value`;
  const [, flag] = /^Option '(?:-\w, )?(--[\w-]+)' does not take an argument/.exec(error.message) ?? [];
  if (flag !== undefined) return `${flag} does not accept a value`;
  // Cuts Node's hints for programmers.
  return error.message.split(/\.?\n|\. /)[0] ?? 'wrong options';
}

/** @throws UsageError */
export function parseCommand(spec: Omit<CommandSpec, 'run'>, words: readonly string[]): ParsedCommand {
  const help = `Usage: ${formatUsage(spec)}`;
  const options = Object.fromEntries(
    listOptions(spec).map(([name, { type, short, repeatable }]) => {
      const rest = { ...(short !== undefined && { short }), ...(repeatable === true && { multiple: true as const }) };
      return [name, { type, ...rest }] as const;
    }),
  );
  let parsed: { values: Record<string, string | boolean | (string | boolean)[] | undefined>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...words],
      options: { ...options, json: { type: 'boolean' as const }, help: { type: 'boolean' as const, short: 'h' } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new UsageError(formatOptionFault(spec, error as Error), help);
  }
  const { json, help: isHelpRequested, ...given } = parsed.values;
  if (isHelpRequested === true) return { args: [], options: {}, json: json === true, help: true };
  const values = given as ParsedCommand['options'];
  const repeated = takeRepeatable(spec, given, parsed.positionals);
  if (repeated !== null) {
    const [name] = listOptions(spec).find(([, one]) => one.repeatable) ?? [];
    if (repeated.length === 0) throw new UsageError(`--${name} is missing`, help);
    return { args: repeated, options: values, json: json === true, help: false };
  }
  const args = takePositional(spec, parsed.positionals, values, help);
  const wanted = spec.args ?? [];
  const missing = wanted.find((arg, i) => !arg.endsWith('?') && args[i] === undefined);
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing`, help);
  const extra = args[wanted.length];
  if (extra !== undefined) throw new UsageError(`unexpected argument ${extra}`, help);
  for (const [name, option] of listOptions(spec)) {
    if (values[name] === undefined && option.default !== undefined) values[name] = option.default;
    if (option.required === true && values[name] === undefined)
      throw new UsageError(
        option.positional === true ? `${getPlaceholder(option)} is missing` : `--${name} is missing`,
        help,
      );
  }
  return { args, options: values, json: json === true, help: false };
}

/** Returns the values of the repeatable option; null when the command has none. */
function takeRepeatable(
  spec: CommandUsage,
  given: Record<string, unknown>,
  positionals: readonly string[],
): string[] | null {
  const [name] = listOptions(spec).find(([, one]) => one.repeatable) ?? [];
  if (name === undefined) return null;
  const values = (given[name] ?? []) as string[];
  delete given[name];
  return [...values, ...positionals];
}

function takePositional(spec: CommandUsage, given: string[], values: ParsedCommand['options'], help: string): string[] {
  const [name, option] = findPositional(spec) ?? [];
  const [first, ...rest] = given;
  if (name === undefined || option === undefined || first === undefined) return given;
  if (given.length <= (spec.args ?? []).length) return given;
  if (values[name] !== undefined && values[name] !== first)
    throw new UsageError(`${getPlaceholder(option)} is given twice, as ${first} and with --${name}`, help);
  values[name] = first;
  return rest;
}

export function findNearest(word: string, known: readonly string[]): string | null {
  const found = known
    .map((one) => ({ one, distance: getEditDistance(word, one) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return found !== undefined && found.distance <= Math.max(1, Math.floor(found.one.length / 3)) ? found.one : null;
}

function getEditDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
