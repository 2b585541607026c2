import { printable } from '../../lib/text/printable.js';

const BAR = 30;
const EVERY_MS = 100;

export interface ConsoleStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export class Console {
  #shownAt = 0;
  #open = false;

  constructor(
    private readonly json: boolean,
    private readonly out: ConsoleStream,
    private readonly err: ConsoleStream,
  ) {}

  line(text: string): void {
    this.#clear();
    if (!this.json) this.out.write(`${printable(text, 2_000)}\n`);
  }

  warning(text: string): void {
    this.#clear();
    if (!this.json) this.err.write(`WARNING: ${printable(text, 2_000)}\n`);
  }

  error(text: string): void {
    this.#clear();
    if (!this.json) this.err.write(`${printable(text, 2_000)}\n`);
  }

  result(value: object): void {
    if (this.json) this.out.write(`${JSON.stringify(value)}\n`);
  }

  progress(what: string, done: number, total: number): void {
    if (this.json || !this.err.isTTY) return;
    const now = Date.now();
    if (done < total && now - this.#shownAt < EVERY_MS) return;
    this.#shownAt = now;
    const share = total === 0 ? 1 : done / total;
    const bar = '█'.repeat(Math.round(share * BAR)).padEnd(BAR, '░');
    this.err.write(
      `\r${what} ${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${sizeText(done)} of ${sizeText(total)}  `,
    );
    this.#open = true;
  }

  #clear(): void {
    if (this.#open) this.err.write('\r\x1b[2K');
    this.#open = false;
  }
}

export function sizeText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
