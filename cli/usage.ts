/** The words of a command line: what a command takes, and what is wrong with what was typed (exit 64). */
import { parseArgs } from 'node:util';
import type { CommandSpec } from '../kernel/contract.js';

/** Wrong usage. `message` is one sentence; `help` says how it is meant. */
export class UsageError extends Error {
  override name = 'UsageError';
  constructor(
    message: string,
    readonly help: string,
  ) {
    super(message);
  }
}

/** `aos token create --name <text> --scopes <text> [--project <text>]` */
export function usageOf(spec: Pick<CommandSpec, 'name' | 'args' | 'options'>): string {
  const args = (spec.args ?? []).map((arg) => (arg.endsWith('?') ? `[<${arg.slice(0, -1)}>]` : `<${arg}>`));
  const options = Object.entries(spec.options ?? {}).map(([name, { type, required }]) => {
    const text = type === 'boolean' ? `--${name}` : `--${name} <text>`;
    return required === true ? text : `[${text}]`;
  });
  return ['aos', spec.name, ...args, ...options, '[--json]'].join(' ');
}

export function helpOf(spec: Omit<CommandSpec, 'run'>): string {
  const options = Object.entries(spec.options ?? {}).map(([name, { summary }]) => `  --${name.padEnd(18)} ${summary}`);
  return [spec.summary, '', `Usage: ${usageOf(spec)}`, ...(options.length > 0 ? ['', ...options] : [])].join('\n');
}

export interface Parsed {
  args: string[];
  options: Record<string, string | boolean | undefined>;
  json: boolean;
  help: boolean;
}

/** @throws UsageError */
export function parse(spec: Omit<CommandSpec, 'run'>, words: readonly string[]): Parsed {
  const help = `Usage: ${usageOf(spec)}`;
  const options = Object.fromEntries(
    Object.entries(spec.options ?? {}).map(([name, { type }]) => [name, { type }] as const),
  );
  let parsed: { values: Record<string, string | boolean | undefined>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...words],
      options: { ...options, json: { type: 'boolean' as const }, help: { type: 'boolean' as const, short: 'h' } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    // Node's own sentences go on with hints for programmers.
    throw new UsageError((error as Error).message.split(/\.?\n|\. /)[0] ?? 'wrong options', help);
  }
  const { json, help: asked, ...values } = parsed.values;
  if (asked === true) return { args: [], options: {}, json: json === true, help: true };
  const wanted = spec.args ?? [];
  const missing = wanted.find((arg, i) => !arg.endsWith('?') && parsed.positionals[i] === undefined);
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing`, help);
  const extra = parsed.positionals[wanted.length];
  if (extra !== undefined) throw new UsageError(`unexpected argument ${extra}`, help);
  for (const [name, option] of Object.entries(spec.options ?? {})) {
    if (values[name] === undefined && option.default !== undefined) values[name] = option.default;
    if (option.required === true && values[name] === undefined) throw new UsageError(`--${name} is missing`, help);
  }
  return { args: parsed.positionals, options: values, json: json === true, help: false };
}
