/** What a command prints: with `--json` exactly one document on stdout, else a sentence (contract 95, command line). */
import { ServiceError } from '../../kernel/errors.js';
import { redactText } from '../../lib/text/hidden-texts.js';
import { PluginFaults } from '../../kernel/faults.js';
import { printable, printableJson, printableLines } from '../../lib/text/printable.js';
import type { CommandFace } from './table.js';
import { UsageError } from './usage.js';

export const EXIT = { ok: 0, error: 1, skipped: 2, usage: 64 } as const;

export function printResult(result: { json: object; text: string }, json: boolean): void {
  if (json) process.stdout.write(toJson(result.json));
  else if (result.text !== '') process.stdout.write(`${printableLines(result.text, Infinity)}\n`);
}

/** A text from outside must not control the terminal. */
const toJson = (value: object): string => `${printableJson(JSON.stringify(value))}\n`;

/** A wrong configuration is reported in exactly one line, the first fault (contract 00, configuration). */
function textOf(error: unknown): string {
  const text = redactText(error instanceof Error ? error.message : String(error)).trim();
  return error instanceof PluginFaults && error.configuration ? (text.split('\n')[0] ?? text) : text;
}

/** `--expires-in` for the field `expires_in_seconds`; a field that no option sets keeps its name. */
function optionNamed(field: string, command: CommandFace | undefined): string {
  for (const [name, option] of Object.entries(command?.options ?? {}))
    if ((option.field ?? name.replaceAll('-', '_')) === field) return `--${name}`;
  return (command?.args ?? []).some((arg) => arg.replace(/\?$/, '') === field) ? `<${field}>` : field;
}

/**
 * Prints the failure and answers the exit code.
 * @param command whose options are named in place of the fields that they set
 */
export function printFailure(error: unknown, json: boolean, command?: CommandFace): number {
  const usage = error instanceof UsageError;
  const known = error instanceof ServiceError;
  const code = known ? error.code : usage ? 'invalid_request' : 'internal_error';
  const message = textOf(error);
  const fields = known ? error.fields : undefined;
  if (json) {
    process.stdout.write(toJson({ status: 'error', error: { code, message, ...(fields ? { fields } : {}) } }));
  } else {
    const details = Object.entries(fields ?? {}).map(([name, problem]) => `${optionNamed(name, command)}: ${problem}`);
    process.stderr.write(`${[printableLines(message), ...details.map((one) => printable(one))].join(' ')}\n`);
    if (usage && error.help !== null) process.stderr.write(`${error.help}\n`);
  }
  return usage ? EXIT.usage : EXIT.error;
}
