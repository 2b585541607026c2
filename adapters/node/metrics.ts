/**
 * Numbers for `GET /metrics`, in Prometheus' text format 0.0.4. Our own hundred lines and not a library: three kinds of
 * numbers are used, prom-client brings collectors of the process, a global registry and its dependency for tracing.
 *
 * Labels are our own words. As a guard against a label that is not, one metric keeps at most 500 label sets; further
 * ones are counted together under `other`.
 */
import type { Metrics } from '../../ports/metrics.js';

type Labels = Record<string, string>;
interface Family {
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  lines(): Promise<string[]> | string[];
}

const MAX_SETS = 500;

const escape = (value: string): string => value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"');
const number = (value: number): string =>
  value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : Number.isNaN(value) ? 'NaN' : String(value);

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([name, value]) => `${name}="${escape(value)}"`).join(',');
}
const braces = (text: string): string => (text === '' ? '' : `{${text}}`);

/** The state of one label set, created at most `MAX_SETS` times. */
function slot<T>(sets: Map<string, T>, labels: Labels, make: () => T): [key: string, state: T] {
  let key = labelText(labels);
  if (!sets.has(key) && sets.size >= MAX_SETS) {
    key = labelText(Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])));
  }
  let state = sets.get(key);
  if (state === undefined) sets.set(key, (state = make()));
  return [key, state];
}

export class PrometheusMetrics implements Metrics {
  private readonly families = new Map<string, Family>();
  private readonly handles = new Map<string, unknown>();

  counter(name: string, help: string): { inc(labels?: Labels, by?: number): void } {
    return this.register(name, 'counter', () => {
      const sets = new Map<string, { value: number }>();
      this.families.set(name, {
        help,
        type: 'counter',
        lines: () => [...sets].map(([labels, { value }]) => `${name}${braces(labels)} ${number(value)}`),
      });
      return {
        inc: (labels: Labels = {}, by = 1): void => {
          if (!(by >= 0)) throw new RangeError('a counter only rises');
          slot(sets, labels, () => ({ value: 0 }))[1].value += by;
        },
      };
    });
  }

  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    this.register(name, 'gauge', () => {
      this.families.set(name, { help, type: 'gauge', lines: async () => [`${name} ${number(await read())}`] });
      return true;
    });
  }

  histogram(name: string, help: string, buckets: readonly number[]): { observe(value: number, labels?: Labels): void } {
    return this.register(name, 'histogram', () => {
      const bounds = [...new Set(buckets)].filter(Number.isFinite).toSorted((a, b) => a - b);
      const sets = new Map<string, { counts: number[]; sum: number; count: number }>();
      this.families.set(name, { help, type: 'histogram', lines: () => histogramLines(name, bounds, sets) });
      return {
        observe: (value: number, labels: Labels = {}): void => {
          const [, state] = slot(sets, labels, () => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }));
          const at = bounds.findIndex((bound) => value <= bound);
          if (at >= 0) state.counts[at] = (state.counts[at] ?? 0) + 1;
          state.sum += value;
          state.count += 1;
        },
      };
    });
  }

  async render(): Promise<string> {
    const parts = await Promise.all(
      [...this.families].map(async ([name, family]) => {
        const head = `# HELP ${name} ${family.help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n# TYPE ${name} ${family.type}\n`;
        try {
          return `${head}${(await family.lines()).map((line) => `${line}\n`).join('')}`;
        } catch {
          // A gauge that cannot be read says so by its absence of a number; the others must still be told.
          return `${head}${name} NaN\n`;
        }
      }),
    );
    return parts.join('');
  }

  /** The same name again is the same metric; as another kind it is a programming error. */
  private register<T>(name: string, type: Family['type'], make: () => T): T {
    if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new TypeError(`not a metric's name: ${name}`);
    const known = this.families.get(name);
    if (known && known.type !== type) throw new TypeError(`${name} is a ${known.type}`);
    if (!known) this.handles.set(name, make());
    return this.handles.get(name) as T;
  }
}

function histogramLines(
  name: string,
  bounds: readonly number[],
  sets: Map<string, { counts: number[]; sum: number; count: number }>,
): string[] {
  return [...sets].flatMap(([labels, { counts, sum, count }]) => {
    const comma = labels === '' ? '' : ',';
    let below = 0;
    const lines = bounds.map((bound, i) => {
      below += counts[i] ?? 0;
      return `${name}_bucket{${labels}${comma}le="${number(bound)}"} ${below}`;
    });
    lines.push(`${name}_bucket{${labels}${comma}le="+Inf"} ${count}`);
    lines.push(`${name}_sum${braces(labels)} ${number(sum)}`, `${name}_count${braces(labels)} ${count}`);
    return lines;
  });
}
