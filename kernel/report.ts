import type { Clock } from '../ports/clock.js';

interface Line {
  name: string;
  ms: number;
  note: string;
  steps: Line[];
}

export class BootReport {
  readonly #began: number;
  readonly #phases: Line[] = [];

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {
    this.#began = clock.monotonic();
  }

  get ms(): number {
    return Math.round(this.clock.monotonic() - this.#began);
  }

  async phase(name: string, work: () => Promise<string | void>): Promise<void> {
    await this.#time(this.#phases, name, work);
  }

  async step(name: string, work: () => Promise<string | void>): Promise<void> {
    await this.#time(this.#phases.at(-1)?.steps ?? [], name, work);
  }

  async #time(lines: Line[], name: string, work: () => Promise<string | void>): Promise<void> {
    const line: Line = { name, ms: 0, note: '', steps: [] };
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
    return [`boot ${this.ms} ms`, ...draw(this.#phases)].join('\n');
  }
}

function draw(lines: readonly Line[]): string[] {
  return lines.flatMap(({ name, ms, note, steps }, i) => {
    const last = i === lines.length - 1;
    const head = `${last ? '└── ' : '├── '}${name} ${ms} ms${note === '' ? '' : `  ${note}`}`;
    return [head, ...draw(steps).map((line) => `${last ? '    ' : '│   '}${line}`)];
  });
}
