import type { ItemFacts } from '../../../../ports/domain/item-facts.js';
import { liveSubject } from '../../../../ports/domain/live.js';
import { toBugCaller } from '../../caller.js';
import { findUndoable } from '../../editing/undo.js';
import type { Entry } from './activity.js';
import type { About } from './about.js';
import { claimOf } from './facts.js';
import { listUrl, suffixOf } from '../shared/context.js';

export async function head({ page, request, item, detail, context, problem }: About): Promise<object> {
  const { services, deps } = page;
  const now = deps.clock.now();
  const { name } = toBugCaller(request.principal);
  const rule = item.muted_by_rule_id;
  return {
    title: `${item.ref} ${item.title}`,
    crumbs: [{ label: 'Bugs', href: listUrl(context) }, { label: item.ref }],
    // A rejected form is rendered at its POST address, which does not support GET.
    here: `/bugs/${item.ref}`,
    keep: suffixOf(context),
    list_url: listUrl(context),
    live_topics: topicsOf(item.id, page.facts()),
    item,
    outside: Object.fromEntries(item.untrusted_fields.map((field) => [field, true])),
    claim: claimOf(item, now),
    mine: item.assignee === name,
    undoable: problem.form === undefined ? findUndoable(item, detail.activity as Entry[], name, now) : null,
    rule_url: rule === null ? null : await services.filters.page(rule),
    actions: page.actions().flatMap((action) => {
      const { label, icon, shortcut = null } = action;
      const href = action.href(item);
      return href === null ? [] : [{ label, icon, shortcut, href }];
    }),
  };
}

const topicsOf = (id: string, facts: readonly ItemFacts[]): string =>
  ['bug', ...facts.flatMap(({ topic }) => topic ?? [])].map((name) => liveSubject(name, id)).join(' ');
