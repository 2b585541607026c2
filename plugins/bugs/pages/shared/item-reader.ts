import type { ErrorGroup, Item } from '../../../../ports/domain/bugs.js';
import { matchesFilter } from '../../../../ports/document.js';
import type { BugDeps } from '../../deps.js';
import { toItemFilter, type ItemQuery } from '../../item/filters.js';
import { toGroupView } from '../../item/api-views.js';
import type { ItemDoc } from '../../item/model.js';

const MAX_CANDIDATES = 10;
const MAX_DUPLICATES = 20;
const MAX_COMPARED_ITEMS = 30;
const WORD_PATTERN = /^[\p{L}\p{N}]/u;

export class ItemPageReader {
  constructor(private readonly deps: Pick<BugDeps, 'items' | 'clock'>) {}

  /** Keeps the order of the ids, at most 1,000. */
  async findByIds(ids: readonly string[]): Promise<ErrorGroup[]> {
    if (ids.length === 0) return [];
    const { items } = await this.deps.items.find({ filter: { id: { in: ids } }, limit: ids.length });
    const byId = new Map(items.map((doc) => [doc.id, doc]));
    return ids.flatMap((id) => {
      const doc = byId.get(id);
      return doc === undefined ? [] : [this.toRow(doc)];
    });
  }

  async listDuplicates(id: string): Promise<{ items: ErrorGroup[]; more: boolean }> {
    const filter = { duplicate_of: id };
    const page = await this.deps.items.find({ filter, sort: [['last_seen_at', 'desc']], limit: MAX_DUPLICATES });
    return { items: page.items.map((doc) => this.toRow(doc)), more: page.next !== null };
  }

  /** Returns open items with the same class and file. Returns null without a class. */
  buildSimilarQuery({
    project,
    exception_class,
    file_path,
  }: Pick<Item, 'project' | 'exception_class' | 'file_path'>): ItemQuery | null {
    if (exception_class === null || exception_class === undefined) return null;
    const file = file_path ? { file_path: [file_path] } : {};
    return { project: [project], exception_class: [exception_class], status: ['open'], ...file };
  }

  /** Checks the newest items only, because it runs on every item page. */
  async hasSimilar(doc: Pick<Item, 'id' | 'status' | 'project' | 'exception_class' | 'file_path'>): Promise<boolean> {
    const query = this.buildSimilarQuery(doc);
    if (query === null || doc.status === 'duplicate') return false;
    const { exception_class } = doc;
    // By class, which an index serves; the store would otherwise sort all matches.
    const page = await this.deps.items.find({
      filter: { exception_class },
      sort: [['last_seen_at', 'desc']],
      limit: MAX_COMPARED_ITEMS,
    });
    const alike = toItemFilter(query);
    return page.items.some((other) => other.id !== doc.id && matchesFilter(other, alike));
  }

  async countSimilar(doc: Pick<Item, 'id' | 'status' | 'project' | 'exception_class' | 'file_path'>): Promise<number> {
    const query = this.buildSimilarQuery(doc);
    if (query === null || doc.status === 'duplicate') return 0;
    return this.deps.items.count({ ...toItemFilter(query), id: { ne: doc.id } });
  }

  /**
   * Returns those of the same project.
   * @param text a ref, or words of title, message or class; empty: items of the same class, or the
   *   last seen
   */
  async findMergeTargets(
    item: Pick<ItemDoc, 'id' | 'project' | 'exception_class'>,
    text: string,
  ): Promise<ErrorGroup[]> {
    const filter =
      text.trim() !== ''
        ? toItemFilter({ project: [item.project], q: [text] })
        : item.exception_class !== null && WORD_PATTERN.test(item.exception_class)
          ? { project: item.project, exception_class: item.exception_class }
          : { project: item.project };
    const page = await this.deps.items.find({ filter, sort: [['last_seen_at', 'desc']], limit: MAX_CANDIDATES + 5 });
    return page.items
      .filter(({ id, status }) => id !== item.id && status !== 'duplicate')
      .slice(0, MAX_CANDIDATES)
      .map((doc) => this.toRow(doc));
  }

  toRow(doc: ItemDoc): ErrorGroup {
    const now = this.deps.clock.now();
    return toGroupView(doc, now);
  }
}
