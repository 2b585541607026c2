/**
 * Questions on the terminal, on stderr, so that stdout stays a program's. Without a terminal a question is exit 64 that names
 * the option which answers it: an unattended run never waits for somebody.
 */
import { createInterface } from 'node:readline/promises';
import { printable } from '../shared/texts.js';
import { Failure } from './exit.js';

/** @param standard the answer to an empty line @param option what answers it without a terminal, `--name` say */
export async function askText(
  question: string,
  standard: string,
  option: string,
  signal: AbortSignal,
): Promise<string> {
  if (!process.stdin.isTTY) throw new Failure('usage', `${option} is missing, and there is no terminal to ask at`);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  prompt.once('SIGINT', () => process.emit('SIGINT'));
  try {
    const shown = standard === '' ? question : `${question} [${printable(standard)}]`;
    return (await prompt.question(`${shown}: `, { signal })).trim() || standard;
  } finally {
    prompt.close();
  }
}

/** Asks until it is yes or no. */
export async function askYesNo(
  question: string,
  standard: boolean,
  option: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const answer = await askText(`${question} (yes or no)`, standard ? 'yes' : 'no', option, signal);
    if (/^(y|yes)$/i.test(answer)) return true;
    if (/^(n|no)$/i.test(answer)) return false;
  }
}
