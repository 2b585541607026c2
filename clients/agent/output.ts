/**
 * Prints stdout lines for scripts, or JSON lines with `--json`; errors and progress on stderr
 * (contract 90, exit codes). Control characters of external texts are removed here.
 */
import { toPrintable } from '../../lib/text/printable.js';

export interface OutputStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export type Recorder = (event: string, fields: Readonly<Record<string, unknown>>) => void;

const REDRAW_INTERVAL_MS = 100;

export class AgentOutput {
  /**
   * Warnings wait until the package's server has accepted the credentials: `UNAUTHORIZED:` must
   * begin the output of exit 2.
   */
  #heldWarnings: string[] | null = [];
  #drawn = 0;
  #drawnAt = 0;
  #hasPrintedResult = false;
  record: Recorder = () => {};

  constructor(
    readonly stdout: OutputStream,
    readonly stderr: OutputStream,
    readonly json: boolean,
  ) {}

  warn(text: string): void {
    this.record('warning', { message: text });
    if (this.#heldWarnings === null) this.#printWarning(text);
    else this.#heldWarnings.push(text);
  }

  releaseWarnings(): void {
    const held = this.#heldWarnings ?? [];
    this.#heldWarnings = null;
    for (const text of held) this.#printWarning(text);
  }

  reportUpToDate(version: string): void {
    this.#printResult('up_to_date', { version }, `UP_TO_DATE: ${version}`);
  }

  reportUpdated(from: string | null, to: string): void {
    this.#printResult('updated', { from, to }, `UPDATED: ${from ?? 'none'} -> ${to}`);
  }

  reportRolledBack(to: string | null, from: string): void {
    const text = `ROLLED_BACK: ${from} -> ${to ?? 'none'}`;
    this.#printResult('rolled_back', { from, to }, text);
  }

  reportMonitored(source: string, script: string, schedule: string | null): void {
    const how = schedule === null ? 'no schedule' : `scheduled ${schedule}`;
    this.#printResult('monitored', { source, script, schedule }, `MONITORED: ${source} by ${script}, ${how}`);
  }

  reportScheduled(name: string, scheduler: string): void {
    this.#printResult('scheduled', { name, scheduler }, `SCHEDULED: ${name} by ${scheduler}, every night`);
  }

  reportUnauthorized(text: string): void {
    this.record('unauthorized', { message: text });
    this.#clear();
    if (this.json) this.#printLine({ event: 'unauthorized', message: text });
    else this.stdout.write(`UNAUTHORIZED: ${toPrintable(text)}\n`);
    this.releaseWarnings();
    if (this.json) this.#printLine({ event: 'failed', outcome: 'unauthorized', exit_code: 2, message: text });
  }

  /** Ends a successful run: with `--json` the last line reports it, unless a result did. */
  reportDone(): void {
    this.releaseWarnings();
    if (this.json && !this.#hasPrintedResult) this.#printLine({ event: 'done', outcome: 'done', exit_code: 0 });
  }

  printNote(event: string, fields: Readonly<Record<string, unknown>>, text: string): void {
    this.record(event, fields);
    if (this.json) this.#printLine({ event, ...fields });
    else this.#printProgress(text);
  }

  /** Printed on every run, even without a terminal, because the old content has moved. */
  reportUserFileKept(path: string, keptAs: string): void {
    const fields = { path, kept_as: keptAs };
    this.record('user_file_kept', fields);
    if (this.json) this.#printLine({ event: 'user_file_kept', ...fields });
    else
      this.printPromptText(`${toPrintable(path)} was changed on this machine; it was saved as ${toPrintable(keptAs)}`);
  }

  reportFailed(outcome: string, code: number, text: string): void {
    this.record('failed', { outcome, exit_code: code, message: text });
    this.releaseWarnings();
    this.#clear();
    if (this.json) this.#printLine({ event: 'failed', outcome, exit_code: code, message: text });
    else this.stderr.write(`update-agent: ${toPrintable(text, 2_000)}\n`);
  }

  printPromptText(text: string): void {
    this.#clear();
    this.stderr.write(`${text}\n`);
  }

  printPlain(text: string): void {
    if (this.json) this.#printLine({ event: 'text', text });
    else this.stdout.write(text);
  }

  /** At most ten times a second and only on a terminal. */
  drawProgress(what: string, done: number, total: number, before: number): void {
    const tenth = (n: number): number => (total === 0 ? 10 : Math.floor((n * 10) / total));
    if (this.json) {
      if (tenth(done) !== tenth(before)) this.#printLine({ event: 'progress', what, done, total });
      return;
    }
    if (this.stderr.isTTY !== true) return;
    const now = Date.now();
    if (done < total && now - this.#drawnAt < REDRAW_INTERVAL_MS) return;
    this.#drawnAt = now;
    this.#draw(formatProgressBar(what, done, total, this.stderr.columns ?? 80));
    if (done >= total) this.#clear();
  }

  #printWarning(text: string): void {
    this.#clear();
    if (this.json) this.#printLine({ event: 'warning', message: text });
    else this.stdout.write(`WARNING: ${toPrintable(text)}\n`);
  }

  #printResult(event: string, fields: Readonly<Record<string, unknown>>, text: string): void {
    this.record(event, fields);
    this.releaseWarnings();
    this.#clear();
    if (this.json) this.#printLine({ event, ...fields });
    else this.stdout.write(`${toPrintable(text)}\n`);
    this.#hasPrintedResult = true;
  }

  #printLine(fields: Readonly<Record<string, unknown>>): void {
    const shown = Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string' ? toPrintable(value, 2_000) : value,
    ]);
    this.stdout.write(`${JSON.stringify(Object.fromEntries(shown))}\n`);
    this.#hasPrintedResult = false;
  }

  #printProgress(text: string): void {
    if (this.stderr.isTTY !== true) return;
    this.#clear();
    this.stderr.write(`${toPrintable(text)}\n`);
  }

  #draw(text: string): void {
    this.stderr.write(`\r${text.padEnd(this.#drawn)}`);
    this.#drawn = text.length;
  }

  #clear(): void {
    if (this.#drawn === 0) return;
    this.stderr.write(`\r${' '.repeat(this.#drawn)}\r`);
    this.#drawn = 0;
  }
}

function formatProgressBar(what: string, done: number, total: number, columns: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const tail = ` ${String(Math.floor(share * 100)).padStart(3)} %  ${formatMebibytes(done)} of ${formatMebibytes(total)} MiB`;
  const width = Math.max(0, Math.min(40, columns - what.length - tail.length - 4));
  const full = Math.round(share * width);
  return `${what} [${'#'.repeat(full)}${'.'.repeat(width - full)}]${tail}`.slice(0, Math.max(1, columns - 1));
}

const formatMebibytes = (bytes: number): string => (bytes / (1024 * 1024)).toFixed(1);
