/**
 * Prints stdout lines for scripts, or JSON lines with `--json`; errors and progress on stderr
 * (contract 90, exit codes). Control characters of external texts are removed here. Rejected: a
 * progress library, five packages for one redrawn line.
 */
import { printable } from '../../lib/text/printable.js';

export interface Sink {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export type Recorder = (event: string, fields: Readonly<Record<string, unknown>>) => void;

const REDRAW_MS = 100;

export class Output {
  /**
   * Warnings wait until the package's server has accepted the credentials: `UNAUTHORIZED:` must
   * begin the output of exit 2.
   */
  #held: string[] | null = [];
  #drawn = 0;
  #drawnAt = 0;
  #saidOutcome = false;
  record: Recorder = () => {};

  constructor(
    readonly stdout: Sink,
    readonly stderr: Sink,
    readonly json: boolean,
  ) {}

  warning(text: string): void {
    this.record('warning', { message: text });
    if (this.#held === null) this.#warn(text);
    else this.#held.push(text);
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const text of held) this.#warn(text);
  }

  upToDate(version: string): void {
    this.#result('up_to_date', { version }, `UP_TO_DATE: ${version}`);
  }

  updated(from: string | null, to: string): void {
    this.#result('updated', { from, to }, `UPDATED: ${from ?? 'none'} -> ${to}`);
  }

  rolledBack(to: string | null, from: string): void {
    const text = `ROLLED_BACK: ${from} -> ${to ?? 'none'}`;
    this.#result('rolled_back', { from, to }, text);
  }

  monitored(source: string, script: string, schedule: string | null): void {
    const how = schedule === null ? 'no schedule' : `scheduled ${schedule}`;
    this.#result('monitored', { source, script, schedule }, `MONITORED: ${source} by ${script}, ${how}`);
  }

  scheduled(name: string, scheduler: string): void {
    this.#result('scheduled', { name, scheduler }, `SCHEDULED: ${name} by ${scheduler}, every night`);
  }

  unauthorized(text: string): void {
    this.record('unauthorized', { message: text });
    this.#clear();
    if (this.json) this.#line({ event: 'unauthorized', message: text });
    else this.stdout.write(`UNAUTHORIZED: ${printable(text)}\n`);
    this.release();
    if (this.json) this.#line({ event: 'failed', outcome: 'unauthorized', exit_code: 2, message: text });
  }

  /** Ends a successful run: with `--json` the last line reports it, unless a result did. */
  done(): void {
    this.release();
    if (this.json && !this.#saidOutcome) this.#line({ event: 'done', outcome: 'done', exit_code: 0 });
  }

  note(event: string, fields: Readonly<Record<string, unknown>>, text: string): void {
    this.record(event, fields);
    if (this.json) this.#line({ event, ...fields });
    else this.#progressLine(text);
  }

  /** Printed on every run, even without a terminal, because the old content has moved. */
  userFileKept(path: string, keptAs: string): void {
    const fields = { path, kept_as: keptAs };
    this.record('user_file_kept', fields);
    if (this.json) this.#line({ event: 'user_file_kept', ...fields });
    else this.say(`${printable(path)} was changed on this machine: it is kept as ${printable(keptAs)}`);
  }

  failed(outcome: string, code: number, text: string): void {
    this.record('failed', { outcome, exit_code: code, message: text });
    this.release();
    this.#clear();
    if (this.json) this.#line({ event: 'failed', outcome, exit_code: code, message: text });
    else this.stderr.write(`update-agent: ${printable(text, 2_000)}\n`);
  }

  say(text: string): void {
    this.#clear();
    this.stderr.write(`${text}\n`);
  }

  plain(text: string): void {
    if (this.json) this.#line({ event: 'text', text });
    else this.stdout.write(text);
  }

  /**
   * Draws at most ten times a second and only on a terminal; `--json` prints an event for each
   * tenth.
   */
  progress(what: string, done: number, total: number, before: number): void {
    const tenth = (n: number): number => (total === 0 ? 10 : Math.floor((n * 10) / total));
    if (this.json) {
      if (tenth(done) !== tenth(before)) this.#line({ event: 'progress', what, done, total });
      return;
    }
    if (this.stderr.isTTY !== true) return;
    const now = Date.now();
    if (done < total && now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    this.#draw(bar(what, done, total, this.stderr.columns ?? 80));
    if (done >= total) this.#clear();
  }

  #warn(text: string): void {
    this.#clear();
    if (this.json) this.#line({ event: 'warning', message: text });
    else this.stdout.write(`WARNING: ${printable(text)}\n`);
  }

  #result(event: string, fields: Readonly<Record<string, unknown>>, text: string): void {
    this.record(event, fields);
    this.release();
    this.#clear();
    if (this.json) this.#line({ event, ...fields });
    else this.stdout.write(`${printable(text)}\n`);
    this.#saidOutcome = true;
  }

  #line(fields: Readonly<Record<string, unknown>>): void {
    const shown = Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string' ? printable(value, 2_000) : value,
    ]);
    this.stdout.write(`${JSON.stringify(Object.fromEntries(shown))}\n`);
    this.#saidOutcome = false;
  }

  #progressLine(text: string): void {
    if (this.stderr.isTTY !== true) return;
    this.#clear();
    this.stderr.write(`${printable(text)}\n`);
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

function bar(what: string, done: number, total: number, columns: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const tail = ` ${String(Math.floor(share * 100)).padStart(3)} %  ${mebibytes(done)} of ${mebibytes(total)} MiB`;
  const width = Math.max(0, Math.min(40, columns - what.length - tail.length - 4));
  const full = Math.round(share * width);
  return `${what} [${'#'.repeat(full)}${'.'.repeat(width - full)}]${tail}`.slice(0, Math.max(1, columns - 1));
}

const mebibytes = (bytes: number): string => (bytes / (1024 * 1024)).toFixed(1);
