/** With `--json` one document on stdout (contract 95, command line). */
import { ServiceError } from '../../kernel/errors.js';
import { redactText } from '../../lib/text/hidden-texts.js';
import { PluginFaults } from '../../kernel/faults.js';
import { toPrintable, toPrintableJson, toPrintableLines } from '../../lib/text/printable.js';
import type { CommandSummary } from './table.js';
import { UsageError } from './usage.js';

export const EXIT_CODES = { ok: 0, error: 1, skipped: 2, usage: 64 } as const;

export function printResult(result: { json: object; text: string }, json: boolean): void {
  if (json) process.stdout.write(toJson(result.json));
  else if (result.text !== '') process.stdout.write(`${toPrintableLines(result.text, Infinity)}\n`);
}

/** External text must not control the terminal. */
const toJson = (value: object): string => `${toPrintableJson(JSON.stringify(value))}\n`;

/** An invalid configuration is reported in one line (contract 00, configuration). */
function formatError(error: unknown): string {
  const text = redactText(error instanceof Error ? error.message : String(error)).trim();
  return error instanceof PluginFaults && error.configuration ? (text.split('\n')[0] ?? text) : text;
}

function toOptionName(field: string, command: CommandSummary | undefined): string {
  for (const [name, option] of Object.entries(command?.options ?? {}))
    if ((option.field ?? name.replaceAll('-', '_')) === field) return `--${name}`;
  return (command?.args ?? []).some((arg) => arg.replace(/\?$/, '') === field) ? `<${field}>` : field;
}

export function printFailure(error: unknown, json: boolean, command?: CommandSummary): number {
  const usage = error instanceof UsageError;
  const known = error instanceof ServiceError;
  const code = known ? error.code : usage ? 'invalid_request' : 'internal_error';
  const message = formatError(error);
  const fields = known ? error.fields : undefined;
  if (json) {
    process.stdout.write(toJson({ status: 'error', error: { code, message, ...(fields ? { fields } : {}) } }));
  } else {
    const details = Object.entries(fields ?? {}).map(([name, problem]) => `${toOptionName(name, command)}: ${problem}`);
    process.stderr.write(`${[toPrintableLines(message), ...details.map((one) => toPrintable(one))].join(' ')}\n`);
    if (usage && error.help !== null) process.stderr.write(`${error.help}\n`);
  }
  return usage ? EXIT_CODES.usage : EXIT_CODES.error;
}
