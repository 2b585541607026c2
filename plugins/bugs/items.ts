/** Reading items by id or ref, and changing one by compare-and-set on its revision. */
import { inject, injectable } from '../../kernel/contract.js';
import { conflict, notFound } from '../../kernel/errors.js';
import type { Item } from '../../ports/domain/bugs.js';
import { mayTouch, type Caller } from './caller.js';
import { DEPS, MARKS, OUTBOX, type Deps } from './deps.js';
import { Draft } from './draft.js';
import type { Marks } from './marks.js';
import type { ItemDoc } from './model.js';
import type { Outbox } from './outbox.js';
import { itemView } from './view.js';

/** Losing this often against other writers of one item is no longer chance. */
const ATTEMPTS = 50;

@injectable()
export class Items {
  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(MARKS) private readonly marks: Marks,
    @inject(OUTBOX) private readonly outbox: Outbox,
  ) {}

  /** By id or ref; null when there is none. */
  async find(name: string): Promise<ItemDoc | null> {
    const { items } = this.deps;
    if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name)) return null;
    return (await items.get(name)) ?? (await items.find({ filter: { ref: name }, limit: 1 })).items[0] ?? null;
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async need(name: string, caller: Caller): Promise<ItemDoc> {
    const item = await this.find(name);
    if (item === null) throw notFound('item with this id');
    mayTouch(caller, item.project);
    return item;
  }

  /** The item with its long texts, as the API shows it. */
  async view(item: ItemDoc): Promise<Item> {
    return itemView(item, await this.deps.texts.get(item.id), this.deps.clock.now());
  }

  async views(items: readonly ItemDoc[]): Promise<Item[]> {
    if (items.length === 0) return [];
    const texts = await this.deps.texts.find({
      filter: { id: { in: items.map(({ id }) => id) } },
      limit: items.length,
    });
    const byId = new Map(texts.items.map((doc) => [doc.id, doc]));
    return items.map((item) => itemView(item, byId.get(item.id) ?? null, this.deps.clock.now()));
  }

  /**
   * Plans on the newest state and writes it if nobody was faster; else plans again. A plan that throws, or leaves its
   * draft empty, changes nothing.
   * @throws ServiceError not_found, conflict, and what the plan throws
   */
  async change(
    id: string,
    actor: string,
    plan: (item: ItemDoc, draft: Draft) => void | Promise<void>,
  ): Promise<ItemDoc> {
    const { items, ids } = this.deps;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const item = await items.get(id);
      if (item === null) throw notFound('item with this id');
      const written = await this.marks.write(id, async (stamp) => {
        const draft = new Draft(item, actor, stamp, ids);
        await plan(item, draft);
        if (draft.empty) return { doc: item, entries: [] };
        const changed = await items.change({ id, rev: item.rev }, draft.update());
        return changed && { doc: changed.doc, entries: draft.entries };
      });
      if (written === null) continue;
      await this.outbox.flush(written.doc, written.entries);
      return written.doc;
    }
    throw conflict('The item changes too often at the moment; try again.');
  }
}
