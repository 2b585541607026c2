/**
 * Without a terminal a prompt is exit 64 and names the option that replaces it: an unattended run
 * never waits for input.
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { toPrintable } from '../../lib/text/printable.js';
import { AgentFailure } from './exit.js';

export const isInteractive = ({ yes }: { yes: boolean }): boolean => !yes && process.stdin.isTTY;

/** Ctrl-C and Ctrl-D cancel the run. */
async function readLine(question: string, shown: NodeJS.WritableStream, signal: AbortSignal): Promise<string> {
  const prompt = createInterface({ input: process.stdin, output: shown, terminal: true });
  const gone = new Promise<never>((_resolve, reject) => {
    prompt.once('SIGINT', () => process.emit('SIGINT'));
    prompt.once('close', () => reject(new AgentFailure('cancelled', 'cancelled')));
  });
  try {
    return await Promise.race([prompt.question(question, { signal }), gone]);
  } finally {
    gone.catch(() => undefined);
    prompt.close();
  }
}

/**
 * @param standard the answer to an empty line
 * @param option the option that replaces the prompt, for example `--name`
 */
export async function promptText(
  question: string,
  standard: string,
  option: string,
  signal: AbortSignal,
): Promise<string> {
  if (!process.stdin.isTTY)
    throw new AgentFailure('usage', `${option} is missing, and there is no terminal for prompts`);
  const shown = standard === '' ? toPrintable(question) : `${toPrintable(question)} [${toPrintable(standard)}]`;
  return (await readLine(`${shown}: `, process.stderr, signal)).trim() || standard;
}

/** The caller has checked that a terminal exists. */
export async function promptHidden(question: string, signal: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = readLine('', silent, signal);
  // Not earlier: until the prompt is open the terminal echoes input.
  process.stderr.write(toPrintable(question));
  try {
    return await answer;
  } finally {
    process.stderr.write('\n');
  }
}

export async function promptYesNo(
  question: string,
  standard: boolean,
  option: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const answer = await promptText(`${question} (yes or no)`, standard ? 'yes' : 'no', option, signal);
    if (/^(y|yes)$/i.test(answer)) return true;
    if (/^(n|no)$/i.test(answer)) return false;
  }
}

/**
 * @param standard a number or a text; '' for none
 * @param wanted requires an answer
 */
export async function promptChoice(
  question: string,
  choices: readonly string[],
  standard: string,
  option: string,
  signal: AbortSignal,
  wanted = false,
): Promise<string> {
  const list = choices.map((choice, n) => `  ${n + 1}  ${toPrintable(choice, 200)}\n`).join('');
  if (process.stdin.isTTY) process.stderr.write(list);
  for (;;) {
    const answer = await promptText(`${question}, 1 to ${choices.length}`, standard, option, signal);
    if ((answer === '' && !wanted) || choices.includes(answer)) return answer;
    const chosen = /^\d{1,5}$/.test(answer) ? choices[Number(answer) - 1] : undefined;
    if (chosen !== undefined) return chosen;
  }
}
