/**
 * What a process of an earlier version writes into a store that is migrated already: during an upgrade that rolls, and
 * after a way back (contract 95, a bad day). It knows neither all texts that `q` searches nor the marks of versions and
 * hosts, so its items would not be found by them. A job of this version looks through what was written since it looked
 * last, and adds what is missing, as the migrations have done for all before (docs/operations.md).
 *
 * Items are looked at in the order of their last change, occurrences in that of their arrival. How far it came is
 * stored, so that a long look goes on where it was cut off.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { pages } from '../../../lib/paging.js';
import { isoOf, MINUTE_MS } from '../../../lib/time.js';
import type { Collection, Update } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { addedMarks, MOST_MARKS, type SeenPlace } from '../item/place-marks.js';
import type { CatchUpDoc } from '../item/work-documents.js';
import { isShort } from '../text/search-text.js';
import { Commit } from './commit.js';
import { tellPlaces, withSaid } from './older-words.js';
import { markUnmarked, placesOf } from './place-marks.js';
import { Words } from './words.js';

const BATCH = 200;
/** Clocks of processes differ, and a write takes time. */
const MARGIN_MS = MINUTE_MS;
const ID = 'older-writes';

type Reached = Pick<CatchUpDoc, 'items_until' | 'occurrences_until'>;

/** At the migration: what was there before is whole. */
export async function beginCatchUp(catchUps: Collection<CatchUpDoc>, now: string): Promise<void> {
  const set = { items_until: now, occurrences_until: now };
  await catchUps.change({ id: ID }, { setOnInsert: set }, { upsert: true });
}

@injectable()
export class OlderWrites {
  /** This process has looked to the end once. */
  #caughtUp = false;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Commit) private readonly commit: Commit,
    @inject(Words) private readonly words: Words,
  ) {}

  /** Looks through what was written since the last time. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    const { catchUps, clock } = this.deps;
    const now = isoOf(clock.now());
    // Where one process serves the store at a time, only one before this one can have been of an earlier version.
    if (!this.commit.isTogether || !this.#caughtUp) {
      const known = await catchUps.get(ID);
      await this.#items(from(known?.items_until), now, signal);
      if (signal?.aborted !== true) await this.#occurrences(from(known?.occurrences_until), now, signal);
      if (signal?.aborted === true) return;
      this.#caughtUp = true;
    }
    await this.#reached({ items_until: now, occurrences_until: now });
  }

  async #items(since: string, now: string, signal?: AbortSignal): Promise<void> {
    const { items, occurrences, log } = this.deps;
    for await (const page of pages(items, between('updated_at', since, now))) {
      await tellPlaces(
        this.deps,
        page.filter(({ search_text }) => isShort(search_text)),
      );
      for (const id of await withSaid(this.deps, page)) await this.words.renew(id);
      await markUnmarked(page, items, occurrences, log);
      for (const item of page)
        if (item.version_marks !== undefined) await this.#mark(item, [{ app_version: item.last_build }]);
      const last = page.at(-1);
      if (signal?.aborted !== true || last === undefined) continue;
      await this.#reached({ items_until: last.updated_at });
      return;
    }
  }

  /** Versions and hosts of occurrences that were kept. */
  async #occurrences(since: string, now: string, signal?: AbortSignal): Promise<void> {
    const { items, occurrences, log } = this.deps;
    for await (const page of pages(occurrences, between('received_at', since, now))) {
      const ids = [...new Set(page.map(({ item_id }) => item_id))];
      const found = await items.find({ filter: { id: { in: ids } }, limit: BATCH });
      const seen = await placesOf(page, log);
      for (const item of found.items) await this.#mark(item, seen.get(item.id) ?? []);
      const last = page.at(-1);
      if (signal?.aborted !== true || last === undefined) continue;
      await this.#reached({ occurrences_until: last.received_at });
      return;
    }
  }

  /** Adds the marks of these occurrences that the item lacks. */
  async #mark(item: ItemDoc, seen: readonly SeenPlace[]): Promise<void> {
    const { version_marks = [], host_marks = [] } = item;
    const marks = { version_marks: [...version_marks], host_marks: [...host_marks] };
    const added: { [path in keyof typeof marks]: string[] } = { version_marks: [], host_marks: [] };
    for (const one of seen) {
      const more = addedMarks(marks, one);
      for (const path of ['version_marks', 'host_marks'] as const) {
        const each = (more?.[path]?.each ?? []) as readonly string[];
        marks[path].push(...each);
        added[path].push(...each);
      }
    }
    const push: NonNullable<Update['push']> = {};
    for (const [path, each] of Object.entries(added)) if (each.length > 0) push[path] = { each, keep: MOST_MARKS };
    if (Object.keys(push).length > 0) await this.deps.items.change({ id: item.id }, { push });
  }

  async #reached(set: Partial<Reached>): Promise<void> {
    await this.deps.catchUps.change({ id: ID }, { set }, { upsert: true });
  }
}

/** Without a time: all. */
const from = (reached: string | undefined): string =>
  reached === undefined ? '' : isoOf(Date.parse(reached) - MARGIN_MS);

const between = (path: string, since: string, until: string) =>
  ({ filter: { [path]: { gte: since, lte: until } }, sort: [[path, 'asc']], limit: BATCH }) as const;
