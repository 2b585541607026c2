import { toPrintable } from '../../lib/text/printable.js';

const BAR_WIDTH = 30;
const REDRAW_INTERVAL_MS = 100;

export interface ConsoleStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export class PackagerConsole {
  #shownAt = 0;
  #open = false;

  constructor(
    private readonly json: boolean,
    private readonly out: ConsoleStream,
    private readonly err: ConsoleStream,
  ) {}

  printLine(text: string): void {
    this.#clear();
    if (!this.json) this.out.write(`${toPrintable(text, 2_000)}\n`);
  }

  printWarning(text: string): void {
    this.#clear();
    if (!this.json) this.err.write(`WARNING: ${toPrintable(text, 2_000)}\n`);
  }

  printError(text: string): void {
    this.#clear();
    if (!this.json) this.err.write(`${toPrintable(text, 2_000)}\n`);
  }

  printResult(value: object): void {
    if (this.json) this.out.write(`${JSON.stringify(value)}\n`);
  }

  drawProgress(what: string, done: number, total: number): void {
    if (this.json || !this.err.isTTY) return;
    const now = Date.now();
    if (done < total && now - this.#shownAt < REDRAW_INTERVAL_MS) return;
    this.#shownAt = now;
    const share = total === 0 ? 1 : done / total;
    const bar = '█'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '░');
    this.err.write(
      `\r${what} ${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${formatSize(done)} of ${formatSize(total)}  `,
    );
    this.#open = true;
  }

  #clear(): void {
    if (this.#open) this.err.write('\r\x1b[2K');
    this.#open = false;
  }
}

export function formatSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
