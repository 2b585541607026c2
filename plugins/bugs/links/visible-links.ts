import { inject, injectable } from '../../../kernel/contract/index.js';
import type { ItemStatus, Severity } from '../../../ports/domain/bugs.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { getKindAtEnd, LINK_KINDS, type LinkKind } from '../item/link-kinds.js';
import type { ItemDoc } from '../item/model.js';
import { isFinished } from '../item/transitions.js';
import { getStatusAt } from '../item/api-views.js';
import { listItemLinks } from './link-graph.js';
import type { Clock } from '../../../ports/clock.js';
import type { LinkDoc } from '../item/operation-documents.js';
import type { Collection } from '../../../ports/store/index.js';

export interface LinkView {
  kind: LinkKind;
  id: string;
  ref: string;
  project: string;
  title: string;
  status: ItemStatus;
  severity: Severity;
  finished: boolean;
  untrusted_fields: string[];
}

const KIND_ORDER: readonly LinkKind[] = ['blocked_by', ...LINK_KINDS.filter((kind) => kind !== 'blocked_by')];

@injectable()
export class VisibleLinkReader {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.links) private readonly links: Collection<LinkDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  async listVisible(item: Pick<ItemDoc, 'id'>, caller: BugCaller): Promise<LinkView[]> {
    const links = (await listItemLinks(this.links, item.id)).filter(({ state }) => state === 'made');
    if (links.length === 0) return [];
    const ids = links.map(({ from, to }) => (from === item.id ? to : from));
    const { items } = await this.items.find({ filter: { id: { in: ids } }, limit: ids.length });
    const others = new Map(items.map((doc) => [doc.id, doc]));
    const now = this.clock.now();
    const rows = links.flatMap((link, at) => {
      const other = others.get(ids[at] ?? '');
      if (other === undefined || (caller.project !== null && other.project !== caller.project)) return [];
      const { id, ref, project, title, severity } = other;
      const status = getStatusAt(other, now);
      const shown = { id, ref, project, title, status, severity, finished: isFinished(status) };
      return [
        { at: link.created_at, view: { kind: getKindAtEnd(link, item.id), ...shown, untrusted_fields: ['title'] } },
      ];
    });
    rows.sort((a, b) => KIND_ORDER.indexOf(a.view.kind) - KIND_ORDER.indexOf(b.view.kind) || (a.at < b.at ? -1 : 1));
    return rows.map(({ view }) => view);
  }
}
