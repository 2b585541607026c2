/**
 * Where samples go. The newest are kept in the monitor itself (`tail`), in the write that every heartbeat makes anyway;
 * a full tail becomes one chunk and goes into the statistics of its hour, an hour that ended becomes one rollup. So a
 * sample costs no write of its own, and 14 days at one minute are some 1,000 chunks and 336 rollups. The tail is text:
 * the store carries it along with every heartbeat and need not read a hundred numbers to do so.
 *
 * Rejected: a document per heartbeat (a second insert with two indexes each time, and 20,160 documents to read for 14
 * days), a document per hour (rewritten 3,600 times by a monitor that beats every second), statistics kept with every
 * heartbeat (they were most of what it wrote; a reader adds up the few rows of the tail by itself).
 *
 * Order: chunk and rollup under ids that follow from the monitor → the monitor, which starts a new tail. A crash
 * between leaves both; readers leave out the chunk and the hour that the monitor still holds, and the next heartbeat
 * writes them again. A process that knows an older state of the monitor may write an older chunk: it never replaces a
 * larger one, because tails of one number only grow.
 */
import { HOUR_MS } from '../../../lib/time.js';
import { StoreConflict, type Collection, type Update } from '../../../ports/store.js';
import type { WatchdogDeps } from '../deps.js';
import type { ChunkDoc, HourStats, MonitorDoc, RollupDoc, SampleRow, MetricStats } from '../model/documents.js';
import { addSample } from './stats.js';

/** Metrics of one monitor. */
export const MAX_NAMES = 200;
/** Some 20 heartbeats of four metrics; short enough that a monitor's row seldom outgrows its page. */
export const TAIL_CHARS = 800;

export const getChunkId = (series: string, chunk: number): string => `${series}:${chunk}`;
export const getRollupId = (series: string, hour: number): string => `${series}:${hour}`;
export const parseRows = (text: string): SampleRow[] => JSON.parse(`[${text}]`) as SampleRow[];
export const parseHour = ({ hour }: Pick<MonitorDoc, 'hour'>): HourStats | null =>
  hour === null ? null : (JSON.parse(hour) as HourStats);

/** Puts names to indexes, within the cap of the monitor. */
export function indexSamples(
  names: readonly string[],
  samples: readonly [string, number][],
): { names: string[] | null; pairs: [index: number, value: number][]; dropped: string[] } {
  let grown: string[] | null = null;
  const pairs: [number, number][] = [];
  const dropped: string[] = [];
  for (const [name, value] of samples) {
    const all: readonly string[] = grown ?? names;
    let index = all.indexOf(name);
    if (index < 0 && all.length >= MAX_NAMES) {
      dropped.push(name);
      continue;
    }
    if (index < 0) {
      grown = [...all, name];
      index = all.length;
    }
    pairs.push([index, value]);
  }
  return { names: grown, pairs, dropped };
}

/**
 * Adds the samples to `next`, and writes what is full or belongs to another hour (the clock may have been set back).
 */
export async function appendSamples(
  stores: Pick<WatchdogDeps, 'chunks' | 'rollups'>,
  next: MonitorDoc,
  pairs: readonly [index: number, value: number][],
  now: number,
): Promise<void> {
  if (pairs.length === 0) return;
  let values = '';
  for (const [index, value] of pairs) values += `,${index},${value}`;
  if (next.tail !== '') {
    const other = Math.floor(now / HOUR_MS) !== Math.floor(next.tail_base / HOUR_MS);
    if (other || next.tail.length + values.length > TAIL_CHARS) await flushTail(stores, next);
  }
  if (next.tail === '') {
    next.tail_base = now;
    next.tail = `[0${values}]`;
  } else next.tail += `,[${now - next.tail_base}${values}]`;
}

/**
 * The tail becomes a chunk and part of its hour; an hour that ended is written, one that was left is taken up again.
 */
async function flushTail(
  { chunks, rollups }: Pick<WatchdogDeps, 'chunks' | 'rollups'>,
  next: MonitorDoc,
): Promise<void> {
  const { series, tail, tail_base } = next;
  const rows = parseRows(tail);
  const hour = Math.floor(tail_base / HOUR_MS);
  let held = parseHour(next);
  if (held?.hour !== hour) {
    if (held !== null) {
      await keepLargest(rollups, { id: getRollupId(series, held.hour), series, ...held, size: countStats(held.rows) });
    }
    held = { hour, rows: (await rollups.get(getRollupId(series, hour)))?.rows ?? [] };
  }
  const times = rows.map(([offset]) => tail_base + (offset as number));
  await keepLargest(chunks, {
    id: getChunkId(series, next.chunk),
    series,
    from: Math.min(...times),
    to: Math.max(...times),
    base: tail_base,
    rows: tail,
    size: tail.length,
  });
  next.hour = JSON.stringify({ hour, rows: foldRows(held.rows, rows, tail_base - hour * HOUR_MS) });
  next.tail = '';
  next.chunk += 1;
}

/** @param base of the rows' times, in ms after the hour began */
export function foldRows(
  known: readonly (MetricStats | null)[],
  rows: readonly SampleRow[],
  base: number,
): (MetricStats | null)[] {
  const stats = [...known];
  for (const row of rows) {
    for (let i = 1; i < row.length; i += 2) {
      const index = row[i] as number;
      while (stats.length < index) stats.push(null);
      stats[index] = addSample(stats[index], row[i + 1] as number, base + (row[0] as number));
    }
  }
  return stats;
}

export const countStats = (rows: readonly (MetricStats | null)[]): number =>
  rows.reduce((sum, one) => sum + (one?.[0] ?? 0), 0);

async function keepLargest<T extends ChunkDoc | RollupDoc>(collection: Collection<T>, doc: T): Promise<void> {
  try {
    await collection.insert(doc);
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error;
    const { id, ...set } = doc;
    await collection.change({ id, size: { lt: doc.size } }, { set: set as unknown as NonNullable<Update['set']> });
  }
}
