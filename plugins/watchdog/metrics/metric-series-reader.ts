/** Each sample once: chunks with the monitor's tail, rollups with its current hour. */
import type { FindQuery, Collection } from '../../../ports/store/index.js';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { iteratePages } from '../../../lib/paging.js';
import { HOUR_MS } from '../../../lib/time.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';
import { DEPS } from '../deps.js';
import type { MonitorDoc, RollupDoc, SampleRow, MetricStats, ChunkDoc } from '../model/documents.js';
import { getChunkId, parseHour, parseRows } from './sample-writer.js';

const PAGE_SIZE = 500;
const MAX_SPARKLINE_CHUNKS = 4;
const SLICE_ROWS = 20_000;

export interface SeriesSink {
  /** @param at in ms since 1970 */
  addSample(index: number, value: number, at: number): void;
  addHour(index: number, stats: MetricStats, hourStart: number): void;
}

@injectable()
export class MetricSeriesReader {
  constructor(
    @inject(DEPS.chunks) private readonly chunks: Collection<ChunkDoc>,
    @inject(DEPS.rollups) private readonly rollups: Collection<RollupDoc>,
  ) {}

  /** @param docs at most 200 */
  async readNewest(docs: readonly MonitorDoc[]): Promise<Map<string, SampleRow[]>> {
    const idsOf = ({ series, chunk }: MonitorDoc): string[] =>
      [...Array(MAX_SPARKLINE_CHUNKS).keys()].map((n) => getChunkId(series, chunk - MAX_SPARKLINE_CHUNKS + n));
    const ids = docs.filter(({ chunk }) => chunk > 0).flatMap(idsOf);
    const page = await this.chunks.find({
      filter: { id: { in: ids } },
      limit: docs.length * MAX_SPARKLINE_CHUNKS || 1,
    });
    const full = new Map(page.items.map(({ id, rows }) => [id, parseRows(rows)]));
    return new Map(
      docs.map((doc) => [doc.id, [...idsOf(doc).flatMap((id) => full.get(id) ?? []), ...parseRows(doc.tail)]]),
    );
  }

  async readSamples(doc: MonitorDoc, from: number, to: number, sink: SeriesSink['addSample']): Promise<void> {
    const held = getChunkId(doc.series, doc.chunk);
    let seen = 0;
    const since: FindQuery = {
      filter: { series: doc.series, to: { gte: from } },
      sort: [['to', 'asc']],
      limit: PAGE_SIZE,
    };
    for await (const chunks of iteratePages(this.chunks, since)) {
      for (const chunk of chunks) {
        if (chunk.id === held || chunk.from > to) continue;
        seen += readRows(parseRows(chunk.rows), chunk.base, from, to, sink);
        if (seen < SLICE_ROWS) continue;
        await yieldToEventLoop();
        seen = 0;
      }
    }
    readRows(parseRows(doc.tail), doc.tail_base, from, to, sink);
  }

  /**
   * Whole hours as statistics, both ends as samples: exact, and 14 days need about 336 documents.
   */
  async readHours(doc: MonitorDoc, from: number, to: number, sink: SeriesSink): Promise<void> {
    const first = Math.ceil(from / HOUR_MS);
    const end = Math.floor((to + 1) / HOUR_MS);
    if (first >= end) return this.readSamples(doc, from, to, (index, value, at) => sink.addSample(index, value, at));
    await this.readSamples(doc, from, first * HOUR_MS - 1, (index, value, at) => sink.addSample(index, value, at));
    await this.#readRollups(doc, first, end, sink);
    await this.readSamples(doc, end * HOUR_MS, to, (index, value, at) => sink.addSample(index, value, at));
  }

  async #readRollups(doc: MonitorDoc, first: number, end: number, sink: SeriesSink): Promise<void> {
    const held = parseHour(doc);
    const filter = { series: doc.series, hour: { gte: first, lt: end } };
    const page = await this.rollups.find({ filter, sort: [['hour', 'asc']], limit: 1_000 });
    for (const rollup of page.items) if (rollup.hour !== held?.hour) addHourToSink(rollup, sink);
    if (held !== null && held.hour >= first && held.hour < end) addHourToSink(held, sink);
    readRows(parseRows(doc.tail), doc.tail_base, first * HOUR_MS, end * HOUR_MS - 1, (index, value, at) =>
      sink.addSample(index, value, at),
    );
  }
}

function readRows(
  rows: readonly SampleRow[],
  base: number,
  from: number,
  to: number,
  sink: SeriesSink['addSample'],
): number {
  for (const row of rows) {
    const at = base + (row[0] as number);
    if (at < from || at > to) continue;
    for (let i = 1; i < row.length; i += 2) sink(row[i] as number, row[i + 1] as number, at);
  }
  return rows.length;
}

function addHourToSink({ hour, rows }: Pick<RollupDoc, 'hour' | 'rows'>, sink: SeriesSink): void {
  for (const [index, stats] of rows.entries()) if (stats) sink.addHour(index, stats, hour * HOUR_MS);
}
