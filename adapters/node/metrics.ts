/**
 * To bound cardinality, each metric has at most 2,000 label sets; further ones are counted as
 * `other`.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type * as port from '../../ports/metrics.js';

const MAX_LABEL_SETS = 2_000;
/** A hanging store must not block its metrics. */
const GAUGE_TIMEOUT_MS = 2_000;

/** Names that `promtool check metrics` accepts. */
const METRIC_NAME_PATTERN = /^aos_[a-z0-9]+(_[a-z0-9]+)*$/;

type MetricKind = 'counter' | 'gauge' | 'histogram';

export class PrometheusMetrics implements port.Metrics {
  readonly registry = new Registry();
  readonly #known = new Map<string, { kind: MetricKind; handle: unknown }>();

  counter(name: string, help: string, labels: port.LabelValues = {}): port.Counter {
    return this.#getOrCreate(name, 'counter', () => {
      const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers: [this.registry] });
      const fit = createLabelLimiter(labels);
      for (const set of listLabelSets(labels)) counter.inc(fit(set), 0);
      return { inc: (set: port.Labels = {}, by = 1): void => counter.inc(fit(set), by) };
    });
  }

  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    this.#getOrCreate(name, 'gauge', () => {
      const collect = async (): Promise<void> => gauge.set(await readWithTimeout(read, NaN));
      const gauge = new Gauge({ name, help, registers: [this.registry], collect });
      return gauge;
    });
  }

  gauges(
    name: string,
    help: string,
    label: string,
    values: readonly string[],
    read: () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>,
  ): void {
    this.#getOrCreate(name, 'gauge', () => {
      const collect = async (): Promise<void> => {
        const numbers = await readWithTimeout(read, null);
        gauge.reset();
        for (const value of new Set([...values, ...Object.keys(numbers ?? {})]))
          gauge.set({ [label]: value }, numbers === null ? NaN : (numbers[value] ?? 0));
      };
      const gauge = new Gauge({ name, help, labelNames: [label], registers: [this.registry], collect });
      return gauge;
    });
  }

  histogram(name: string, help: string, buckets: readonly number[], labels: port.LabelValues = {}): port.Histogram {
    return this.#getOrCreate(name, 'histogram', () => {
      const histogram = new Histogram({
        name,
        help,
        buckets: [...new Set(buckets)].toSorted((a, b) => a - b),
        labelNames: Object.keys(labels),
        registers: [this.registry],
      });
      const fit = createLabelLimiter(labels);
      for (const set of listLabelSets(labels)) histogram.zero(fit(set));
      return { observe: (value: number, set: port.Labels = {}): void => histogram.observe(fit(set), value) };
    });
  }

  render(): Promise<string> {
    return this.registry.metrics();
  }

  #getOrCreate<T>(name: string, kind: MetricKind, make: () => T): T {
    if (!METRIC_NAME_PATTERN.test(name)) throw new TypeError(`not a metric name: ${name} (must start with aos_)`);
    if (name.endsWith('_total') !== (kind === 'counter'))
      throw new TypeError(`${name}: names of counters, and only those, must end in _total`);
    const known = this.#known.get(name);
    if (known === undefined) {
      const handle = make();
      this.#known.set(name, { kind, handle });
      return handle;
    }
    if (known.kind !== kind) throw new TypeError(`${name} is a ${known.kind}`);
    return known.handle as T;
  }
}

function listLabelSets(labels: port.LabelValues): port.Labels[] {
  return Object.entries(labels).reduce<port.Labels[]>(
    (sets, [label, values]) => sets.flatMap((set) => values.map((value) => ({ ...set, [label]: value }))),
    [{}],
  );
}

function createLabelLimiter(labels: port.LabelValues): (set: port.Labels) => port.Labels {
  const names = Object.keys(labels);
  const other = Object.fromEntries(names.map((name) => [name, 'other']));
  const seen = new Set<string>();
  return (set) => {
    let key = '';
    for (const name of names) key += `\0${set[name]}`;
    if (seen.has(key)) return set;
    if (seen.size >= MAX_LABEL_SETS) return other;
    seen.add(key);
    return set;
  };
}

async function readWithTimeout<T, N>(read: () => T | Promise<T>, none: N): Promise<T | N> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<N>((resolve) => {
    timer = setTimeout(() => resolve(none), GAUGE_TIMEOUT_MS);
  });
  try {
    return await Promise.race([read(), late]);
  } catch {
    // An unreadable gauge reports NaN; the others must still be exported.
    return none;
  } finally {
    clearTimeout(timer);
  }
}
