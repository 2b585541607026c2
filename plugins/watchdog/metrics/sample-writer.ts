/**
 * Storage of samples. The monitor stores the newest ones as text (`tail`) within the write of its
 * heartbeat. A full tail becomes a chunk and is added to its hour; a finished hour becomes a
 * rollup.
 *
 * Order of writes: chunk and rollup under derived ids, then the monitor with a new tail. After a
 * crash in between, readers skip what the monitor still contains, and the next heartbeat writes it
 * again. An outdated process never replaces a larger chunk.
 */
import { HOUR_MS } from '../../../lib/time.js';
import { StoreConflict, type Collection, type Update } from '../../../ports/store/index.js';
import type { WatchdogDeps } from '../deps.js';
import type { ChunkDoc, HourStats, MonitorDoc, RollupDoc, SampleRow, MetricStats } from '../model/documents.js';
import { addSample } from './running-stats.js';

export const MAX_METRIC_NAMES = 200;
export const MAX_TAIL_CHARACTERS = 800;

export const getChunkId = (series: string, chunk: number): string => `${series}:${chunk}`;
export const getRollupId = (series: string, hour: number): string => `${series}:${hour}`;
export const parseRows = (text: string): SampleRow[] => JSON.parse(`[${text}]`) as SampleRow[];
export const parseHour = ({ hour }: Pick<MonitorDoc, 'hour'>): HourStats | null =>
  hour === null ? null : (JSON.parse(hour) as HourStats);

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
    if (index < 0 && all.length >= MAX_METRIC_NAMES) {
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
    if (other || next.tail.length + values.length > MAX_TAIL_CHARACTERS) await flushTail(stores, next);
  }
  if (next.tail === '') {
    next.tail_base = now;
    next.tail = `[0${values}]`;
  } else next.tail += `,[${now - next.tail_base}${values}]`;
}

/** A finished hour is written, an earlier one resumed. */
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
      await saveLargest(rollups, { id: getRollupId(series, held.hour), series, ...held, size: countStats(held.rows) });
    }
    held = { hour, rows: (await rollups.get(getRollupId(series, hour)))?.rows ?? [] };
  }
  const times = rows.map(([offset]) => tail_base + (offset as number));
  await saveLargest(chunks, {
    id: getChunkId(series, next.chunk),
    series,
    from: Math.min(...times),
    to: Math.max(...times),
    base: tail_base,
    rows: tail,
    size: tail.length,
  });
  next.hour = JSON.stringify({ hour, rows: addRowsToStats(held.rows, rows, tail_base - hour * HOUR_MS) });
  next.tail = '';
  next.chunk += 1;
}

/** @param base in ms after the hour began */
export function addRowsToStats(
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

async function saveLargest<T extends ChunkDoc | RollupDoc>(collection: Collection<T>, doc: T): Promise<void> {
  try {
    await collection.insert(doc);
  } catch (error) {
    if (!(error instanceof StoreConflict)) throw error;
    const { id, ...set } = doc;
    await collection.change({ id, size: { lt: doc.size } }, { set: set as unknown as NonNullable<Update['set']> });
  }
}
