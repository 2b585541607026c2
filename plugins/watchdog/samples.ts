/**
 * Where samples go. The newest stand in the monitor itself (`tail`), in the write that every heartbeat makes anyway; a full
 * tail becomes one chunk, an hour that ended one rollup. So a sample costs no write of its own, and 14 days at one minute
 * are some 1,000 chunks. Rejected: a document per heartbeat (a second insert with two indexes each time, and 20,160 documents
 * to read for 14 days), and a document per hour (rewritten 3,600 times by a monitor that beats every second).
 *
 * Order: chunk and rollup under ids that follow from the monitor → the monitor, which starts anew. A crash between leaves
 * both; readers leave out the chunk and the hour that the monitor still holds, and the next heartbeat writes them again.
 */
import type { Json, Update } from '../../ports/store.js';
import type { Deps } from './deps.js';
import { MAX_NAMES } from './heartbeat.js';
import type { MonitorDoc, Row, Stats } from './model.js';
import { sampled } from './stats.js';

export const HOUR_MS = 3_600_000;
/** Short enough that a monitor's row seldom outgrows its page. */
export const TAIL_ROWS = 20;
const TAIL_VALUES = 160;

export const chunkId = (series: string, chunk: number): string => `${series}:${chunk}`;
export const rollupId = (series: string, hour: number): string => `${series}:${hour}`;

/** Puts names to indexes, within the cap of the monitor. */
export function indexed(
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

/** Adds the samples to `next`, writes what is full, and answers what goes into the monitor's own write. */
export async function append(
  { chunks, rollups }: Pick<Deps, 'chunks' | 'rollups'>,
  next: MonitorDoc,
  pairs: readonly [index: number, value: number][],
  now: number,
): Promise<Pick<Update, 'set' | 'push'>> {
  if (pairs.length === 0) return {};
  next.hour = await hourOf(rollups, next, now);
  const { hour, rows } = next.hour;
  const stats: (Stats | null)[] = [...rows];
  for (const [index, value] of pairs) {
    while (stats.length < index) stats.push(null);
    stats[index] = sampled(stats[index], value, now - hour * HOUR_MS);
  }
  next.hour = { hour, rows: stats };

  const full = next.tail.length >= TAIL_ROWS || next.tail_values + pairs.length > TAIL_VALUES;
  if (full && next.tail.length > 0) {
    await flushTail(chunks, next);
    next.tail = [];
    next.chunk += 1;
  }
  const restart = next.tail.length === 0;
  if (restart) {
    next.tail_base = now;
    next.tail_values = 0;
  }
  const row: Row = [now - next.tail_base];
  for (const [index, value] of pairs) row.push(index, value);
  next.tail = [...next.tail, row];
  next.tail_values += pairs.length;
  return restart ? { set: { tail: [row] } } : { push: { tail: { each: [row] } } };
}

/** The hour that is being filled; one that ended is written first, and one that was left (the clock went back) is taken up again. */
async function hourOf(
  rollups: Deps['rollups'],
  doc: MonitorDoc,
  now: number,
): Promise<NonNullable<MonitorDoc['hour']>> {
  const hour = Math.floor(now / HOUR_MS);
  if (doc.hour?.hour === hour) return doc.hour;
  if (doc.hour !== null) {
    const { hour: ended, rows } = doc.hour;
    const set = { series: doc.series, hour: ended, rows: rows as Json };
    await rollups.change({ id: rollupId(doc.series, ended) }, { set }, { upsert: true });
  }
  const known = await rollups.get(rollupId(doc.series, hour));
  return { hour, rows: known?.rows ?? [] };
}

async function flushTail(chunks: Deps['chunks'], { series, chunk, tail, tail_base }: MonitorDoc): Promise<void> {
  const times = tail.map(([offset]) => tail_base + (offset as number));
  const set = { series, from: Math.min(...times), to: Math.max(...times), base: tail_base, rows: tail as Json };
  await chunks.change({ id: chunkId(series, chunk) }, { set }, { upsert: true });
}
