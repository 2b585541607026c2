/**
 * Questions on the terminal, on stderr, so that stdout stays a program's. Without a terminal a question is exit 64 that
 * names the option which answers it: an unattended run never waits for somebody.
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { printable } from '../../lib/text/printable.js';
import { AgentFailure } from './exit.js';

/** Whether there is somebody to ask, and he wants to be asked. */
export const isInteractive = ({ yes }: { yes: boolean }): boolean => !yes && process.stdin.isTTY;

/** One line. Ctrl-C and Ctrl-D cancel the run. @param shown where what is typed is shown */
async function line(question: string, shown: NodeJS.WritableStream, signal: AbortSignal): Promise<string> {
  const prompt = createInterface({ input: process.stdin, output: shown, terminal: true });
  const gone = new Promise<never>((_resolve, reject) => {
    prompt.once('SIGINT', () => process.emit('SIGINT'));
    prompt.once('close', () => reject(new AgentFailure('cancelled', 'cancelled')));
  });
  try {
    return await Promise.race([prompt.question(question, { signal }), gone]);
  } finally {
    gone.catch(() => undefined); // It closes in any case.
    prompt.close();
  }
}

/** @param standard the answer to an empty line @param option what answers it without a terminal, `--name` say */
export async function askText(
  question: string,
  standard: string,
  option: string,
  signal: AbortSignal,
): Promise<string> {
  if (!process.stdin.isTTY) throw new AgentFailure('usage', `${option} is missing, and there is no terminal to ask at`);
  const shown = standard === '' ? printable(question) : `${printable(question)} [${printable(standard)}]`;
  return (await line(`${shown}: `, process.stderr, signal)).trim() || standard;
}

/** What is typed is not shown. The caller has looked whether there is a terminal. */
export async function askHidden(question: string, signal: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = line('', silent, signal);
  // Not before: until the prompt is open the terminal shows what is typed.
  process.stderr.write(printable(question));
  try {
    return await answer;
  } finally {
    process.stderr.write('\n');
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

/**
 * By its number or its text.
 * @param standard a number or a text; '' where there is none
 * @param wanted nothing is no answer
 * @returns '' for none
 */
export async function askChoice(
  question: string,
  choices: readonly string[],
  standard: string,
  option: string,
  signal: AbortSignal,
  wanted = false,
): Promise<string> {
  const list = choices.map((choice, n) => `  ${n + 1}  ${printable(choice, 200)}\n`).join('');
  if (process.stdin.isTTY) process.stderr.write(list);
  for (;;) {
    const answer = await askText(`${question}, 1 to ${choices.length}`, standard, option, signal);
    if ((answer === '' && !wanted) || choices.includes(answer)) return answer;
    const chosen = /^\d{1,5}$/.test(answer) ? choices[Number(answer) - 1] : undefined;
    if (chosen !== undefined) return chosen;
  }
}
