import type { Clock } from '../ports/clock.js';

interface ReportLine {
  name: string;
  ms: number;
  note: string;
  steps: ReportLine[];
}

export class BootReport {
  readonly #began: number;
  readonly #phases: ReportLine[] = [];

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {
    this.#began = clock.monotonic();
  }

  get ms(): number {
    return Math.round(this.clock.monotonic() - this.#began);
  }

  async runPhase(name: string, work: () => Promise<string | void>): Promise<void> {
    await this.#measure(this.#phases, name, work);
  }

  async runStep(name: string, work: () => Promise<string | void>): Promise<void> {
    await this.#measure(this.#phases.at(-1)?.steps ?? [], name, work);
  }

  async #measure(lines: ReportLine[], name: string, work: () => Promise<string | void>): Promise<void> {
    const line: ReportLine = { name, ms: 0, note: '', steps: [] };
    lines.push(line);
    const began = this.clock.monotonic();
    try {
      line.note = (await work()) ?? '';
    } catch (error) {
      line.note = 'failed';
      throw error;
    } finally {
      line.ms = Math.round(this.clock.monotonic() - began);
    }
  }

  toString(): string {
    return [`boot ${this.ms} ms`, ...formatTree(this.#phases)].join('\n');
  }
}

function formatTree(lines: readonly ReportLine[]): string[] {
  return lines.flatMap(({ name, ms, note, steps }, i) => {
    const last = i === lines.length - 1;
    const head = `${last ? '└── ' : '├── '}${name} ${ms} ms${note === '' ? '' : `  ${note}`}`;
    return [head, ...formatTree(steps).map((line) => `${last ? '    ' : '│   '}${line}`)];
  });
}
