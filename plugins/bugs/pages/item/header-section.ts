import type { ItemFactProvider } from '../../../../ports/domain/item-facts.js';
import { formatLiveTopic } from '../../../../ports/domain/live-topics.js';
import { toBugCaller } from '../../caller.js';
import { findUndoableChange } from '../../editing/undo.js';
import type { HistoryEntry } from './history-lines.js';
import type { ItemSectionInput } from './section.js';
import { toLeaseView } from './facts-section.js';
import { buildListUrl, toContextSuffix } from '../shared/list-context.js';

export async function buildHeaderSection({
  page,
  request,
  item,
  detail,
  context,
  problem,
}: ItemSectionInput): Promise<object> {
  const { services, deps } = page;
  const now = deps.clock.now();
  const { name } = toBugCaller(request.principal);
  const rule = item.muted_by_rule_id;
  return {
    title: `${item.ref} ${item.title}`,
    crumbs: [{ label: 'Issues', href: buildListUrl(context) }, { label: item.ref }],
    // A rejected form's POST address does not support GET.
    here: `/bugs/${item.ref}`,
    keep: toContextSuffix(context),
    list_url: buildListUrl(context),
    live_topics: formatTopics(item.id, page.facts()),
    item,
    // A bug or feature that was reported once has no events to compare.
    counted: item.type === 'error' || item.hit_count > 1,
    outside: Object.fromEntries(item.untrusted_fields.map((field) => [field, true])),
    claim: toLeaseView(item, now),
    mine: item.assignee === name,
    undoable:
      problem.form === undefined ? findUndoableChange(item, detail.activity as HistoryEntry[], name, now) : null,
    mute_rule: rule === null ? null : await services.filters.findRulePage(rule),
    actions: page.actions().flatMap((action) => {
      const { label, icon, shortcut = null } = action;
      const href = action.href(item);
      return href === null ? [] : [{ label, icon, shortcut, href }];
    }),
  };
}

const formatTopics = (id: string, facts: readonly ItemFactProvider[]): string =>
  ['bug', ...facts.flatMap(({ topic }) => topic ?? [])].map((name) => formatLiveTopic(name, id)).join(' ');
